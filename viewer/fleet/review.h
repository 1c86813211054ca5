/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is asked once a month, on one page: who held idle GPUs, what nobody recorded (whole.h), the
 * dearest open fixes (savings.h), the last month against the one before by team, and which runs
 * wasted most.
 *
 * The last month (UTC) is that of the end that was asked for, else of the last end of a run, and no
 * later than that; of one that is not over the month before counts up to the same day and hour.
 * Runs count in both by the time that they held their GPUs, as with --by month, whatever begin was
 * asked for; idle GPUs and runs are of those that began within the query.
 */
#ifndef FLEET_REVIEW_H
#define FLEET_REVIEW_H

#include <stdio.h>
#include "rollup.h"

enum fleet_review_month {
	FLEET_REVIEW_BEFORE,
	FLEET_REVIEW_LAST,
	FLEET_REVIEW_MONTHS
};

struct fleet_review_run { /* sums of its lines */
	const char *id, *user, *team, *end;
	int64_t start_ns;
	base_wide held_ns, wasted_ns, unpriced_ns, usd, wasted_usd;
};

struct fleet_review {
	struct base_arena mem;
	int64_t since_ns[FLEET_REVIEW_MONTHS], until_ns[FLEET_REVIEW_MONTHS];
	bool is_whole; /* the last month is over */
	/* By team; the same groups in the same order, most dollars in the last month first. */
	struct fleet_table team[FLEET_REVIEW_MONTHS];
	struct fleet_sums total[FLEET_REVIEW_MONTHS];
	struct fleet_table idle; /* users with idle minutes, most dollars of these first */
	struct fleet_review_run *run; /* that wasted, most dollars first */
	size_t runs;
};

/* 0 or negative errno. @users: the fleet's table by user. */
int fleet_review_collect(struct fleet_review *r, struct fleet_store *s, const struct fleet_query *q,
			 const struct fleet_table *users);
bool fleet_review_fits(const struct fleet_review *r); /* can its sums be shown? */
void fleet_review_fini(struct fleet_review *r);

/* review_out.c */
struct fleet;
struct base_jsonout;
enum fleet_review_part {
	FLEET_REVIEW_IDLE,
	FLEET_REVIEW_UNRECORDED,
	FLEET_REVIEW_FIXES,
	FLEET_REVIEW_TEAMS,
	FLEET_REVIEW_RUNS,
	FLEET_REVIEW_PARTS
};
extern const char *const fleet_review_titles[FLEET_REVIEW_PARTS];
void fleet_review_text(const struct fleet *f, enum fleet_review_part part, FILE *out);
void fleet_review_json(const struct fleet *f, struct base_jsonout *j);
void fleet_review_csv(const struct fleet *f, FILE *out);

#endif
