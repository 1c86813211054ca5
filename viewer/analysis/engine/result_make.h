/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The result: what is known of GPUs and processes before the walk, and the sums after it.
 */
#ifndef ANALYSIS_RESULT_MAKE_H
#define ANALYSIS_RESULT_MAKE_H

#include "analysis/evidence/found.h"
#include "analysis/plan/plan.h"

struct ana_result_parts {
	struct ana_plan *plan;
	const struct ana_options *options;
	struct ana_result *result;
	const struct ana_found *found; /* per component, without the lengths of steps */
	struct ana_step_lengths *lengths; /* of all components */
};

/* Makes the result with its GPUs. 0 or -ENOMEM. */
int ana_result_begin(struct ana_result **out, const struct ana_plan *p,
		     const struct ana_options *o);

/* quality.c: fills in how good the record is, when the classes are summed. 0 or -ENOMEM. */
int ana_result_quality(struct ana_result_parts *r);

/*
 * metered.c: what NVML's meters say of the time that nobody recorded whole, and of how well GPUs
 * were used. 0 or -ENOMEM.
 */
int ana_result_metered(struct ana_plan *p, struct ana_result *r);

/* unused_gpus.c: rows for the GPUs nobody used, behind those of the devices. 0 or -ENOMEM. */
int ana_unused_begin(const struct ana_plan *p, struct ana_result *r);
/* Their time, after the walks; before the sums. 0 or -ENOMEM. */
int ana_unused_finish(struct ana_plan *p, struct ana_result *r, const struct ana_options *o);

/* vacancies.c: when GPUs that a job was given were used by no process of it. 0 or -ENOMEM. */
int ana_vacancies_make(struct ana_plan *p, struct ana_result *r);

/* attempts.c: what each attempt of a job held, and remarks. 0 or -ENOMEM. */
int ana_attempts_make(struct ana_plan *p, struct ana_result *r);

/* Fills in what the components found. 0 or -ENOMEM. */
int ana_result_finish(struct ana_result_parts *r);

#endif
