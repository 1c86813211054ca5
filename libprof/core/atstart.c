/* SPDX-License-Identifier: Apache-2.0 */
/*
 * By the order in which ld.so lists libraries: what is preloaded comes before the C library, what
 * is opened later behind it. No file is opened, nothing allocated.
 */
#include "atstart.h"

#include <link.h>
#include <stddef.h>
#include <string.h>

extern const char __ehdr_start[] __attribute__((visibility("hidden"))); /* where we are loaded */

static int find_self(struct dl_phdr_info *info, size_t size, void *found)
{
	const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;

	(void)size;
	if (info->dlpi_addr == (ElfW(Addr))__ehdr_start) {
		*(bool *)found = true;
		return 1;
	}
	return slash && !strcmp(slash, "/libc.so.6");
}

bool prof_at_start(void)
{
	bool found = false;

	dl_iterate_phdr(find_self, &found);
	return found;
}
