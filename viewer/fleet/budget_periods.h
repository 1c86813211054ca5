/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The periods that a budget of teams has: calendar months or weeks (UTC, weeks from Monday), and
 * which of them are to be asked of a store, one after another: each, where they are few; else
 * those that runs began in and, as whoever asks has seen, reached into. A clock of ours that is
 * wrong chooses others. One thread at a time.
 */
#ifndef FLEET_BUDGET_PERIODS_H
#define FLEET_BUDGET_PERIODS_H

#include "store.h"

enum fleet_period {
	FLEET_MONTH,
	FLEET_WEEK
};

struct fleet_budget_period {
	char name[24]; /* "2026-11", "2026-11-09" */
	int64_t from_ns, until_ns; /* Unix time; of one that is asked for at most up to --until */
	bool is_last, is_running; /* of those that are asked for; now */
};

/* That which @now_ns lies in, whole: the last one, and running. */
void fleet_budget_period_now(struct fleet_budget_period *p, enum fleet_period kind, int64_t now_ns);

struct fleet_budget_periods {
	/* to be set; the rest is zero */
	enum fleet_period kind;
	const struct fleet_query *query; /* up to its end, and no later than now */
	int64_t since_ns; /* from the period of then on; 0: from the first run of the query on */
	int64_t now_ns;
	/* of ours */
	struct fleet_budget_period at; /* the one to be asked */
	bool over; /* there is none */
	bool few;
	int64_t last_ns, next_ns; /* the last moment that is asked for; where the next one begins */
	int64_t *week_ns; /* in which runs began: where they begin, ascending */
	size_t weeks, room;
};

/* Turns to the first one. 0 or negative errno; fleet_budget_periods_fini in any case. */
int fleet_budget_periods_begin(struct fleet_budget_periods *a, struct fleet_store *s);

/* The next one; @goes_on: a run of this one goes on beyond it, so that the one behind it is. */
void fleet_budget_periods_next(struct fleet_budget_periods *a, bool goes_on);
void fleet_budget_periods_fini(struct fleet_budget_periods *a);

#endif
