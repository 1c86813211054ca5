/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs that wait for their digest, by team. Teams have their turns one after the other, however
 * many runs each of them has here; within a team those come first that have failed least. Bounded:
 * where it is full, what the team with most runs here can spare makes place for a run of another
 * team, and comes again with a later sweep. Plain memory; one thread.
 */
#ifndef COLL_DIGEST_QUEUE_H
#define COLL_DIGEST_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COLL_DIGESTS_MAX 4096 /* runs in it */
#define COLL_DIGEST_BUCKETS 1024

enum coll_digest_size {
	COLL_DIGEST_ANY, /* not looked at yet */
	COLL_DIGEST_SMALL,
	COLL_DIGEST_LARGE,
};

struct coll_digest_team {
	char *name; /* "": of no team */
	struct coll_digest *first;
	size_t count, running; /* running: in slots that it shares with other teams' small ones */
	struct coll_digest_team *next; /* after it in turn */
};

struct coll_digest { /* but for the links the owner's to set */
	char *run;
	struct coll_digest_team *team;
	int64_t due_ns; /* monotonic */
	unsigned int failures; /* of all kinds: pauses grow with them */
	unsigned int attempts; /* that failed by the run's own fault */
	enum coll_digest_size size; /* when it was last looked at */
	uint64_t trace_bytes;
	uint64_t runs_bytes; /* of a job: of the traces of its runs, ... */
	int64_t runs_ns; /* ... and their last write, realtime, as the sweep has it that named it */
	uint64_t parts_bytes; /* that an earlier digest had kept when this one began */
	int64_t trace_ns; /* realtime: the trace's last write at that look */
	bool has_row; /* a provisional one is there of that trace, or cannot be */
	bool wants_row; /* and is to come before the digest */
	int64_t stored_ns; /* a digest of a trace as old is in, and no copy yet; or 0 */
	bool archives; /* the child that runs does that */
	bool running;
	struct coll_digest *next, **link; /* of the team */
	struct coll_digest *chain; /* of the bucket */
};

struct coll_digest_queue {
	struct coll_digest_team *first; /* whose turn is next */
	size_t count;
	struct coll_digest *bucket[COLL_DIGEST_BUCKETS];
};

void coll_digest_queue_fini(struct coll_digest_queue *q);

/* NULL: it is there already, there is no place, or no memory. */
struct coll_digest *coll_digest_queue_add(struct coll_digest_queue *q, const char *team,
					  const char *run);
void coll_digest_queue_remove(struct coll_digest_queue *q, struct coll_digest *e);

/* Whether a slot is free for it. */
typedef bool coll_digest_fits(const void *arg, const struct coll_digest *e);

/* The next that is due and fits; its team then comes last. NULL: none. */
struct coll_digest *coll_digest_queue_next(struct coll_digest_queue *q, int64_t now_ns,
					   coll_digest_fits *fits, const void *arg);

#endif
