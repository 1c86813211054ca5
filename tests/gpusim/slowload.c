/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slowload.c - for LD_AUDIT: the loader sleeps for SLOWLOAD_MS in the middle of loading a library
 * whose file name begins with one of the words of SLOWLOAD (colons between them). A child that is
 * forked meanwhile has a loader that is not whole: its next dlopen ends it with 127.
 */
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SHOWN __attribute__((visibility("default")))

SHOWN unsigned int la_version(unsigned int version);
SHOWN unsigned int la_objopen(struct link_map *map, Lmid_t space, uintptr_t *cookie);

unsigned int la_version(unsigned int version)
{
	return version;
}

static int is_slow(const char *name)
{
	const char *words = getenv("SLOWLOAD"), *end;

	for (; words && *words; words = *end ? end + 1 : end) {
		end = strchrnul(words, ':');
		if (!strncmp(name, words, (size_t)(end - words)))
			return 1;
	}
	return 0;
}

unsigned int la_objopen(struct link_map *map, Lmid_t space, uintptr_t *cookie)
{
	const char *slash = strrchr(map->l_name, '/'), *ms = getenv("SLOWLOAD_MS");
	long wait = ms ? atol(ms) : 0;
	struct timespec t = { wait / 1000, wait % 1000 * 1000000 };

	(void)space, (void)cookie;
	if (is_slow(slash ? slash + 1 : map->l_name))
		nanosleep(&t, NULL);
	return 0;
}
