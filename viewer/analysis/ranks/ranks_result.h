/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From what was found to the result: a row per GPU, hosts' clocks, groups, and remarks. Private to
 * skew.c and faults.c.
 */
#ifndef ANALYSIS_RANKS_RESULT_H
#define ANALYSIS_RANKS_RESULT_H

#include "analysis/plan/plan.h"
#include "analysis/evidence/found.h"
#include "attribute_skew.h"
#include "rank_recorder.h"

struct ana_skew {
	struct ana_plan *plan;
	struct ana_result *result;
	const struct ana_found *found; /* per component */
	size_t gpus; /* that ran collectives */
	uint32_t *device; /* [gpus] in the plan and the result */
	struct ana_collective_log **log; /* [gpus] */
	size_t *bucket; /* [gpus] of the time line, that comm.skew was moved in last */
	uint32_t *source; /* [gpus] the process with most collectives on it */
	uint32_t *host; /* [gpus] */
	uint32_t *host_source; /* [hosts] a process of it */
	uint32_t hosts;
	struct ana_align align;
	struct ana_groups groups;
	struct ana_skew_attribution attribution;
};

int ana_ranks_result_make(struct ana_skew *k); /* 0 or -ENOMEM */

/* faults.c: who is dead or hung; into result->ranks.row[].state. */
void ana_skew_faults(struct ana_skew *k);

#endif
