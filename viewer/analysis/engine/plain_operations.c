/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs of plain operations: kernels, each with its launch behind the last one's or behind all that
 * was read, and with at most a short gap before it. Most operations of most jobs are such. What
 * device.c does with each is little, but is spread over the GPU's state; here what changes from one
 * to the next stays at hand until another kind of operation comes.
 *
 * Everything is as device.c has it: whatever it would do otherwise ends the run, before anything
 * was changed but what is the same when it is asked again.
 */
#include "component.h"

#include "analysis/walk/join_ring.h"
#include "base/minmax.h"

/* Each is there twice, with and without ranks that are compared. */
#define ALWAYS inline __attribute__((always_inline))

struct run {
	/* as in ana_gpu_state */
	int64_t at, end, compute_end, comm_end, computed;
	int64_t compute, comm, turnaround, launch; /* to be added to unflushed */
	/* as in ana_gpu */
	int64_t idle, queued;
	uint64_t gaps, ops;
	/* the stream of the last operation, and when that was launched */
	struct ana_stream_state *stream;
	uint32_t stream_id;
	int64_t submitted;
	/* the same for all */
	uint32_t device;
	uint32_t anchor; /* name of the operation that may begin a step */
	int64_t open_until; /* of the bucket */
	int64_t longest; /* gap that is decided at once, and that no list of the longest wants */
	int64_t ranges_from; /* the next range begins there */
	int64_t waits_until; /* loader waits reach so far, as far as they are known */
	int64_t lowers; /* launches up to then may end the emptiness of gaps that are open */
	bool follow; /* no gap is open: the walk's floor goes with the GPU's end */
	/* what ranks are compared by, which is written at once; NULL: they are not */
	struct ana_rank_recorder *recorder;
};

/* Longer gaps are wanted by the list. */
static int64_t longest_unwanted(const struct ana_top *t)
{
	if (t->count < t->max)
		return INT64_MIN;
	return t->max ? t->gap[0].end_ns - t->gap[0].start_ns : INT64_MAX;
}

/* Open gaps share a launch, unless the next one that is known is theirs. */
static int64_t last_that_lowers(const struct ana_gpu_state *g)
{
	const struct ana_run_of_gaps *last;

	if (g->run_head == g->run_tail)
		return INT64_MIN;
	last = &g->run[g->run_tail - 1];
	return last->known ? last->call.start : INT64_MAX;
}

/* Nothing is running that a plain operation would have to look at. */
static bool may_begin(const struct ana_proc *p, const struct ana_gpu_state *g)
{
	return g->ordinary && g->started && !g->lead_open && !g->left_graph &&
	       g->last_stream < g->streams && g->stream[g->last_stream].key >> 32 == p->index &&
	       g->copy_end <= g->at && g->copying.end <= g->at;
}

static void begin(struct run *r, const struct ana_walk *w, const struct ana_proc *p,
		  const struct ana_gpu_state *g)
{
	r->at = g->at;
	r->end = g->end;
	r->compute_end = g->compute_end;
	r->comm_end = g->comm_end;
	r->computed = g->computed;
	r->compute = r->comm = r->turnaround = r->launch = r->idle = r->queued = 0;
	r->gaps = r->ops = 0;
	r->stream = &g->stream[g->last_stream];
	r->stream_id = (uint32_t)r->stream->key;
	r->device = p->last_ordinal;
	r->anchor = p->anchored ? p->source->anchor.name : UINT32_MAX;
	r->open_until = g->open_until;
	r->longest = base_min(ANA_LAUNCH_NS,
			      base_min(longest_unwanted(&w->top), longest_unwanted(&g->top)));
	r->ranges_from = ana_turns_at(&w->ranges_turns);
	r->waits_until = g->waits.begun ? g->waits.latest : INT64_MIN;
	r->lowers = last_that_lowers(g);
	r->follow = w->one_gpu && !w->gaps_open;
	r->recorder = g->recorder;
}

/* The operation that ended last, as far as add() has not told. */
static void leave(struct ana_gpu_state *g, const struct ana_proc *p, const struct run *r)
{
	if (r->end <= g->end)
		return;
	g->left_process = g->left.process = p->index;
	g->left.known = true;
	g->end = r->end;
}

