/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One component, walked forward once: processes that share GPUs, and those GPUs. Operations lead;
 * API records, ranges and synchronisation records are read a little ahead of them.
 *
 *	walk/	all state of a walk, and what the processes did (host.c): launches, stacks of
 *		threads, waits of streams
 *	gap/	(gap.h) which submit ends each gap's emptiness, and what becomes of its pieces
 *	engine/	(component.h) the order in which events are read, busy time of the GPUs
 *
 * One thread.
 */
#ifndef ANALYSIS_WALK_H
#define ANALYSIS_WALK_H

#include "analysis/read/event_feed.h"
#include "communicators.h"
#include "copied.h"
#include "longcalls.h"
#include "join.h"
#include "analysis/evidence/unsampled.h"
#include "analysis/time/timeline_stack.h"
#include "analysis/time/minutes.h"
#include "analysis/map.h"
#include "analysis/plan/plan.h"
#include "analysis/ranks/skew.h"
#include "analysis/observer.h"
#include "analysis/evidence/hotspots.h"
#include "step.h"
#include "turns.h"
#include "analysis/time/timeline.h"

#define ANA_LATE_NS 1000000 /* how much later than its operation a live launch is looked for */
#define ANA_LATE_IMPORT_NS 1000000000 /* the same in imports that are too large to join at once */
#define ANA_TURNAROUND_NS 10000
#define ANA_LAUNCH_NS 60000
#define ANA_SLOW_LAUNCH_NS 1000000
#define ANA_ROWS_MAX (1u << 22) /* kept for a GPU that idles, in a walk that is not exact */
#define ANA_GAPS_OPEN_MAX (1u << 18) /* undecided at once, in a walk that is not exact */

struct ana_takes { /* waits of a thread at one place of its code */
	uint32_t place; /* string id of the stack */
	struct ana_unsampled waits; /* sampled, but nobody was seen to make what is waited for */
};

struct ana_thread {
	uint32_t tid;
	struct ana_timeline_stack calls, waits, ranges, operators;
	struct ana_longcalls longcalls; /* where there is evidence */
	struct ana_timeline_stack
		marks; /* collecting garbage, saving a checkpoint, making an iterator */
	struct ana_unsampled *unsampled[ANA_PIECE_KINDS]; /* NULL: nothing was decided or waits */
	const struct ana_thread_samples *seen; /* of it; NULL: not looked for, or never seen */
	struct ana_takes *takes; /* if any, there is unsampled[ANA_PIECE_HOST] */
	uint32_t take_count, take_room;
};

struct ana_unplaced_call { /* an API record on its way to its thread's stack of calls */
	int64_t start, end;
	uint32_t tid, value;
};

struct ana_waits { /* stream-wait records of one stream, by time */
	int64_t *at;
	size_t head, tail, room;
};

struct ana_waits_at { /* a GPU that a process's loader waits count for */
	uint32_t gpu; /* in the walk */
	uint32_t waiter; /* among those of the GPU */
};

struct ana_proc {
	const struct ana_source *source;
	uint32_t source_index;
	uint32_t index; /* in the walk */
	bool anchored; /* steps begin with source->anchor */
	struct ana_names names;
	struct ana_feed ops, calls, ranges, syncs;
	struct ana_communicators *comms; /* NULL: nobody compares ranks, or NCCL says nothing */
	struct ana_join *join;
	struct ana_thread **thread;
	uint32_t threads, thread_room;
	struct ana_map thread_of; /* by tid */
	struct ana_thread *last; /* the one used last */
	struct ana_unplaced_call *unplaced; /* on no stack yet: most never need to be */
	uint32_t unplaced_first, unplaced_count, unplaced_room;
	uint32_t unplaced_over; /* all before it ended by ... */
	int64_t unplaced_over_at;
	struct ana_timeline_stack waits; /* loader waits of all its threads */
	struct ana_waits_at *waits_at;
	uint32_t waits_ats, waits_at_room;
	struct ana_waits *stream_waits;
	uint32_t stream_wait_count, stream_wait_room;
	struct ana_map stream_waits_of; /* by (context or device, stream) */
	struct ana_timeline_stack
		*blocked; /* host waits by context, for devices without launches */
	uint32_t blocked_count, blocked_room;
	struct ana_map blocked_of;
	struct ana_timeline_stack *host_code; /* functions that streams run, by stream */
	uint32_t host_code_count, host_code_room;
	struct ana_map host_code_of; /* by (context or device, stream) */
	struct ana_timeline_stack any_host_code; /* of all streams */
	struct ana_steps steps;
	struct ana_evidence *evidence; /* NULL: the stream has none */
	/* when the last gap began that ended with a thread whose starters served (newcomer.h) */
	int64_t served;
	struct ana_copied copied; /* where there is evidence */
	struct ana_map gpu_of; /* by ordinal */
	uint32_t last_ordinal, last_gpu;
	uint32_t order; /* of API records */
	int64_t calls_next; /* start of the first API record that is not read */
	/* for gaps without launches (gap.c) */
	bool waiter_sought;
	struct ana_proc *only_waiter;
};

