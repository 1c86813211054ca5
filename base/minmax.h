/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_MINMAX_H
#define BASE_MINMAX_H

#include <stdint.h>

static inline int64_t base_min(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static inline int64_t base_max(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* @v, or the nearer end of what lies between @low and @high. */
static inline int64_t base_clamp(int64_t v, int64_t low, int64_t high)
{
	return v < low ? low : v > high ? high : v;
}

#endif
