/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the gate decided: a list of judgements, one per budget and comparison, with the words for
 * people and the place in the code. The outputs (check_out.h) show this and nothing else. Strings
 * live in the arena; those of a trace may be anything, and each output escapes them for where they
 * stand.
 */
#ifndef CHECK_RESULT_H
#define CHECK_RESULT_H

#include "baseline.h"
#include "change.h"
#include "metric.h"
#include "replay.h"
#include "scale.h"

enum check_status { /* worse is greater */
	CHECK_PASS,
	CHECK_WARN,
	CHECK_FAIL,
	CHECK_NOT_COMPARABLE
};
extern const char *const check_status_names[4]; /* pass warn fail not_comparable */

#define CHECK_EXIT_PASS 0
#define CHECK_EXIT_ERROR 1
#define CHECK_EXIT_FAIL 2
#define CHECK_EXIT_WARN 3 /* with --fail-on-warn */
#define CHECK_EXIT_NOT_COMPARABLE 4
#define CHECK_EXIT_NOT_YET 5 /* with --baselines: it has not taken so many steps */

struct check_judgement {
	enum check_status status;
	const char *name; /* stable: "starved_pct", "steps", "baseline", "run", "scale" */
	const char *run; /* its id */
	const char *message; /* one sentence */
	const char *value, *limit; /* digits without a unit, NULL: none */
	enum view_outcome_bound bound; /* of the value */
	const char *file, *function; /* the line that is most of it; NULL: not known */
	uint32_t line;
	struct check_judgement *next;
};

struct check_result {
	struct base_arena *mem;
	struct check_judgement *first, **end;
	enum check_status worst; /* fail before not comparable before warn */
	size_t count, failed, warned;
	bool has_change;
	struct check_change change;
	/* Of 1,000 samples, where steps are of different numbers of them; 0: of steps. */
	double old_samples_per_step, new_samples_per_step;
	double alpha, min_effect;
	size_t old_runs, new_runs;
	bool has_prediction;
	struct check_prediction prediction;
	bool has_replay;
	int64_t replay_utilization_ppm, replay_starved_ppm;
};

void check_result_init(struct check_result *r, struct base_arena *mem);

/* Adds one; the caller may fill its optional members. */
struct check_judgement *check_result_add(struct check_result *r, enum check_status status,
					 const char *name, const char *run, const char *message);

int check_result_exit(const struct check_result *r, bool fail_on_warn);

/* check_verdict.c: each adds its judgements. */
struct check_options {
	double alpha, min_effect; /* of a step: 0.01 is one percent */
	double run_spread; /* see CHECK_SPREAD */
	bool later_half; /* hold the later half of the steps against theirs, too */
};
void check_judge_budget(struct check_result *r, const struct check_budget *b,
			const struct check_run *run);
void check_judge_change(struct check_result *r, const struct check_run *old, size_t olds,
			const struct check_run *new, size_t news, const struct check_options *o);
void check_judge_prediction(struct check_result *r, const struct check_run *run,
			    const struct view_summary *s, const struct check_scale *q,
			    const struct check_budget *budget, size_t budgets);
void check_judge_replay(struct check_result *r, const struct check_replay *replay);
void check_judge_whole(struct check_result *r, const struct check_run *run);

#endif
