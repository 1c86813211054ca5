/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What both feeds need: the blocks of one kind in the order in which they are due, and which stamps
 * are times at all.
 */
#ifndef ANALYSIS_DUE_H
#define ANALYSIS_DUE_H

#include <stdbool.h>
#include "trace/trace.h"

/* Stamps further out are no times; sums of two within it cannot overflow. */
#define ANA_STAMP_MAX (INT64_C(1) << 61)

static inline bool ana_stamp_good(int64_t t)
{
	return t > -ANA_STAMP_MAX && t < ANA_STAMP_MAX;
}

/*
 * *due gets those of @block[0..n) that are of @kind, by time, then sequence: to be freed; what it
 * points to is borrowed. 0 or -ENOMEM.
 */
int ana_due_list(const struct view_block *block, size_t n, uint8_t kind,
		 const struct view_block ***due, size_t *dues);

#endif
