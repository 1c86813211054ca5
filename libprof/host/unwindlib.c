/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds libunwind's generic library and its functions.
 */
#include "unwindlib.h"

#include <dlfcn.h>
#include <errno.h>

static const char *const names[] = { "libunwind-x86_64.so.8", "libunwind-x86_64.so" };

static bool take(void *library, struct prof_unwindlib *lib)
{
	*(void **)&lib->create = dlsym(library, "_Ux86_64_create_addr_space");
	*(void **)&lib->caching = dlsym(library, "_Ux86_64_set_caching_policy");
	*(void **)&lib->flush = dlsym(library, "_Ux86_64_flush_cache");
	*(void **)&lib->init = dlsym(library, "_Ux86_64_init_remote");
	*(void **)&lib->step = dlsym(library, "_Ux86_64_step");
	*(void **)&lib->get = dlsym(library, "_Ux86_64_get_reg");
	*(void **)&lib->search = dlsym(library, "_Ux86_64_dwarf_search_unwind_table");
	return lib->create && lib->caching && lib->flush && lib->init && lib->step && lib->get &&
	       lib->search;
}

int prof_unwindlib_load(struct prof_unwindlib *lib)
{
	size_t i;

#ifndef __x86_64__
	return -ENOENT;
#endif
	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);

		if (library && take(library, lib))
			return 0; /* and it stays */
	}
	return -ENOENT;
}
