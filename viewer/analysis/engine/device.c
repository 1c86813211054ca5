/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One GPU, operation by operation: busy time by kind, and gaps. Most gaps are decided at once, the
 * others wait (gap/open_gaps.c).
 */
#include "component.h"

#include <errno.h>
#include <stdlib.h>
#include "analysis/gap/gap.h"
#include "analysis/gap/open_gaps.h"
#include "analysis/plan/allocations.h"
#include "base/vec.h"

/* Adds up what came since bucket or minute began, and goes to those of @t. */
static void flush_bucket(struct ana_gpu_state *g, int64_t t)
{
	const struct ana_timeline *line = g->buckets.line;
	int64_t minute;
	int c;

	ana_minutes_add(&g->minutes, g->unflushed[ANA_COMPUTE] + g->unflushed[ANA_COMM] +
					     g->unflushed[ANA_COPY]);
	for (c = 0; c < ANA_CLASSES; c++) {
		if (!g->unflushed[c])
			continue;
		g->gpu->classes[c] += g->unflushed[c];
		g->gpu->confidence[c][ANA_HIGH] += g->unflushed[c];
		if (g->open_bucket)
			g->open_bucket->classes[c] += g->unflushed[c];
		g->unflushed[c] = 0;
	}
	g->open_bucket = ana_buckets_at(&g->buckets, t);
	g->open_until = !g->open_bucket || g->open_bucket == &line->bucket[line->count - 1]
				? INT64_MAX
				: g->open_bucket->end_ns;
	minute = ana_minutes_go(&g->minutes, t);
	g->open_until = minute < g->open_until ? minute : g->open_until;
}

void ana_gpu_init_buckets(struct ana_gpu_state *g)
{
	flush_bucket(g, INT64_MIN);
}

ANA_RARE static void add_across(struct ana_gpu_state *g, int c, int64_t start, int64_t end)
{
	while (end > g->open_until) {
		if (start < g->open_until) {
			g->unflushed[c] += g->open_until - start;
			start = g->open_until;
		}
		flush_bucket(g, start);
	}
	g->unflushed[c] += end - start;
}

/* The same as ana_gpu_add with high confidence, for what comes in order of time. */
static inline void add_in_order(struct ana_gpu_state *g, int c, int64_t start, int64_t end)
{
	if (g->recorder)
		ana_collective_log_add(g->recorder->log, c, start, end);
	if (end <= g->open_until)
		g->unflushed[c] += end - start;
	else
		add_across(g, c, start, end);
}

/* Accounts the busy part of [at, upto): of every kind only its latest end matters. */
static inline void sweep(struct ana_gpu_state *g, int64_t upto)
{
	int64_t at = g->at, stop;

	if (g->compute_end > at) {
		stop = g->compute_end < upto ? g->compute_end : upto;
		add_in_order(g, ANA_COMPUTE, at, stop);
		at = stop;
	}
	if (g->comm_end > at && at < upto) {
		stop = g->comm_end < upto ? g->comm_end : upto;
		add_in_order(g, ANA_COMM, at, stop);
		at = stop;
	}
	if (g->copy_end > at && at < upto) {
		stop = g->copy_end < upto ? g->copy_end : upto;
		add_in_order(g, ANA_COPY, at, stop);
		ana_copies_expose(g, at, stop);
	}
	g->at = upto;
}

/* All that is busy up to @upto, and first what tells of copies in it. */
static inline void account(struct ana_walk *w, struct ana_gpu_state *g, int64_t upto)
{
	if (g->copying.end > g->at)
		ana_copying_tell(w, g, upto);
	sweep(g, upto);
}

static void extend(int64_t *end, int64_t to)
{
	if (to > *end)
		*end = to;
}

void ana_gpu_log_collective(struct ana_gpu_state *g, struct ana_proc *p,
			    const struct wire_event *op, uint64_t comm)
{
	ana_collective_log_begin(g->recorder->log, comm, p->source_index, op->stream, op->name,
				 wire_strtab_get(p->names.table, op->name, NULL), op->start_ns,
				 op->end_ns);
}