/* The thread that launched an operation. */
struct ana_submitter {
	bool known;
	uint32_t process, tid;
};

/* A gap between operations that is not decided yet. */
struct ana_open_gap {
	int64_t start, end;
	uint32_t process; /* of the operation that ends it */
	uint32_t ordinal, context, stream;
	bool known; /* that operation has a known launch */
	bool pageable; /* it is a pageable host-to-device copy */
	bool copied; /* it is a host-to-device copy ... */
	uint64_t copied_bytes; /* ... of so many */
	bool same_graph; /* it and the operation before belong to one graph launch */
	bool dependent; /* its stream was told to wait before it */
	struct ana_submitter left; /* of the operation before it */
	int64_t computed; /* latest launch of the kernels and graphs before it, INT64_MIN: none */
};

/* Consecutive gaps whose emptiness ends with the same submit. */
struct ana_run_of_gaps {
	struct ana_call call;
	bool known; /* some operation after them has a known launch */
	uint64_t gaps;
};

/*
 * A copy while the call that made it lasts: what its thread is at then is the line of the copy. Of
 * several at once the last.
 */
struct ana_copying {
	int64_t start, end;
	uint32_t process, tid;
};

struct ana_stream_state { /* of a stream of a GPU: its last operation */
	uint64_t key;
	int64_t submitted; /* its launch, or its start where that is unknown */
};

struct ana_waiter { /* a process whose loader waits count for a GPU */
	uint32_t process;
	bool waits; /* it may, and is among gpu_state.waiting */
};

struct ana_gpu_state {
	struct ana_device *plan;
	struct ana_gpu *gpu; /* what is found, owned by the result */
	uint32_t index; /* in the result */
	struct ana_buckets buckets;
	struct ana_top top; /* its own longest gaps, for the observer; max 0: off */
	struct ana_rank_recorder *recorder; /* borrowed; NULL: ranks are not compared */
	/* busy */
	bool started;
	int64_t start; /* of its first operation */
	int64_t at; /* busy time is accounted up to here */
	int64_t unflushed[ANA_CLASSES]; /* what came in order of time since the bucket began */
	struct ana_bucket *open_bucket;
	int64_t open_until; /* end of that bucket, or of the minute */
	struct ana_minutes minutes;
	int64_t end, compute_end, comm_end, copy_end, dir_end[ANA_COPY_DIRS];
	struct ana_copying copying;
	/* the operation that ended last */
	uint32_t left_stream, left_process;
	bool left_graph;
	uint64_t left_corr;
	struct ana_submitter left;
	int64_t computed; /* latest known launch of its kernels and graphs; INT64_MIN: none */
	/* the time before the first operation, while it is not decided */
	bool lead_open;
	struct ana_open_gap lead;
	bool lead_known;
	struct ana_call lead_call; /* the earliest launch of all operations so far */
	/* gaps */
	struct ana_open_gap *gap;
	size_t gap_head, gap_tail, gap_room;
	struct ana_run_of_gaps *run;
	size_t run_head, run_tail, run_room;
	uint64_t launches; /* operations with a known launch */
	struct ana_timeline_stack waits; /* loader waits of the processes that use it */
	struct ana_waiter *waiter; /* these, by process */
	uint32_t waiters, waiter_room;
	uint32_t *waiting; /* those that have steps and may still wait, in any order */
	uint32_t waitings;
	struct ana_stream_state *stream;
	uint32_t streams, stream_room;
	struct ana_map stream_of;
	uint32_t last_stream;
	bool masked; /* something was lost or not observed */
	bool clipped; /* gaps may lie outside of what was held */
	bool plain; /* neither */
	/* plain, of one phase, and nobody asks for pieces: its gaps may be decided without rules */
	bool ordinary;
	bool no_launches; /* known from the start: nothing has a launch record */
	int64_t waits_floor;
};

struct ana_walk {
	struct ana_plan *plan;
	const struct ana_component *component;
	const struct ana_options *options;
	const struct ana_observer *observer; /* NULL: nobody looks on */
	struct wire_scratch *scratch;
	struct ana_feed_room open_events;
	struct ana_proc *process;
	uint32_t processes;
	struct ana_gpu_state *gpu;
	uint32_t gpus;
	bool exact; /* join everything first, decide everything last */
	bool one_gpu; /* not exact, and so simple that the floor can follow each operation */
	int64_t late_ns;
	uint32_t decide_every; /* operations between two looks at what can be decided */
	uint32_t now; /* operations read, modulo 2^32 */
	/* operations, unless there is one process alone, API records, ranges, waits */
	struct ana_turns ops_turns, calls_turns, ranges_turns, syncs_turns;
	int64_t floor; /* no undecided gap begins before */
	int64_t floor_was; /* when decisions were made last */
	/* what the threads did before this is not kept: a GPU idles for too long */
	int64_t forgotten;
	uint64_t rows; /* placed on stacks since the floor last moved */
	uint64_t gaps_open;
	uint64_t lost_graphs; /* launches of graphs without an operation, as far as that is known */
	struct ana_top top;
	struct ana_cause cause; /* the piece at hand */
	struct ana_hotspots hotspots;
	int64_t unsampled_at; /* the floor when pieces without samples were last given classes */
	int64_t booked; /* then, all that begins before had its class */
	uint64_t unsampled_pieces; /* that wait for their neighbours */
	struct ana_quality quality;
	/* called between two turns after so many operations, to keep the walk; NULL: never */
	void (*pause)(void *arg, struct ana_walk *w);
	void *pause_arg;
	uint32_t pause_every, paused; /* paused: then, in @now */
	int err;
};