static void end(struct ana_walk *w, struct ana_proc *p, struct ana_gpu_state *g,
		const struct run *r)
{
	struct ana_gpu *gpu = g->gpu;

	if (!r->ops)
		return;
	gpu->ops += r->ops;
	gpu->gaps += r->gaps;
	gpu->idle_ns += r->idle;
	gpu->queued_ns += r->queued;
	g->launches += r->ops;
	g->unflushed[ANA_COMPUTE] += r->compute;
	g->unflushed[ANA_COMM] += r->comm;
	g->unflushed[ANA_DEVICE_TURNAROUND] += r->turnaround;
	g->unflushed[ANA_DEVICE_LAUNCH] += r->launch;
	g->last_stream = (uint32_t)(r->stream - g->stream);
	r->stream->submitted = r->submitted;
	leave(g, p, r);
	g->at = r->at;
	g->compute_end = r->compute_end;
	g->comm_end = r->comm_end;
	g->computed = r->computed;
	ana_copied_computed(&p->copied);
	if (r->follow)
		w->floor = g->end;
}

/* By what it is alone: a kernel of which nothing but its time and kind of work counts. */
static inline bool is_plain(const struct run *r, const struct ana_names *names,
			    const struct wire_event *op)
{
	if (op->op != WIRE_OP_KERNEL || op->device != r->device || op->name > names->count ||
	    op->name == r->anchor)
		return false;
	if (names->flag[op->name] & ANA_NAME_INPUT ||
	    !(names->flag[op->name] & ANA_NAME_COMM || names->work[op->name]))
		return false;
	return op->end_ns >= op->start_ns && op->end_ns != r->end && op->start_ns <= r->open_until;
}

/* NULL: the launch is not known, or lies elsewhere. */
static inline const struct ana_call *launch_of(struct ana_walk *w, struct ana_proc *p,
					       const struct run *r, const struct wire_event *op)
{
	struct ana_join *j = p->join;
	const struct ana_call *call = ana_join_ask_next(j, op->corr, w->now + 1);

	if (call || op->corr <= j->newest || p->calls_next > op->start_ns + w->late_ns)
		return call;
	if (r->follow)
		w->floor = r->end;
	ana_host_find(w, p, op->corr, op->start_ns + w->late_ns);
	return ana_join_ask_next(j, op->corr, w->now + 1);
}

/* No gap, or one that is short and that no loader wait is known of. */
static inline bool plain_gap(const struct run *r, const struct wire_event *op)
{
	return op->start_ns <= r->end ||
	       (op->start_ns - r->end <= ANA_LAUNCH_NS && op->start_ns < r->ranges_from &&
		r->waits_until <= r->end);
}

/* False: the stream was not seen before. */
static __attribute__((noinline)) bool go_to_stream(struct ana_gpu_state *g, struct run *r,
						   uint32_t process, uint32_t id)
{
	uint32_t i = ana_map_get(&g->stream_of, (uint64_t)process << 32 | id);

	if (i == ANA_MAP_NONE)
		return false;
	if (r->ops)
		r->stream->submitted = r->submitted;
	r->stream = &g->stream[i];
	r->submitted = r->stream->submitted;
	r->stream_id = id;
	return true;
}

static ALWAYS void record(struct run *r, bool compared, int c, int64_t start, int64_t end)
{
	if (compared)
		ana_collective_log_add(r->recorder->log, c, start, end);
}

static ALWAYS void add_busy(struct run *r, int64_t upto, bool compared)
{
	int64_t at = r->at, stop;

	if (r->compute_end > at) {
		stop = base_min(r->compute_end, upto);
		record(r, compared, ANA_COMPUTE, at, stop);
		r->compute += stop - at;
		at = stop;
	}
	if (r->comm_end > at && at < upto) {
		stop = base_min(r->comm_end, upto);
		record(r, compared, ANA_COMM, at, stop);
		r->comm += stop - at;
	}
	r->at = upto;
}

/* As device.c's: the class of the gap is to be decided later. */
static __attribute__((noinline)) void keep_gap(struct ana_walk *w, struct ana_gpu_state *g,
					       const struct ana_proc *p, struct run *r,
					       const struct wire_event *op, struct ana_call call)
{
	leave(g, p, r);
	g->computed = r->computed;
	if (r->follow)
		w->floor = g->end;
	ana_gpu_keep_gap(w, g, p->index, op, &call, r->stream);
	r->lowers = call.start;
	r->follow = false;
}

