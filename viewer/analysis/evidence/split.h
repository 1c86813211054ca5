/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A time in whole nanoseconds, in parts by weights: proportional, rounded down, and what is left
 * goes one by one to the largest remainders, of equals to the lower index. Weights are not below 0.
 */
#ifndef ANALYSIS_SPLIT_H
#define ANALYSIS_SPLIT_H

#include <stddef.h>
#include <stdint.h>
#include "analysis/class.h"

struct ana_weights { /* those that are not 0 */
	uint32_t count;
	uint8_t of[ANA_CLASSES]; /* their indices, ascending */
	int64_t weight[ANA_CLASSES];
	__int128 total;
};

/* @n: at most ANA_CLASSES. */
void ana_weights_set(struct ana_weights *w, const int64_t *weight, size_t n);
/* @part[i] gets that of w->of[i]: all sum to @ns, if there is any weight. */
void ana_weights_split(const struct ana_weights *w, int64_t ns, int64_t *part);

/* The same at once, @out by index. */
void ana_split(int64_t ns, const int64_t *weight, size_t n, int64_t *out);

#endif
