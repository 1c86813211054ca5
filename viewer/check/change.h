/* SPDX-License-Identifier: Apache-2.0 */
/*
 * By how much steps changed from one set of runs to another, and how sure that is. Steps follow
 * one another: a slow one is followed by slow ones. So the interval comes from a circular block
 * bootstrap: blocks of 2 x sqrt(n) neighbouring items are drawn with replacement, from runs drawn
 * with replacement where there are several, and the interval is widened as Student's t asks for so
 * few blocks. The draws are seeded by a constant: the same files give the same answer. An estimate,
 * the one place of gpustarve that computes with doubles; docs/gpustarve-check.md says it in words.
 */
#ifndef CHECK_CHANGE_H
#define CHECK_CHANGE_H

#include "series.h"

#define CHECK_STEPS_LEAST 30 /* after the warm-up, each side */

/*
 * Two questions are asked of step times, for a rare slow step (a checkpoint, a stall) hides a small
 * change of all the others in a mean, and a mean without it hides that it became more frequent:
 * `whole`, the mean of all steps; `typical`, the mean with each item cut at twice the median of its
 * run. Each is asked at alpha / 2, so that together they err no more often than alpha.
 */
struct check_interval { /* new / old - 1, and what it may be */
	double value, low, high;
};

struct check_change {
	double old_ms, new_ms; /* mean step, from start to start */
	struct check_interval whole, typical;
	/* change of the part of a step spent waiting for the loader with an idle GPU, in parts of the
	 * old step: 0.03 is three percent of a step more */
	struct check_interval exposed;
	uint64_t old_steps, new_steps;
	size_t blocks; /* on the side with fewer */
};

/*
 * 0; -ENODATA: fewer than CHECK_STEPS_LEAST steps on a side; -ENOMEM. @alpha of (0, 1): the chance
 * that an interval misses a change of zero although there is none, both sides together.
 */
int check_change_estimate(const struct check_series *olds, size_t old_count,
			  const struct check_series *news, size_t new_count, double alpha,
			  struct check_change *out);

#endif
