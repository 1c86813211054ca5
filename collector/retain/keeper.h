/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collector's side of retention: starts sweeps, remembers what they found, and says whether
 * there is room for more. Between sweeps what is appended is added to what the last one found, so
 * that a quota holds to the frame; when one is exceeded a sweep makes room, and until it has,
 * frames are refused.
 *
 * Sweeps run every ten minutes where a quota, a time to keep or a store for digests is set, else
 * never. One thread.
 */
#ifndef COLL_KEEPER_H
#define COLL_KEEPER_H

#include <stdbool.h>
#include <stdint.h>
#include "bucket.h"
#include "core/context.h"
#include "digests.h"
#include "disk_use.h"
#include "limits.h"
#include "remove_run.h"

#define COLL_KEEPER_BUCKETS 1024

struct coll_store;
struct coll_open_run;

struct coll_keeper {
	const char *base; /* borrowed, as all pointers here but `team` */
	const struct coll_limits *limits;
	struct coll_context *context;
	coll_run_dispensable *dispensable; /* which runs a sweep may remove, see remove_run.h */
	struct coll_digests *digests; /* gets the names of runs without digest; NULL: none wanted */
	struct coll_sweep *plan; /* of the sweep that runs; NULL: none does */
	bool known; /* a sweep has been through */
	bool again; /* asked for while one ran */
	int64_t next_ns, began_ns; /* monotonic */
	int64_t waiting_said_ns; /* when runs that wait to be forwarded were last logged, 0: never */
	uint64_t bytes, runs; /* on disk, all teams */
	uint64_t need; /* as above */
	uint64_t appended; /* as above */
	struct coll_use *team;

	struct coll_open_run *open[COLL_KEEPER_BUCKETS]; /* runs that a stream of is open */
	size_t open_runs, open_streams; /* of all stores */
	struct coll_bucket rate; /* of all clients */
	int64_t said_ns[COLL_LIMIT_COUNT]; /* when each limit was last logged, 0: never */
};

void coll_keeper_init(struct coll_keeper *k, const char *base, const struct coll_limits *limits,
		      struct coll_context *context);
void coll_keeper_fini(struct coll_keeper *k);

/* To be called about once a second. */
void coll_keeper_tick(struct coll_keeper *k, int64_t now_ns);

/* Limits were read anew: look at once. */
void coll_keeper_reloaded(struct coll_keeper *k);

/* The use of a team; NULL: no memory. Lives as long as the keeper. */
struct coll_use *coll_keeper_use(struct coll_keeper *k, const char *team);

/*
 * The store belongs to the team ("": none): what it opens, appends and closes is admitted and counted
 * here, see store/admission.h.
 */
void coll_keeper_attach(struct coll_keeper *k, struct coll_store *st, const char *team);

/* What the store's team uses; NULL: not known. */
const struct coll_use *coll_keeper_use_of(const struct coll_store *st);

/*
 * Below, @k may be NULL: no limits. What is refused is counted, and logged at most once a minute.
 *
 * Whether a stream of the run directory may be opened: 0 or -EUSERS, when there are too many. On 0
 * it is counted until coll_keeper_closed.
 */
int coll_keeper_open(struct coll_keeper *k, const char *dir);
void coll_keeper_closed(struct coll_keeper *k, const char *dir);

/* Whether a client that feeds @streams already may feed one more: 0 or -EUSERS. */
int coll_keeper_feed(struct coll_keeper *k, size_t streams);

/*
 * Whether @len bytes more may be appended to a stream of @size: 0 (then they are counted); -EFBIG:
 * it would be too large; -EDQUOT: no room, a sweep is on its way. @use NULL: only the quota of all.
 */
int coll_keeper_append(struct coll_keeper *k, struct coll_use *use, uint64_t size, uint64_t len);

/* Whether a stream of @size may become so much longer: 0 or -EFBIG. */
int coll_keeper_size(struct coll_keeper *k, uint64_t size, uint64_t len);

/* A client has sent @len bytes: how long it must not be read from, in nanoseconds. */
int64_t coll_keeper_throttle(struct coll_keeper *k, struct coll_bucket *client, uint64_t len,
			     int64_t now_ns);
int64_t coll_keeper_wait(const struct coll_keeper *k, const struct coll_bucket *client,
			 int64_t now_ns);

/* A quota is exceeded: sweep soon. */
void coll_keeper_make_room(struct coll_keeper *k);

/* What a sweep said. Public for its test. */
void coll_keeper_read_report(struct coll_keeper *k, const char *text, size_t len);

#endif
