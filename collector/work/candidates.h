/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs that may be taken up, by team, as the last scan found them; and when those need not be
 * looked at again that were just looked at. Teams have their turns: next is one that fewest
 * workers are at, and of these the one that we have not been at for longest; of its runs any, so
 * that workers do not come to the same one. Of a team with more than there is room for, a choice
 * by chance stays; others come with later scans. Runs with a digest, which may have grown, wait
 * until there are no others.
 *
 * Plain memory, bounded; one thread at a time.
 */
#ifndef COLL_WORK_CANDIDATES_H
#define COLL_WORK_CANDIDATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "place.h"

#define COLL_WORK_TEAMS_MAX 4096
#define COLL_WORK_TEAM_RUNS 64
#define COLL_WORK_SEEN 16384 /* a power of two */

struct coll_work_candidates {
	struct coll_work_team *first;
	size_t teams, runs, waiting; /* waiting: without a digest, those without room, too */
	uint64_t turn;
	struct coll_work_seen {
		uint64_t run; /* a hash; 0: none */
		int64_t until_ns; /* monotonic */
	} seen[COLL_WORK_SEEN];
};

void coll_work_candidates_fini(struct coll_work_candidates *c);

/* A scan begins: nothing is there to take, and nobody at work. Turns and what was seen stay. */
void coll_work_candidates_begin(struct coll_work_candidates *c);

/* @again: it has a digest. Without memory, or with too many teams, it comes with a later scan. */
void coll_work_candidates_add(struct coll_work_candidates *c, const char *team, const char *run,
			      bool again);

/* Another worker is at one of the team's runs. */
void coll_work_candidates_busy(struct coll_work_candidates *c, const char *team);

/* The next one, which is not there any more then. False: there is none. */
bool coll_work_candidates_next(struct coll_work_candidates *c, struct coll_work_place *p);

/* It need not be looked at before; of two that share a place the later one counts. */
void coll_work_candidates_saw(struct coll_work_candidates *c, const struct coll_work_place *p,
			      int64_t until_ns);
/* When it is to be looked at; 0: nothing is remembered of it. */
int64_t coll_work_candidates_due(const struct coll_work_candidates *c,
				 const struct coll_work_place *p);

#endif