/* For the comparison of ranks: collectives go on the log, of others their length counts. */
static __attribute__((noinline)) void strip_kernel(struct ana_gpu_state *g, struct ana_proc *p,
						   const struct wire_event *op,
						   const struct ana_call *call, bool comm)
{
	if (comm)
		ana_gpu_log_collective(
			g, p, op, call ? ana_communicator_of(p->comms, call->tid, call->start) : 0);
	else if (op->op == WIRE_OP_KERNEL)
		ana_kernel_speed_add(&g->recorder->speed, p->source_index, op->name,
				     op->end_ns - op->start_ns);
}

static void remember_copy(struct ana_walk *w, struct ana_proc *p, const struct wire_event *op)
{
	enum ana_copy_dir d = ana_copies_direction(op);

	if ((d == ANA_H2D || d == ANA_D2H) &&
	    ana_copied_add(&p->copied, op->start_ns, op->bytes, d == ANA_H2D))
		w->err = -ENOMEM;
}

static inline int work_of(struct ana_proc *p, const struct wire_event *op)
{
	if (op->op == WIRE_OP_KERNEL)
		return ana_names_work(&p->names, op->name);
	return ANA_WORK(FACTS_KIND_GRAPH, FACTS_PRECISION_UNKNOWN);
}

/*
 * What of the operation is compute time of no operation before it: up to @at all is accounted, and
 * up to @compute_end it is theirs.
 */
static inline void count_work(struct ana_gpu_state *g, int work, int64_t end)
{
	int64_t from = g->compute_end > g->at ? g->compute_end : g->at;

	g->gpu->work.count[work]++;
	if (end > from) {
		g->gpu->work.ns[work] += end - from;
		g->compute_end = end;
	}
}

static inline void count_kind(struct ana_walk *w, struct ana_gpu_state *g, struct ana_proc *p,
			      const struct wire_event *op, const struct ana_call *call)
{
	uint16_t flags;
	bool comm;

	if (op->op == WIRE_OP_COPY || op->op == WIRE_OP_MEMSET) {
		extend(&g->copy_end, op->end_ns);
		ana_copies_count(g, op);
		if (p->evidence)
			remember_copy(w, p, op);
		ana_copying_begin(g, p, op, call);
		return;
	}
	ana_copied_computed(&p->copied);
	flags = op->op == WIRE_OP_KERNEL ? ana_names_flags(&p->names, op->name) : 0;
	comm = flags & ANA_NAME_COMM;
	if (flags & ANA_NAME_INPUT) {
		g->gpu->input_kernels++;
		ana_sum(&g->gpu->input_kernel_ns, op->end_ns - op->start_ns);
	}
	g->gpu->graphs += op->op == WIRE_OP_GRAPH;
	if (call)
		extend(&g->computed, call->start);
	if (comm)
		extend(&g->comm_end, op->end_ns);
	else
		count_work(g, work_of(p, op), op->end_ns);
	if (g->recorder)
		strip_kernel(g, p, op, call, comm);
}

ANA_RARE static struct ana_stream_state *new_stream(struct ana_walk *w, struct ana_gpu_state *g,
						    uint64_t key)
{
	uint32_t i = g->streams;

	if (!base_vec_more(g->stream, i, g->stream_room))
		goto no_memory;
	if (ana_map_put(&g->stream_of, key, i))
		goto no_memory;
	g->streams++;
	g->stream[i] = (struct ana_stream_state){ key, INT64_MIN };
	g->last_stream = i;
	return &g->stream[i];
no_memory:
	w->err = -ENOMEM;
	return NULL;
}

/* The op's stream, which knows its last operation. NULL: no memory. */
static inline struct ana_stream_state *stream_of(struct ana_walk *w, struct ana_gpu_state *g,
						 uint32_t process, const struct wire_event *op)
{
	uint64_t key = (uint64_t)process << 32 | op->stream;
	uint32_t i = g->last_stream;

	if (i < g->streams && g->stream[i].key == key)
		return &g->stream[i];
	i = ana_map_get(&g->stream_of, key);
	if (i == ANA_MAP_NONE)
		return new_stream(w, g, key);
	g->last_stream = i;
	return &g->stream[i];
}

