/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names, by their characters and their end.
 */
#include "run_name.h"

#include <stddef.h>
#include <string.h>

#define SUFFIX_BYTES (sizeof(COLL_RUN_SUFFIX) - 1)

void coll_run_name(char out[COLL_RUN_BYTES], const char *run_id)
{
	size_t i;

	for (i = 0; i < COLL_RUN_BYTES - 1 && run_id[i]; i++)
		out[i] = strchr(COLL_NAME_CHARACTERS, run_id[i]) ? run_id[i] : '_';
	out[i] = '\0';
	if (out[0] == '.')
		out[0] = '_';
}

bool coll_run_dir_is(const char *name)
{
	size_t len = strlen(name);

	return name[0] != '.' && len > SUFFIX_BYTES &&
	       !strcmp(name + len - SUFFIX_BYTES, COLL_RUN_SUFFIX);
}

char *coll_run_id_of(const char *dir)
{
	const char *slash = strrchr(dir, '/'), *name = slash ? slash + 1 : dir;
	size_t len = strlen(name);

	return strndup(name, len > SUFFIX_BYTES ? len - SUFFIX_BYTES : len);
}