static ALWAYS void add_gap(struct ana_walk *w, struct ana_gpu_state *g, const struct ana_proc *p,
			   struct run *r, const struct wire_event *op, const struct ana_call *call,
			   bool compared)
{
	int64_t ns = op->start_ns - r->end;
	enum ana_class c;

	r->gaps++;
	r->idle += ns;
	if (w->observer)
		w->observer->gap(w->observer->arg, g->index, r->end, op->start_ns);
	if (call->start > r->end || ns > r->longest) {
		keep_gap(w, g, p, r, op, *call);
		return;
	}
	r->queued += ns;
	c = ns <= ANA_TURNAROUND_NS ? ANA_DEVICE_TURNAROUND : ANA_DEVICE_LAUNCH;
	record(r, compared, c, r->end, op->start_ns);
	*(c == ANA_DEVICE_TURNAROUND ? &r->turnaround : &r->launch) += ns;
}

static ALWAYS void add_kernel(struct ana_gpu_state *g, struct ana_proc *p, struct run *r,
			      const struct wire_event *op, uint64_t comm, bool compared)
{
	const struct ana_names *names = &p->names;
	int64_t from = base_max(r->compute_end, r->at);
	int work = names->work[op->name] - 1;
	struct ana_gpu *gpu = g->gpu;

	if (names->flag[op->name] & ANA_NAME_COMM) {
		r->comm_end = base_max(r->comm_end, op->end_ns);
		if (compared)
			ana_gpu_log_collective(g, p, op, comm);
		return;
	}
	if (compared)
		ana_kernel_speed_add(&r->recorder->speed, p->source_index, op->name,
				     op->end_ns - op->start_ns);
	gpu->work.count[work]++;
	if (op->end_ns > from) {
		gpu->work.ns[work] += op->end_ns - from;
		r->compute_end = op->end_ns;
	}
}

static ALWAYS void add(struct ana_walk *w, struct ana_gpu_state *g, const struct ana_proc *p,
		       struct run *r, const struct wire_event *op, const struct ana_call *call,
		       bool compared)
{
	int64_t launched = call->start;
	uint32_t tid = call->tid;

	if (op->start_ns > r->at)
		add_busy(r, op->start_ns, compared);
	w->now++;
	if (op->start_ns > r->end)
		add_gap(w, g, p, r, op, call, compared);
	w->quality.ops_before_launch += op->start_ns < launched;
	r->ops++;
	r->submitted = launched;
	r->computed = base_max(r->computed, launched);
	if (op->end_ns > r->end) {
		r->end = op->end_ns;
		g->left_stream = op->stream;
		g->left_corr = op->corr;
		g->left.tid = tid;
	}
}

/* Twice, for nearly all are of GPUs that are not compared. */
static ALWAYS const struct wire_event *take(struct ana_walk *w, struct ana_proc *p,
					    struct ana_gpu_state *g, const struct wire_event *op,
					    const struct wire_event *stop, bool compared)
{
	const struct ana_names *names = &p->names;
	struct run r;

	begin(&r, w, p, g);
	for (; op < stop && is_plain(&r, names, op) && plain_gap(&r, op); op++) {
		const struct ana_call *call = launch_of(w, p, &r, op);
		uint64_t comm = 0;

		if (!call || call->flags & ANA_NAME_GRAPH || call->start <= r.lowers)
			break;
		if (op->stream != r.stream_id && !go_to_stream(g, &r, p->index, op->stream))
			break;
		if (compared && names->flag[op->name] & ANA_NAME_COMM)
			comm = ana_communicator_of(p->comms, call->tid, call->start);
		add(w, g, p, &r, op, call, compared); /* the call may be elsewhere then */
		add_kernel(g, p, &r, op, comm, compared);
	}
	end(w, p, g, &r);
	return op;
}

static __attribute__((noinline)) const struct wire_event *take_compared(
	struct ana_walk *w, struct ana_proc *p, struct ana_gpu_state *g,
	const struct wire_event *op, const struct wire_event *stop)
{
	return take(w, p, g, op, stop, true);
}

const struct wire_event *ana_plain_operations(struct ana_walk *w, struct ana_proc *p,
					      const struct wire_event *op,
					      const struct wire_event *stop)
{
	struct ana_gpu_state *g = p->last_gpu == ANA_MAP_NONE ? NULL : &w->gpu[p->last_gpu];

	if (!g || !may_begin(p, g))
		return op;
	return g->recorder ? take_compared(w, p, g, op, stop) : take(w, p, g, op, stop, false);
}
