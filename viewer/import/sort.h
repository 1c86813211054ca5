/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stable order by (process, start). Traces are made of long sorted stretches, so runs that are
 * sorted already are found and merged. Pure; any thread.
 */
#ifndef VIEW_IMPORT_SORT_H
#define VIEW_IMPORT_SORT_H

#include <stddef.h>
#include <stdint.h>

struct view_import_key {
	int64_t start;
	uint32_t process; /* sorts first */
	uint32_t index; /* of the record; equal keys keep their order */
};

/* 0 or -ENOMEM (then @key is in no order). Needs as much memory again while it runs. */
int view_import_sort(struct view_import_key *key, size_t n);

#endif
