/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which steps are drawn, in memory that does not grow with the run, and the same whatever the order
 * in which processes are walked (LEDGER 8). Caller-owned; zero-initialise, then init. One thread at
 * a time.
 */
#ifndef ANALYSIS_PICTURE_PICK_H
#define ANALYSIS_PICTURE_PICK_H

#include "analysis/ledger.h"

#define ANA_PICTURE_CANDIDATES 8u /* for the usual step */
#define ANA_PICTURE_KEPT 32u /* of each length */
#define ANA_PICTURE_NEAR 8u /* bins to either side of the median's: 6 % */
#define ANA_PICTURE_NEARBY (ANA_PICTURE_KEPT * (2 * ANA_PICTURE_NEAR + 1)) /* of all these */

struct ana_picture_pick {
	int64_t middle; /* of the run */
	bool *begun; /* per process: it has had a step */
	size_t processes;
	struct ana_step worst, worst_first; /* of all but each process's first; of these */
	/*
	 * by ana_duration_bin, KEPT of each length: those nearest the middle, the nearest first
	 */
	struct ana_step *bin;
};

/* 0 or -ENOMEM; fini in any case. */
int ana_picture_pick_init(struct ana_picture_pick *p, size_t processes, int64_t middle);
void ana_picture_pick_fini(struct ana_picture_pick *p);

/* The steps of a process come in order of start. */
void ana_picture_pick_add(struct ana_picture_pick *p, const struct ana_step *s);

/*
 * The @n-th of those about as long as the median, from 0: the median's bin first, then the bins
 * beside it, within each the one nearest to the middle. False: there is none. @median_ns: of all
 * steps. The first CANDIDATES are the candidates for the usual step.
 */
bool ana_picture_pick_near(const struct ana_picture_pick *p, int64_t median_ns, size_t n,
			   struct ana_step *s);
bool ana_picture_pick_worst(const struct ana_picture_pick *p, struct ana_step *s);

#endif