static bool same_graph(const struct ana_gpu_state *g, uint32_t process, const struct wire_event *op,
		       const struct ana_call *call)
{
	return g->left_graph && call && call->flags & ANA_NAME_GRAPH &&
	       g->left_process == process && g->left_corr == op->corr;
}

ANA_RARE static void tell(struct ana_walk *w, const struct ana_gpu_state *g, enum ana_class c,
			  int64_t end, const struct ana_call *call)
{
	struct ana_piece piece = {
		.gpu = g->index,
		.class = c,
		.confidence = ANA_HIGH,
		.gap = true,
		.queued = true,
		.start_ns = g->end,
		.end_ns = end,
		.gap_start_ns = g->end,
		.gap_end_ns = end,
		.pid = w->process[call->process].source->pid,
		.tid = call->tid,
	};

	w->options->on_piece(w->options->arg, &piece);
}

/*
 * Most gaps are over in microseconds and were fed in time: nothing of what comes later can change
 * their class.
 */
static inline bool decide_at_once(struct ana_walk *w, struct ana_gpu_state *g, uint32_t process,
				  const struct wire_event *op, const struct ana_call *call)
{
	int64_t ns = op->start_ns - g->end;
	enum ana_class c;

	if (!call || call->start > g->end || ns > ANA_LAUNCH_NS || !g->plain ||
	    ana_top_wants(&w->top, ns) || ana_top_wants(&g->top, ns))
		return false;
	c = ns <= ANA_TURNAROUND_NS	       ? ANA_DEVICE_TURNAROUND
	    : same_graph(g, process, op, call) ? ANA_DEVICE_GRAPH
					       : ANA_DEVICE_LAUNCH;
	g->gpu->queued_ns += ns;
	add_in_order(g, c, g->end, op->start_ns);
	if (w->options->on_piece)
		tell(w, g, c, op->start_ns, call);
	return true;
}

void ana_gpu_keep_gap(struct ana_walk *w, struct ana_gpu_state *g, uint32_t process,
		      const struct wire_event *op, const struct ana_call *call,
		      const struct ana_stream_state *before)
{
	struct ana_open_gap at_once, *gap;
	int64_t to = call ? call->start : op->start_ns;
	bool dependent = false;

	ana_host_calls(w, op->start_ns);
	if (op->start_ns - g->end > ANA_LAUNCH_NS) {
		ana_host_syncs(w, to > op->start_ns ? to : op->start_ns);
		dependent = ana_host_told_to_wait(&w->process[process], op, before->submitted, to);
	}
	gap = g->no_launches ? &at_once : ana_open_gaps_new(w, g, call);
	if (!gap)
		return;
	gap->start = g->end;
	gap->end = op->start_ns;
	gap->process = process;
	gap->ordinal = op->device;
	gap->context = op->context;
	gap->stream = op->stream;
	gap->known = call != NULL;
	gap->pageable =
		op->op == WIRE_OP_COPY && op->copy == WIRE_COPY_H2D && op->src == WIRE_MEM_PAGEABLE;
	gap->copied = op->op == WIRE_OP_COPY && ana_copies_direction(op) == ANA_H2D;
	gap->copied_bytes = op->bytes;
	gap->same_graph = same_graph(g, process, op, call);
	gap->dependent = dependent;
	gap->left = g->left;
	gap->computed = g->computed;
	if (g->no_launches)
		ana_gap_decide(w, g, gap, NULL);
}

ANA_RARE static void open_lead(struct ana_gpu_state *g, uint32_t process,
			       const struct wire_event *op, const struct ana_call *call)
{
	g->started = true;
	g->start = g->at = g->end = op->start_ns;
	if (!g->plan->held.count || g->plan->held.span[0].start >= op->start_ns)
		return;
	g->lead_open = true;
	g->lead = (struct ana_open_gap){
		.start = g->plan->held.span[0].start,
		.end = op->start_ns,
		.process = process,
		.ordinal = op->device,
		.known = call != NULL,
		.computed = INT64_MIN,
	};
}

