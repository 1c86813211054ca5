/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a name says, where a framework or a library always gives the same. Pure.
 */
#ifndef FACTS_NAMES_H
#define FACTS_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* torch names the range of a loader's next() "enumerate(DataLoader)#_MultiProcessing...". */
static inline bool facts_name_is_loader(const char *name, size_t len)
{
	static const char loader[] = "enumerate(DataLoader)#", pipe[] = "enumerate(DataPipe)#";

	if (!len || *name != 'e')
		return false;
	return (len >= sizeof(loader) - 1 && !memcmp(name, loader, sizeof(loader) - 1)) ||
	       (len >= sizeof(pipe) - 1 && !memcmp(name, pipe, sizeof(pipe) - 1));
}

#endif
