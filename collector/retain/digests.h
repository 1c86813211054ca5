/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Digests of runs that have ended: `gpustarve digest RUN --store URL` as children, some at a time.
 * On success the run gets a mark, a file with the time of the trace that was digested, so that
 * nothing is digested twice after a restart and a run that grew is digested again. Runs to digest
 * come from the sweeps, and from streams that were closed; what does not fit into the queue is
 * found by a later sweep.
 *
 * Teams have their turns (digest_queue.h), and no team has all the slots for small runs, so that
 * nobody's runs keep another's waiting for longer than one of them takes. Traces of
 * COLL_DIGEST_LARGE bytes and more have a slot of their own. A child may take 900 s of time, and of
 * CPU time, and a second more for each 4 MiB of the trace, an hour for each 14 GiB: reading takes
 * about a twelfth of that. One that comes again may take twice as long, and four times from the
 * third on.
 *
 * The child of a long run keeps what it has finished, a GPU or those that share processes at a
 * time, and how far it got in one, in COLL_DIGEST_PARTS of the run (`gpustarve digest --resume`).
 * One that is ended, by its limit, by the end of this program or otherwise, goes on from there; an
 * end after which there is more than before is no failure of the run.
 *
 * The digest of a long run takes its time, and that of one that fails may never come. Such a run
 * (of COLL_DIGEST_LONG bytes), and one whose turn does not come for half a minute, gets a
 * provisional row first (`gpustarve digest
 * --provisional`), in a slot for small runs: what it held is billed at once, and the digest takes
 * the row's
 * place. That there is a row, or that none can be made, is marked in the run's directory, too.
 *
 * A job's digest has what its runs' have and the time of GPUs that none of them used, and takes
 * their place in the store. It is made once the GPUs were given back, of the allocations and of the
 * runs beside them that bear the job's name, and again when any of these changes. Sweeps alone name
 * jobs, for they alone know the runs. Provisional rows and what is kept of work not done are for
 * runs.
 *
 * With an archive, a run whose digest is in is copied there (`gpustarve put`) in the same slot, and
 * the mark comes after both: what has no copy is kept as what has no digest. An archive that takes
 * nothing is tried again for as long as it takes; the digest is not made again for it, but after a
 * restart. Jobs are not copied: their runs are.
 *
 * A digest that fails is tried again with growing pauses, also after a restart, and after
 * COLL_DIGEST_ATTEMPTS is parked, which a line and a counter tell (digest_tries.h). A store that
 * takes nothing is no fault of the run: it is tried again for as long as it takes. One thread.
 */
#ifndef COLL_DIGESTS_H
#define COLL_DIGESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/context.h"
#include "digest_queue.h"
#include "limits.h"
#include "run_index.h"

#define COLL_BUDGETS_MAX 16
#define COLL_ARCHIVE_BYTES 1024 /* of its URL */
#define COLL_DIGEST_LARGE (256ull << 20)
#define COLL_DIGEST_LONG (256ull << 10) /* it may take seconds: blocks of like events are small */
#define COLL_DIGEST_SLOTS 4 /* the first is for large traces */
#define COLL_DIGEST_SLOTS_TEAM 2 /* of those for small ones, at most */
#define COLL_DIGEST_PARTS ".digest-parts" /* the child's */
#define COLL_DIGEST_STORE_FAILED 3 /* exit status: the run could be read, and not be stored */

struct coll_digest_to { /* of the command line, which owns the texts */
	const char *store; /* URL; NULL: there are no digests */
	const char *budget[COLL_BUDGETS_MAX]; /* looked at with every digest */
	size_t budgets;
	const char *exec; /* started when one is told; NULL: nothing */
	const char *archive; /* "s3://..."; NULL: runs stay here alone */
};

struct coll_digest_slot {
	struct coll_digests *digests;
	struct coll_digest *run; /* NULL: free */
};

struct coll_digests {
	const char *base; /* borrowed, as all here but the queue */
	const struct coll_digest_to *to;
	struct coll_context *context;
	const struct coll_limits *limits; /* how long nobody must have written to a run */
	struct coll_run_index *index; /* borrowed; NULL: none */
	bool available; /* the program is there */
	char program[COLL_CHILD_PATH_BYTES];
	struct coll_digest_queue queue;
	struct coll_digest_slot slot[COLL_DIGEST_SLOTS];
	uint64_t parked; /* runs, as of the last sweep and since */
	int64_t parked_logged_ns; /* monotonic; 0: never */
};

/* Without the program beside ours nothing is ever started, which is logged once. */
void coll_digests_init(struct coll_digests *d, const char *base, const struct coll_digest_to *to,
		       const struct coll_limits *limits, struct coll_context *context);
void coll_digests_fini(struct coll_digests *d);

/* A run without digest, RUN.gst. Known ones stay as they are. */
void coll_digests_add(struct coll_digests *d, const char *team, const char *run);

/* A job, CLUSTER-JOB.job, whose runs here have such traces, last written to at @runs_ns. */
void coll_digests_add_job(struct coll_digests *d, const char *team, const char *job,
			  uint64_t runs_bytes, int64_t runs_ns);

/* A stream of the run was closed: it may have ended. @dir: its directory. */
void coll_digests_closed(struct coll_digests *d, const char *dir);

/* A sweep has found so many that are parked. */
void coll_digests_found_parked(struct coll_digests *d, uint64_t runs);

/* To be called about once a second. */
void coll_digests_tick(struct coll_digests *d, int64_t now_ns);

/* Seconds that a digest of such a trace may take, after so many that failed. */
int coll_digests_time_s(uint64_t trace_bytes, unsigned int failures);

#endif
