/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Digests of runs that have ended: `gpustarve digest RUN --store URL` as a child, one at a time,
 * retried with growing pauses. On success the run gets a mark, a file with the time of the trace
 * that was digested, so that nothing is digested twice after a restart and a run that grew is
 * digested again. Runs to digest come from the sweeps, and from streams that were closed; what does
 * not fit into the queue is found by a later sweep. One thread.
 */
#ifndef COLL_DIGESTS_H
#define COLL_DIGESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/context.h"
#include "limits.h"

#define COLL_DIGESTS_MAX 1024 /* runs that wait */
#define COLL_BUDGETS_MAX 16

struct coll_digest_to { /* of the command line, which owns the texts */
	const char *store; /* URL; NULL: there are no digests */
	const char *budget[COLL_BUDGETS_MAX]; /* looked at with every digest */
	size_t budgets;
	const char *exec; /* started when one is told; NULL: nothing */
};

struct coll_digest {
	char *team, *run;
	int64_t due_ns; /* monotonic */
	unsigned int failures;
	struct coll_digest *next;
};

struct coll_digests {
	const char *base; /* borrowed, as all here but the list */
	const struct coll_digest_to *to;
	struct coll_context *context;
	const struct coll_limits *limits; /* how long nobody must have written to a run */
	bool available; /* the program is there */
	char program[COLL_CHILD_PATH_BYTES];
	struct coll_digest *first; /* in no order */
	struct coll_digest *running; /* of these; NULL: none */
	int64_t trace_ns; /* realtime: the trace's last write when the child began */
	size_t waiting;
};

/* Without the program beside ours nothing is ever started, which is logged once. */
void coll_digests_init(struct coll_digests *d, const char *base, const struct coll_digest_to *to,
		       const struct coll_limits *limits, struct coll_context *context);
void coll_digests_fini(struct coll_digests *d);

/* A run without digest, RUN.gst. Known ones stay as they are. */
void coll_digests_add(struct coll_digests *d, const char *team, const char *run);

/* A stream of the run was closed: it may have ended. @dir: its directory. */
void coll_digests_closed(struct coll_digests *d, const char *dir);

/* To be called about once a second. */
void coll_digests_tick(struct coll_digests *d, int64_t now_ns);

#endif
