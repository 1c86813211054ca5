/* SPDX-License-Identifier: Apache-2.0 */
/*
 * By how much steps changed from one set of runs to another, and how sure that is. Steps follow
 * one another: a slow one is followed by slow ones. So the interval comes from a circular block
 * bootstrap: blocks of 2 x sqrt(n) neighbouring items are drawn with replacement from each run, and
 * the interval is widened as Student's t asks for so few blocks. And runs of the same code differ
 * by more than their steps explain (another placement, other neighbours), which no number of steps
 * tells: that spread is assumed (CHECK_SPREAD), and estimated from the runs where a side has
 * several: at least what they show, and where they show less, what is assumed counts as much as
 * CHECK_SPREAD_WEIGHT differences between runs. Both widths are added as squares. The draws are
 * seeded by a constant: the same files give the same answer. An estimate, the one place of
 * gpustarve that computes with doubles; docs/gpustarve-check.md says it in words.
 */
#ifndef CHECK_CHANGE_H
#define CHECK_CHANGE_H

#include "check_series.h"

#define CHECK_STEPS_LEAST 30 /* after the warm-up, each side */
#define CHECK_SPREAD 0.005 /* of the mean step of runs alike, a standard deviation: the default */
#define CHECK_SPREAD_WEIGHT 8.0

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
	/*
	 * change of the part of a step spent waiting for the loader with an idle GPU, in parts of
	 * the old step: 0.03 is three percent of a step more
	 */
	struct check_interval exposed;
	uint64_t old_steps, new_steps;
	size_t blocks; /* on the side with fewer */
	double spread; /* of runs alike, as it was taken: the greatest of the three questions */
};

/*
 * 0; -ENODATA: fewer than CHECK_STEPS_LEAST steps on a side; -ENOMEM. @alpha of (0, 1): the chance
 * that an interval misses a change of zero although there is none, both sides together. @spread:
 * CHECK_SPREAD, or what the user knows better; 0: runs of the same code are all alike.
 */
int check_change_estimate(const struct check_series *olds, size_t old_count,
			  const struct check_series *news, size_t new_count, double alpha,
			  double spread, struct check_change *out);

#endif
