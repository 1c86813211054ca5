/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Budgets over stored runs: of each run, of one team or of each, per calendar month or week (UTC,
 * weeks from Monday); a run that crosses the end of one counts in each by the time that it held its
 * GPUs there. Each is told once when 80 % are spent and once when all is, for each run, or team and
 * period; the store keeps what was told. Nothing is ever stopped.
 */
#ifndef FLEET_BUDGET_H
#define FLEET_BUDGET_H

#include "budget_periods.h"
#include "fleet.h"

#define FLEET_BUDGETS_MAX 32

struct fleet_budget {
	const char *text; /* as it was given */
	bool of_runs; /* else of teams */
	char team[64]; /* "": each */
	enum fleet_period period;
	int64_t limit_usd;
};

struct fleet_budgets { /* of a command line; zero at first */
	struct fleet_budget budget[FLEET_BUDGETS_MAX];
	size_t n;
	const char *exec; /* NULL: nobody is told */
};

/*
 * One more: "run=200", "team=5000", "team:vision=5000/week"; @text is kept. False: it is none, or
 * there are too many, said on stderr.
 */
bool fleet_budgets_add(struct fleet_budgets *b, const char *text);

/*
 * Fills f->budget with what is at 80 % or above, in any period that the query touches, from that
 * period's begin on; of a named team the last one in any case. What is new is
 * noted in the store and then told to b->exec, by /bin/sh -c in a session of its own
 * that nobody waits for, with GPUSTARVE_ALERT_CONDITION, _METRIC (usd), _VALUE (nano-dollars),
 * _UNIT, _TEXT, _BY (fleet), _TIME_NS, and _RUN_ID or _TEAM in its environment. 0 or negative
 * errno.
 */
int fleet_budgets_check(struct fleet *f, struct fleet_store *s, const struct fleet_budgets *b);

struct fleet_going { /* a run that no digest is of yet */
	char team[64];
	/* Unix time, of its node: its first process, 0: not known, it is of its end; last word */
	int64_t start_ns, end_ns;
	int64_t usd; /* so far, nano-dollars */
};

/*
 * Fills f->budget as above with what teams spent, runs that go on included, and tells nobody.
 * @going is called once digests were read, so that nothing counts twice; what it answers is freed.
 * A clock of ours that is wrong chooses another period alone.
 * Budgets of runs are passed over. 0 or negative errno.
 */
int fleet_budgets_with(struct fleet *f, struct fleet_store *s, const struct fleet_budgets *b,
		       int (*going)(void *arg, struct fleet_going **run, size_t *runs), void *arg);

/*
 * The same for runs that were just put into a store, all of @team (NULL: of any), of teams in the
 * period of a week ago and since: what is told now is said on stderr as well.
 */
int fleet_budgets_look(const char *store, const char *team, const struct fleet_budgets *b);

/* "team vision cost $4,100.00 of $5,000.00 in 2026-11, which goes on: 82.0 %" */
const char *fleet_words_budget(const struct fleet_budget_state *b, struct base_arena *mem);

#endif