/* The operation that ended last; of several, the lowest stream id, then the first record. */
static inline void remember_left(struct ana_gpu_state *g, uint32_t process,
				 const struct wire_event *op, const struct ana_call *call)
{
	if (op->end_ns < g->end)
		return;
	if (op->end_ns == g->end && g->gpu->ops > 1 &&
	    (int32_t)g->left_stream <= (int32_t)op->stream)
		return;
	g->end = op->end_ns;
	g->left_stream = op->stream;
	g->left_process = process;
	g->left_graph = call && call->flags & ANA_NAME_GRAPH;
	g->left_corr = op->corr;
	g->left.known = call != NULL;
	if (call) {
		g->left.process = call->process;
		g->left.tid = call->tid;
	}
}

static inline void take_launch(struct ana_walk *w, struct ana_gpu_state *g,
			       const struct wire_event *op, const struct ana_call *call)
{
	g->launches++;
	w->quality.ops_before_launch += op->start_ns < call->start;
	if (g->run_tail > g->run_head)
		ana_open_gaps_lower(g, call);
	if (g->lead_open && (!g->lead_known || ana_call_before(call, &g->lead_call))) {
		g->lead_known = true;
		g->lead_call = *call;
	}
}

static inline const struct ana_call *copy_call(struct ana_call *to, const struct ana_call *call)
{
	if (!call)
		return NULL;
	*to = *call;
	return to;
}

/* The GPU was idle until the operation begins: counts that, whatever its class will be. */
static inline void count_idle(struct ana_walk *w, struct ana_gpu_state *g,
			      const struct wire_event *op)
{
	g->gpu->gaps++;
	g->gpu->idle_ns += op->start_ns - g->end;
	if (w->observer)
		w->observer->gap(w->observer->arg, g->index, g->end, op->start_ns);
	if (ana_turns_at(&w->ranges_turns) <= op->start_ns)
		ana_host_ranges(w, op->start_ns);
	if (!ana_timeline_stack_over(&g->waits, g->end))
		ana_exposed_gap(w, g, g->end, op->start_ns);
}

static inline void count_launch(struct ana_walk *w, struct ana_gpu_state *g,
				const struct wire_event *op, const struct ana_call *call)
{
	g->gpu->ops++;
	if (call)
		take_launch(w, g, op, call);
	else
		g->gpu->ops_without_launch++;
}

/*
 * In this order: the time before the operation needs what the GPU knows of those before it; its
 * launch ends the emptiness of the gap before it, too, so that comes after the gap is kept; last
 * the operation itself becomes the one before. @call is borrowed from the launch table, which moves
 * when more is read, as
 * ana_gpu_keep_gap does. False: there is a long gap before it.
 */
static inline bool operation(struct ana_walk *w, struct ana_gpu_state *g, struct ana_proc *p,
			     const struct wire_event *op, const struct ana_call *call)
{
	struct ana_stream_state *s = stream_of(w, g, p->index, op);
	struct ana_call own;
	bool far = g->started && op->start_ns > g->end + ANA_LAUNCH_NS;

	if (!s)
		return false;
	if (!g->started)
		open_lead(g, p->index, op, call);
	else if (op->start_ns > g->at)
		account(w, g, op->start_ns);
	if (op->start_ns > g->end) {
		count_idle(w, g, op);
		if (!decide_at_once(w, g, p->index, op, call)) {
			call = copy_call(&own, call);
			ana_gpu_keep_gap(w, g, p->index, op, call, s);
		}
	}
	count_launch(w, g, op, call);
	s->submitted = call ? call->start : op->start_ns;
	remember_left(g, p->index, op, call);
	count_kind(w, g, p, op, call);
	return !far;
}

static inline struct ana_gpu_state *gpu_of(struct ana_walk *w, struct ana_proc *p, uint32_t ordinal)
{
	if (p->last_gpu == ANA_MAP_NONE || p->last_ordinal != ordinal) {
		p->last_ordinal = ordinal;
		p->last_gpu = ana_map_get(&p->gpu_of, ordinal);
	}
	return p->last_gpu == ANA_MAP_NONE ? NULL : &w->gpu[p->last_gpu];
}

/*
 * The launch of an operation. Records are read only until it is found: where the host runs far
 * ahead of its GPU, what its threads did in between is past already and need not be kept. A launch
 * begins before its operation; but clocks are not perfect, so where it is missing a little more is
 * read.
 */
