/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The result: what is known of GPUs and processes before the walk, and the sums after it.
 */
#ifndef ANALYSIS_RESULT_MAKE_H
#define ANALYSIS_RESULT_MAKE_H

#include "analysis/evidence/loaders.h"
#include "analysis/plan/plan.h"
#include "analysis/evidence/hotspots.h"
#include "analysis/walk/step.h"
#include "analysis/time/timeline.h"

struct ana_tally { /* of one component */
	int64_t loader_wait_ns;
	uint64_t skipped; /* steps */
	enum ana_step_source source;
	bool forgot; /* what threads did while a GPU idled for long */
};

struct ana_result_parts {
	struct ana_plan *plan;
	const struct ana_options *options;
	struct ana_result *result;
	/* per component */
	struct ana_top *top;
	const struct ana_quality *quality;
	struct ana_durations *durations, *fed;
	struct ana_hotspots *hotspots;
	struct ana_loaders *loaders;
	const struct ana_tally *tally;
};

/* Makes the result with its GPUs. 0 or -ENOMEM. */
int ana_result_begin(struct ana_result **out, const struct ana_plan *p,
		     const struct ana_options *o);

/*
 * quality.c: fills in how good the record is, when the classes are summed; and adds a remark to
 * that, each only once. 0 or -ENOMEM.
 */
int ana_result_quality(struct ana_result_parts *r);
int ana_quality_note(struct ana_quality *q, const char *text);

/* Fills in what the components found. 0 or -ENOMEM. */
int ana_result_finish(struct ana_result_parts *r);

#endif
