/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Retention: starts sweeps, keeps what they found, and with it what each team uses on disk. Between
 * sweeps what is appended is added to what the last one found, so that a quota holds to the frame;
 * when one is exceeded a sweep makes room, and until it has, frames are refused (admit.h).
 *
 * And looks each second how much of the disk is free: COLL_LIMIT_FREE_FLOOR of it stay so, an
 * eighth of the disk at most, for what else has to be written there.
 *
 * Sweeps run every ten minutes where a quota, a time to keep or a store for digests is set, else
 * never. One thread.
 */
#ifndef COLL_RETENTION_H
#define COLL_RETENTION_H

#include <stdbool.h>
#include <stdint.h>
#include "bucket.h"
#include "core/context.h"
#include "digests.h"
#include "disk_use.h"
#include "limits.h"
#include "remove_run.h"
#include "run_index.h"

#define COLL_RETENTION_BUCKETS 1024

struct coll_open_run;

struct coll_retention {
	const char *base; /* borrowed, as all pointers here but `team` */
	const struct coll_limits *limits;
	struct coll_context *context;
	coll_run_dispensable *dispensable; /* which runs a sweep may remove, see remove_run.h */
	struct coll_digests *digests; /* gets the names of runs without digest; NULL: none wanted */
	struct coll_run_index *index; /* NULL: none; or not begun */
	unsigned int rules; /* which limits are read; from 1 */
	struct coll_sweep *plan; /* of the sweep that runs; NULL: none does */
	bool known; /* a sweep has been through */
	bool told; /* the one that runs has told its sums */
	bool again; /* asked for while one ran */
	int64_t next_ns, began_ns; /* monotonic */
	int64_t tidy_ns; /* monotonic: when a sweep is to look for leftovers again */
	int64_t waiting_logged_ns; /* when runs that wait to be forwarded were last logged; or 0 */
	uint64_t clock_jump_s; /* of the last sweep, which removed nothing then; 0: none */
	uint64_t bytes, runs; /* on disk, all teams */
	uint64_t need, appended; /* as in struct coll_use, of all teams */
	struct coll_use *team;
	uint64_t free_bytes; /* of the disk, beyond the floor, as of the last tick and since */
	uint64_t free_floor; /* as it holds on this disk */
	bool free_known;

	/* Of admit.c: */
	struct coll_open_run *open[COLL_RETENTION_BUCKETS]; /* runs that a stream of is open */
	size_t open_runs, open_streams; /* of all stores */
	struct coll_bucket rate; /* of all clients */
	int64_t logged_ns[COLL_LIMIT_COUNT]; /* when each limit was last logged, 0: never */
};

void coll_retention_init(struct coll_retention *k, const char *base,
			 const struct coll_limits *limits, struct coll_context *context);
void coll_retention_fini(struct coll_retention *k);

/* Whether there are limits that need sweeps. */
bool coll_retention_wanted(const struct coll_retention *k);

/* To be called about once a second. */
void coll_retention_tick(struct coll_retention *k, int64_t now_ns);

/* Limits were read anew: look at once. */
void coll_retention_reloaded(struct coll_retention *k);

/* The use of a team; NULL: no memory. Lives as long as @k. */
struct coll_use *coll_retention_use(struct coll_retention *k, const char *team);

/* A quota is exceeded: sweep soon. */
void coll_retention_make_room(struct coll_retention *k);

/* A line of what a sweep says; sums hold once the last one has come. Public for its test. */
void coll_retention_read_line(struct coll_retention *k, const char *line);

#endif
