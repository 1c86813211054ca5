/* SPDX-License-Identifier: Apache-2.0 */
#include "due.h"

#include <errno.h>
#include <stdlib.h>

static int by_time(const void *a, const void *b)
{
	const struct view_block *x = *(const struct view_block *const *)a;
	const struct view_block *y = *(const struct view_block *const *)b;

	if (x->head->t0_ns != y->head->t0_ns)
		return x->head->t0_ns < y->head->t0_ns ? -1 : 1;
	return x->entry.frame.seq < y->entry.frame.seq ? -1 : 1;
}

int ana_due_list(const struct view_block *block, size_t n, uint8_t kind,
		 const struct view_block ***due, size_t *dues)
{
	size_t i, count = 0;

	for (i = 0; i < n; i++)
		count += block[i].head->kind == kind;
	*due = malloc((count + 1) * sizeof(**due));
	if (!*due)
		return -ENOMEM;
	*dues = 0;
	for (i = 0; i < n; i++)
		if (block[i].head->kind == kind)
			(*due)[(*dues)++] = &block[i];
	qsort(*due, *dues, sizeof(**due), by_time);
	return 0;
}
