/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run's program counted: the files units-*.txt of its directory, to which it and its ranks
 * append lines such as "tokens 4096" (GPUSTARVE_UNITS). Nothing in them is trusted.
 */
#ifndef VIEW_COUNTS_H
#define VIEW_COUNTS_H

#include <stddef.h>
#include "core/unit.h"

#define VIEW_COUNTS_BYTES ((uint64_t)256 << 20) /* of all files of a run: more is not counted */

struct view_counts {
	struct view_unit unit[VIEW_UNITS_MAX];
	size_t units;
	uint64_t bad; /* lines that say nothing, or more than can be counted */
	uint64_t bytes;
	bool large; /* beyond VIEW_COUNTS_BYTES: nothing of it is exact */
};

/* A file's line, without its newline. */
void view_counts_line(struct view_counts *c, const char *line, size_t len);

/* Adds a directory's files. 0 or -ENOMEM. */
int view_counts_read(struct view_counts *c, const char *dir);

#endif
