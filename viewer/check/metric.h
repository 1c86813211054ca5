/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The numbers of a run that a budget can limit, as exact fractions of summary.json's integers, and
 * the budgets themselves: "starved_pct<=10", "usd_per_1k_steps<=1.2". Compared without rounding.
 * Any thread.
 */
#ifndef CHECK_METRIC_H
#define CHECK_METRIC_H

#include "check_run.h"

struct check_value { /* num / den in the metric's unit */
	__int128 num;
	__int128 den; /* > 0 if known */
	bool known;
	const char *why_not; /* static; what is missing if not known */
	enum view_outcome_bound bound; /* what it is to the true value */
	const char *why_bound; /* static, where it is one */
};

enum check_unit {
	CHECK_PCT,
	CHECK_USD,
	CHECK_MS,
	CHECK_HOURS
};

struct check_metric {
	const char *name; /* static, or a class's name with _pct behind it */
	const char *what; /* for --help */
	enum check_unit unit;
	/* NULL: the dollars of unit_of */
	struct check_value (*value)(const struct check_run *run, int class);
	int class; /* of *_pct of a class; -1 */
	char unit_of[VIEW_UNIT_NAME]; /* of the dollars of a unit; else "" */
};

struct check_budget {
	struct check_metric metric;
	char name[64];
	bool at_least; /* ">=" */
	int64_t limit_nano; /* in 1e-9 of the unit */
	const char *text; /* as the user wrote it */
};

extern const struct check_metric check_metrics[]; /* ends with a NULL name */

/* 0, or -EINVAL with *why (static). @text must outlive @b. */
int check_budget_parse(const char *text, struct check_budget *b, const char **why);

struct check_value check_metric_of(const struct check_metric *m, const struct check_run *run);

/* Does @v keep within @b? @v must be known. */
bool check_budget_holds(const struct check_budget *b, const struct check_value *v);

/* The true value may be on the other side of the limit: @v is a bound that does not tell. */
bool check_budget_is_open(const struct check_budget *b, const struct check_value *v);

/*
 * "38.1 %", "at least $1.2034", "12.5 ms", rounded half to even, at most four decimals; more where
 * rounded it would read as @b's limit, or as beyond it, and is not.
 */
const char *check_value_text(struct base_arena *mem, const struct check_budget *b,
			     const struct check_value *v);
/* The same without its unit and with up to nine decimals, for JSON. */
const char *check_value_digits(struct base_arena *mem, const struct check_value *v);
const char *check_limit_text(struct base_arena *mem, const struct check_budget *b);

#endif
