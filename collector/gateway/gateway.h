/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A collector that has no store of its own: what comes in is put into an object store, and answered
 * once it is durable there. Nothing is remembered but to save requests, so any number of gateways
 * may serve the same bucket, and each may die at any time: who was not answered sends again, to
 * whichever is there. What was put all the same is the same frames under the same key, or frames
 * that are there twice, of which readers take one.
 *
 * Memory is bounded: each request takes room for its body and what is made of it before it begins;
 * where there is none it is told to come back.
 *
 * One thread, the loop's; the store is asked by others (hands.h).
 */
#ifndef COLL_GATEWAY_H
#define COLL_GATEWAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "claims.h"
#include "core/context.h"
#include "exchange.h"
#include "gateway_options.h"
#include "hands.h"
#include "objects/objects.h"
#include "store_watch.h"
#include "stream_runs.h"
#include "team_budgets.h"

struct coll_gateway {
	const struct coll_gateway_options *opts;
	struct coll_context *context;
	struct objects *objects;
	struct coll_hands hands;
	struct coll_stream_runs runs;
	struct coll_exchange exchange; /* with --store */
	struct coll_claims claims;
	struct coll_team_budgets budgets;
	struct coll_store_watch watch;
	uint64_t held; /* bytes of room that requests have */
	bool ending; /* nothing more is let in */
	int64_t trouble_ns; /* monotonic: when the store last failed, 0: never */
	int64_t logged_ns; /* when that was last said, 0: never */
};

/*
 * Both are borrowed. Asks the store whether it may be listed at all. 0, also where it does not
 * answer; or -errno, logged.
 */
int coll_gateway_open(struct coll_gateway *g, const struct coll_gateway_options *o,
		      struct coll_context *context);

/* Once no job is out (coll_hands_out), or where none ever was. */
void coll_gateway_close(struct coll_gateway *g);

/*
 * Room for a request that brings @len bytes of a team that has @team_held of it. True: it has it,
 * until coll_gateway_let. A team gets three quarters at most; one request is always let in.
 */
bool coll_gateway_hold(struct coll_gateway *g, size_t *team_held, uint64_t len);
void coll_gateway_let(struct coll_gateway *g, size_t *team_held, uint64_t len);

/* The store failed: counted, and logged once a minute. */
void coll_gateway_trouble(struct coll_gateway *g, int err, const struct objects_trouble *t);
bool coll_gateway_in_trouble(const struct coll_gateway *g);

/* "TEAM/NAME", or "NAME" of the team without a name. False: it is too long. */
bool coll_gateway_below(char *to, size_t room, const char *team, const char *name);

#endif