/* Whether some GPU of it takes part in the comparison of ranks. */
static inline bool ana_walk_compares(const struct ana_walk *w)
{
	for (uint32_t i = 0; i < w->gpus; i++)
		if (w->gpu[i].recorder)
			return true;
	return false;
}

/* host.c */
int ana_process_init(struct ana_walk *w, struct ana_proc *p, uint32_t source);
/* For the comparison of ranks: it will tell communicators (communicators.h). 0 or -ENOMEM. */
int ana_process_compare(struct ana_walk *w, struct ana_proc *p);
void ana_process_fini(struct ana_proc *p);

struct ana_archive; /* archive.h */
/*
 * process_archive.c, gpu_archive.c: what a walk that is not exact has of them between two turns.
 * Read into those of a walk that has begun.
 */
void ana_process_archive(struct ana_walk *w, struct ana_proc *p, struct ana_archive *a);
void ana_gpu_archive(struct ana_walk *w, struct ana_gpu_state *g, struct ana_archive *a);
void ana_host_calls(struct ana_walk *w, int64_t upto); /* reads all that begin at or before */
/* Reads on until the record of this correlation id, but no further than @upto. */
void ana_host_find(struct ana_walk *w, struct ana_proc *p, uint64_t corr, int64_t upto);
void ana_host_ranges(struct ana_walk *w, int64_t upto);
void ana_host_syncs(struct ana_walk *w, int64_t upto);
/* Puts the process's API records that begin before @upto on the stacks of their threads. */
void ana_host_place_calls(struct ana_walk *w, struct ana_proc *p, int64_t upto);
/* NULL: no memory, of which w->err tells. */
struct ana_thread *ana_host_other_thread(struct ana_walk *w, struct ana_proc *p, uint32_t tid);

/* Those of this kind, made if there are none. NULL: no memory, of which w->err tells. */
struct ana_unsampled *ana_host_unsampled(struct ana_walk *w, struct ana_thread *t,
					 enum ana_piece_kind kind);

static inline struct ana_thread *ana_host_thread(struct ana_walk *w, struct ana_proc *p,
						 uint32_t tid)
{
	if (p->last && p->last->tid == tid)
		return p->last;
	return ana_host_other_thread(w, p, tid);
}

/* Some stream-wait record of the operation's stream lies in [from, to]. */
bool ana_host_told_to_wait(const struct ana_proc *p, const struct wire_event *op, int64_t from,
			   int64_t to);
/* The functions that this stream ran on the CPU; NULL: none. */
struct ana_timeline_stack *ana_host_code(struct ana_proc *p, uint32_t ordinal, uint32_t context,
					 uint32_t stream);
/* The host waits of this context; NULL: there was none. */
struct ana_timeline_stack *ana_host_blocked(struct ana_proc *p, uint32_t ordinal, uint32_t context);

/*
 * Whether the thread was inside an API call at @t, of which all records have been placed, and the
 * class of that call. For ana_evidence.in_call: @proc is the struct ana_proc.
 */
bool ana_host_in_call(void *proc, uint32_t tid, int64_t t, uint32_t *class);

/*
 * waiters.c: which processes' loader waits count for which GPUs, once both are known. 0 or -ENOMEM.
 */
int ana_waiters_find(struct ana_walk *w);
/* The process begins to wait. */
void ana_waiters_wait(struct ana_walk *w, const struct ana_proc *p);

/* gpu.c */
void ana_gpu_fini(struct ana_gpu_state *g);
/* [@start, @end) of the GPU's time is of class @c. */
static inline void ana_gpu_add(struct ana_gpu_state *g, int c, enum ana_confidence confidence,
			       int64_t start, int64_t end)
{
	g->gpu->classes[c] += end - start;
	g->gpu->confidence[c][confidence] += end - start;
	ana_buckets_add(&g->buckets, c, start, end);
	if (g->recorder)
		ana_collective_log_add_late(g->recorder->log, c, start, end);
}

/* engine/exposed.c: [@start, @end) of the GPU's time is of an input.* class. */
void ana_exposed_input(struct ana_walk *w, const struct ana_gpu_state *g, int64_t start,
		       int64_t end);

#endif
