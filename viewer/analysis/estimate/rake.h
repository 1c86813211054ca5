/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arithmetic of an estimate: idle time among states, and a state's among classes, in whole
 * nanoseconds that sum exactly. Pure.
 */
#ifndef ANALYSIS_ESTIMATE_RAKE_H
#define ANALYSIS_ESTIMATE_RAKE_H

#include <stddef.h>
#include "states.h"

#define ANA_SHARE_WHOLE 1000000

/*
 * Of @idle, at most the sum of @held, what falls to each state: the odds that each of its
 * nanoseconds is idle are those of @share (millionths, 1,000 to 999,000) times one factor for all.
 */
void ana_rake(const int64_t held[ANA_STATES], const int64_t share[ANA_STATES], int64_t idle,
	      int64_t got[ANA_STATES]);

/* @ns by @n weights, at least one of them not 0: largest remainders, of equal ones the first. */
void ana_apportion(int64_t ns, const int64_t *weight, size_t n, int64_t *part);

#endif
