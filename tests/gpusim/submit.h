/* SPDX-License-Identifier: Apache-2.0 */
/*
 * submit.h - how work gets its time. An op whose inputs are known is placed on its engine at
 * once, in the launching thread; one behind a host function or an open collective waits in the
 * process's list of pending work until these are done. All calls want the process lock held,
 * unless they say otherwise.
 */
#ifndef SIM_SUBMIT_H
#define SIM_SUBMIT_H

#include "state.h"

/* Fills in device, context, stream, thread and call of an op about to be submitted on s. */
void sim_op_init(struct sim_op *op, enum sim_kind kind, struct sim_stream *s);

/*
 * Submits op on s, behind all that s has and, for nodes of a graph, behind `after` instead.
 * Returns when it is over: op->start and op->end are final where the result has no pending.
 *
 * Its work (NULL: none) is a host function, which a thread of the driver runs in its turn; or
 * bytes. These move when the op's time becomes known, and it is over only then. They are
 * taken out of *work where that is later, and left in it where nothing is waited for: then they are
 * the caller's to move, for which he can give up the lock.
 */
struct sim_when sim_submit_work(struct sim_stream *s, struct sim_op *op,
				const struct sim_when *after, uint32_t n_after,
				struct sim_work *work);

/*
 * An op that lasts from op->start (or an earlier start among the nodes that are pending) to the
 * end of all of `nodes`, and takes no engine: a graph launch as a whole.
 */
struct sim_when sim_submit_span(struct sim_stream *s, struct sim_op *op,
				const struct sim_when *nodes, uint32_t n);

/* A moment that comes when all of `when` have come. */
struct sim_when sim_join(struct sim_stream *s, const struct sim_when *when, uint32_t n);

/* What s waits for before its next op: its own tail and, by the legacy rules, other streams'. */
struct sim_when sim_stream_ready(struct sim_stream *s);

/* Gives every pending op whose inputs are done its time; true if any got one. */
bool sim_resolve(void);

/*
 * Does a part of p's work on memory: true when it is done. Little is done at once, more by the
 * worker, without the lock (bytes says how much it is); *done belongs to p and says so then.
 */
bool sim_pending_part(struct sim_pending *p, bool *done, void (*part)(struct sim_pending *),
		      size_t bytes);

/* Puts a moment in another's place; counted references. */
void sim_when_set(struct sim_when *dst, struct sim_when src);

/* Is it over now? Without the lock's being given up. */
bool sim_when_past(struct sim_when *when);

/* Without the lock: blocks until it is over in real time. Takes and frees a copy. */
void sim_when_wait(struct sim_when when);

/* A copy to keep beyond the lock. */
struct sim_when sim_when_copy(const struct sim_when *when);

/*
 * Without the lock: tells truth file and tracer of a synchronisation of s (and event, if it is
 * about one) that began at `start` and ends now.
 */
void sim_note_sync(enum sim_sync type, struct sim_stream *s, const struct sim_event *event,
		   uint64_t start, int result);
void sim_note_query(enum sim_sync type, struct sim_stream *s, const struct sim_event *event,
		    uint64_t start, int result);

/* Lets go of a copy. Without the lock. */
void sim_when_drop(struct sim_when when);

/* Without the lock: blocks until all work of the context is over. */
void sim_context_wait(struct sim_ctx *ctx);

/* Tells the tracer what has held up the call since @start. */
void sim_note_overhead(struct sim_stream *s, enum sim_overhead what, uint64_t start);

/* Blocks while s holds as many launches as a queue can; the lock is given up meanwhile. */
void sim_throttle(struct sim_stream *s);

#endif
