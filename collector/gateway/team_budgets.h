/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Budgets of teams over a month or a week, of what ended and what goes on, at all gateways: once a
 * minute the gpustarve beside this program says which are spent by 80 % and more, from the store
 * alone (gpustarve-pulses(1)). Who sees it first puts an object, `.budgets/TEAM/PERIOD/CONDITION`,
 * and tells of it; nobody else ever does. What claims.h says of alerts is sure of these, too. One
 * thread, the loop's.
 */
#ifndef COLL_TEAM_BUDGETS_H
#define COLL_TEAM_BUDGETS_H

#include "core/context.h"
#include "gateway_options.h"
#include "hands.h"
#include "objects/objects.h"

#define COLL_BUDGETS_FOLDER ".budgets"

struct coll_team_budgets { /* zero: there are none */
	const struct coll_gateway_options *opts; /* borrowed, as the next three; NULL: none */
	struct objects *objects;
	struct coll_hands *hands;
	struct coll_context *context;
	char program[COLL_CHILD_PATH_BYTES];
	uint64_t *told; /* hashes of keys that are claimed, by whomever, or asked for */
	size_t tolds, told_room;
	pid_t *command; /* that run */
	size_t commands, command_room;
	int64_t next_ns; /* monotonic */
	bool busy;
	int64_t logged_ns;
};

/* 0, also where there are none, or -errno, logged. */
int coll_team_budgets_init(struct coll_team_budgets *b, const struct coll_gateway_options *o,
			   struct objects *objects, struct coll_hands *hands,
			   struct coll_context *context);
void coll_team_budgets_fini(struct coll_team_budgets *b);

/* To be called about once a second. */
void coll_team_budgets_tick(struct coll_team_budgets *b);

#endif
