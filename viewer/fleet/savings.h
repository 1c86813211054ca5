/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Advice over the runs of a training (program.h), in the order in which they began: what is open,
 * and what was adopted, with what was promised and what came of it.
 *
 * Runs that follow each other with the same advice are a stretch. A piece is open while the last
 * stretch has it. Pieces that a stretch has and the next one has not were adopted then, together:
 *	promised	what they would have saved at most in the stretch before (of a class the largest
 *			alone), a step, times the steps that followed
 *	realised	what a step cost in the stretch before, times the same steps, less what those
 *			runs cost
 * until any of them is told again, whatever else is told of the runs. Once more is adopted behind
 * it, realised is less what a step cost just before that instead, until that is told again: what is
 * less than that is of what was adopted then. So nothing counts twice, and all that is realised
 * sums to what the runs cost less. A step's cost is that of the run without excluded.* classes.
 * Runs with fewer steps than FLEET_SAVINGS_STEPS are passed over: they tell little of anything.
 * Exact: sums of integers; each product of steps and a step's cost is rounded once, half to even.
 */
#ifndef FLEET_SAVINGS_H
#define FLEET_SAVINGS_H

#include "rollup.h"

#define FLEET_SAVINGS_STEPS 100 /* but none at all: steps of such programs are not known */
#define FLEET_SAVINGS_TOLD 10 /* open ones with a plan */

struct fleet_training { /* texts of its last run */
	const char *tenant, *fingerprint;
	const char *program, *user, *team, *project;
};

struct fleet_adopted {
	const struct fleet_training *of;
	const char *fixes; /* their ids, with commas */
	int64_t since_ns; /* when the first run without them began */
	int64_t until_ns; /* when the one did that was told of any of them again; INT64_MAX: none */
	base_wide runs, steps; /* that followed, within the query */
	bool known; /* what follows is: runs before have prices and steps, as those after do */
	base_wide promised_usd, realised_usd;
};

struct fleet_open {
	const struct fleet_training *of;
	const char *id, *title, *brief, *place;
	int64_t since_ns; /* when the first run began that was told it */
	const char *last_run;
	base_wide runs, ns, usd; /* that were told it since, within the query; at most */
};

struct fleet_savings {
	struct base_arena mem;
	struct fleet_training *training;
	size_t trainings;
	struct fleet_adopted *adopted; /* most promised first, those that are not known last */
	size_t adoptions;
	struct fleet_open *open; /* most dollars first, then most time */
	size_t opens;
	base_wide promised_usd, realised_usd; /* of all that are known */
	base_wide told; /* runs within the query that tell of a program */
	base_wide passed_over; /* of them, those with too few steps */
};

/* 0 or negative errno, said. What is before the query tells what was adopted within it. */
int fleet_savings_collect(struct fleet_savings *v, struct fleet_store *s,
			  const struct fleet_query *q);
void fleet_savings_fini(struct fleet_savings *v);

/* savings_out.c; as text and page of a plan the dearest open ones alone, and sums. */
struct fleet;
struct base_jsonout;
/* "29 open, the dearest saves $3.10 at most; 3 adopted: ..." */
const char *fleet_savings_words(const struct fleet *f, struct base_arena *mem);
void fleet_savings_text_open(const struct fleet *f, FILE *out, struct base_arena *mem);
void fleet_savings_text(const struct fleet *f, FILE *out);
void fleet_savings_json(const struct fleet *f, struct base_jsonout *j);
void fleet_savings_csv(const struct fleet_savings *v, FILE *out);

#endif
