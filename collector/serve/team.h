/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A team: who shares runs. Its runs lie in BASE/TEAM/, in a store of their own, so that no look-up
 * made for one team can find another's. Where no tokens are used there is one team without a name,
 * and it has the collector's own store: BASE/.
 *
 * Made when a token of it first comes in, or its folder is there; they live as long as the server,
 * also when the token file names them no more.
 */
#ifndef COLL_TEAM_H
#define COLL_TEAM_H

#include "ingest/feed.h"
#include "retain/bucket.h"
#include "seats.h"
#include "store/store.h"
#include "tokens.h"

struct coll_team {
	char name[COLL_TEAM_BYTES]; /* "": no tokens are used */
	struct coll_store *store; /* NULL: at a gateway */
	struct coll_store own; /* store points here, unless it is the collector's */
	struct coll_feeder feeder; /* of the streams that come by HTTP; they outlive requests */
	struct coll_bucket rate; /* of what comes by HTTP */
	struct coll_seat_row seats; /* connections */
	size_t gateway_held; /* room that its requests have there */
	int64_t crowd_logged_ns; /* monotonic: when it was said that it has too many, 0: never */
	struct coll_team *next;
};

struct coll_retention;
struct coll_runs;

/* All of a server, see http.h. The caller's; zero at first. */
struct coll_teams {
	const char *base; /* NULL: nothing of theirs is stored here */
	struct coll_counters *count;
	struct coll_retention *retention; /* watches over what teams use; NULL: nobody does */
	struct coll_runs *runs; /* who hears what the stores read; NULL: nobody */
	struct coll_team *list;
};

/* The team, made if need be. @name has been checked. NULL: no memory or no folder; logged. */
struct coll_team *coll_team_get(struct coll_teams *t, const char *name);

/* The folder of its runs; at a gateway, which has none, what coll_runs_row has in its place. */
const char *coll_team_base(const struct coll_team *team);

/*
 * Whether the run directory lies in the team's folder itself: other teams' lie below that of none.
 */
bool coll_team_has(const struct coll_team *team, const char *dir);

/* A team that has @store, which is not its own. NULL: no memory. */
struct coll_team *coll_team_sharing(struct coll_teams *t, struct coll_store *store);

/*
 * Closes streams that nothing came for since @before_ns (monotonic), or, where they have said
 * goodbye, since @bye_before_ns; if all of them is durable.
 */
void coll_team_close_idle(struct coll_team *team, int64_t before_ns, int64_t bye_before_ns);

/* The loop was away for so long: nothing could come for streams meanwhile. */
void coll_team_was_away(struct coll_team *team, int64_t away_ns);

void coll_teams_fini(struct coll_teams *t);

#endif