static inline const struct ana_call *launch_of(struct ana_walk *w, struct ana_proc *p,
					       const struct wire_event *op)
{
	const struct ana_call *call;
	bool whole = op->op == WIRE_OP_GRAPH;

	w->now++;
	if (!op->corr)
		return NULL;
	call = ana_join_ask(p->join, op->corr, w->now, whole);
	if (call || p->calls_next > op->start_ns + w->late_ns)
		return call;
	ana_host_find(w, p, op->corr, op->start_ns + w->late_ns);
	return ana_join_ask(p->join, op->corr, w->now, whole);
}

/* False: the next one is hardly a plain one. */
static inline bool take_operation(struct ana_walk *w, struct ana_proc *p,
				  const struct wire_event *op)
{
	struct ana_gpu_state *g = gpu_of(w, p, op->device);
	bool near;

	if (!g || op->end_ns < op->start_ns) {
		w->quality.invalid++;
		return true;
	}
	near = operation(w, g, p, op, launch_of(w, p, op));
	if (p->anchored && ana_anchor_is(&p->source->anchor, op) &&
	    ana_steps_boundary(&p->steps, op->start_ns))
		w->err = -ENOMEM;
	if (!w->gaps_open && w->one_gpu && !g->lead_open)
		w->floor = g->end;
	return near;
}

void ana_gpu_operations(struct ana_walk *w, struct ana_proc *p, const struct wire_event *op,
			const struct wire_event *stop)
{
	bool plain = true;

	while (op < stop) {
		if (plain)
			op = ana_plain_operations(w, p, op, stop);
		if (op < stop)
			plain = take_operation(w, p, op++);
	}
}

struct outside {
	struct ana_walk *w;
	struct ana_gpu_state *g;
};

/* It was given to the job, and no process of the job lived, as far as they were recorded. */
static void without_process(void *arg, int64_t start, int64_t end)
{
	const struct outside *o = arg;
	bool unseen = o->g->plan->unseen;
	enum ana_class class = unseen ? ANA_EXCLUDED_UNOBSERVED : ANA_EXCLUDED_NO_PROCESS;
	enum ana_confidence confidence = unseen ? ANA_NONE : ANA_HIGH;
	struct ana_piece piece = { .gpu = o->g->index,
				   .class = class,
				   .confidence = confidence,
				   .start_ns = start,
				   .end_ns = end,
				   .gap_start_ns = start,
				   .gap_end_ns = end };

	o->g->gpu->classes[class] += end - start;
	o->g->gpu->confidence[class][confidence] += end - start;
	ana_buckets_add(&o->g->buckets, class, start, end);
	if (o->w->options->on_piece)
		o->w->options->on_piece(o->w->options->arg, &piece);
}

static void give_rest(struct ana_walk *w, struct ana_gpu_state *g)
{
	struct outside o = { w, g };

	ana_allocations_outside(&g->plan->given, &g->plan->held, without_process, &o);
}

void ana_gpu_finish(struct ana_walk *w, struct ana_gpu_state *g)
{
	give_rest(w, g);
	if (ana_timeline_stack_upto(&g->waits, INT64_MAX, g->waits_floor))
		w->err = -ENOMEM;
	g->gpu->loader_wait_ns = g->waits.total;
	if (!g->started) {
		ana_minutes_count(&g->minutes, &g->plan->held, &g->plan->lost, &g->plan->unobserved,
				  g->gpu->minutes);
		ana_gap_unused(w, g);
		return;
	}
	if (g->lead_open)
		ana_gap_lead(w, g);
	ana_open_gaps_finish(w, g);
	account(w, g, INT64_MAX);
	flush_bucket(g, g->end);
	ana_minutes_count(&g->minutes, &g->plan->held, &g->plan->lost, &g->plan->unobserved,
			  g->gpu->minutes);
	g->gpu->span_ns = g->end - g->start;
	g->gpu->span_unrecorded_ns = ana_spans_within(&g->plan->unrecorded, g->start, g->end);
	g->gpu->streams = g->streams;
	ana_gap_tail(w, g);
}
