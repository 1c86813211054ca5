/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How time was likely spent of which the governor or another client of CUPTI kept the kernels from
 * us (LEDGER 11): how busy the GPU was by NVML's meters, and the classes of its idle time by what
 * the host did, which goes on being recorded, and by what that came to while all was recorded.
 *
 * It looks on while a run is walked: it is told of each piece of idle time, in any order, by one
 * thread at a time. What it finds enters no other sum.
 */
#ifndef ANALYSIS_ESTIMATE_H
#define ANALYSIS_ESTIMATE_H

#include "analysis/plan/plan.h"

struct ana_estimator;

/* 0 or -ENOMEM; *out NULL: there is nothing to estimate. Reads ranges, samples and syncs. */
int ana_estimator_begin(struct ana_estimator **out, const struct ana_plan *p,
			const struct ana_options *o);
void ana_estimator_free(struct ana_estimator *e);

void ana_estimator_piece(struct ana_estimator *e, const struct ana_piece *p);

/* After the walks and the sums: fills in @r->estimated. 0 or -ENOMEM. */
int ana_estimator_finish(struct ana_estimator *e, const struct ana_options *o,
			 struct ana_result *r);

#endif
