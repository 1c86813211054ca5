/* SPDX-License-Identifier: Apache-2.0 */
/*
 * submit.c - places ops on engines and keeps the list of pending work in order of submission.
 */
#include "submit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "clock.h"
#include "config.h"
#include "meeting.h"
#include "place.h"
#include "truth.h"
#include "worker.h"

#define MAX_DEPS 64
#define LITTLE 65536u /* bytes that may be moved with the lock held */

/* ---- moments ---- */

static void pending_put(struct sim_pending *p)
{
	uint32_t i;

	if (!p || --p->refs)
		return;
	for (i = 0; i < p->n_deps; i++)
		pending_put(p->dep[i]);
	free(p);
}

/* Once the pending part is done, the moment is a plain time. */
static void settle(struct sim_when *w)
{
	struct sim_pending *p = w->pending;

	if (!p || !p->done)
		return;
	w->t = sim_max(w->t, p->op.end);
	w->pending = NULL;
	pending_put(p);
}

struct sim_when sim_when_copy(const struct sim_when *when)
{
	struct sim_when copy = *when;

	if (copy.pending)
		copy.pending->refs++;
	return copy;
}

void sim_when_set(struct sim_when *dst, struct sim_when src)
{
	struct sim_pending *old = dst->pending;

	if (src.pending)
		src.pending->refs++;
	*dst = src;
	pending_put(old);
	settle(dst);
}

bool sim_when_past(struct sim_when *w)
{
	settle(w);
	return !w->pending && w->t <= sim_now();
}

void sim_when_wait(struct sim_when w)
{
	sim_lock();
	for (settle(&w); w.pending; settle(&w))
		sim_wait_resolved();
	sim_unlock();
	sim_sleep_until(w.t);
}

void sim_when_drop(struct sim_when w)
{
	if (!w.pending)
		return;
	sim_lock();
	pending_put(w.pending);
	sim_unlock();
}

static uint64_t context_end(struct sim_ctx *ctx, struct sim_pending **pending)
{
	struct sim_stream *s;

	uint64_t end = ctx->last_end;

	*pending = NULL;
	for (s = ctx->streams; s; s = s->next) {
		end = sim_max(end, s->tail.t);
		if (s->tail.pending && !s->tail.pending->done)
			*pending = s->tail.pending;
	}
	return end;
}

/* Takes turns waiting for what is pending, then sleeps to the last end. */
void sim_context_wait(struct sim_ctx *ctx)
{
	struct sim_pending *pending;
	uint64_t end;

	sim_lock();
	while (end = context_end(ctx, &pending), pending)
		sim_wait_resolved();
	sim_unlock();
	sim_sleep_until(end);
}

/* ---- what an op waits for ---- */

struct deps {
	uint64_t ready;
	uint32_t n, room;
	struct sim_pending **p;
	struct sim_pending *some[MAX_DEPS]; /* enough for all but large graphs */
};

static void deps_init(struct deps *d, uint64_t ready, uint32_t n)
{
	d->ready = ready;
	d->n = 0;
	d->p = n > MAX_DEPS ? malloc(n * sizeof *d->p) : NULL;
	d->room = d->p ? n : MAX_DEPS;
	if (!d->p)
		d->p = d->some;
}

static void deps_fini(struct deps *d)
{
	if (d->p != d->some)
		free(d->p);
}

/* No program of ours waits for as many unresolved streams at once as fit; more are left out. */
static void deps_add(struct deps *d, const struct sim_when *w, uint64_t gap)
{
	struct sim_pending *p = w->pending;
	uint64_t t = p && p->done ? sim_max(w->t, p->op.end) : w->t;
	uint32_t i;

	if (t)
		d->ready = sim_max(d->ready, t + gap);
	if (!p || p->done)
		return;
	for (i = 0; i < d->n; i++)
		if (d->p[i] == p)
			return;
	if (d->n < d->room)
		d->p[d->n++] = p;
}

static void deps_of_null_stream(struct deps *d, struct sim_ctx *ctx)
{
	struct sim_stream *s;

	d->ready = sim_max(d->ready, ctx->blocking_tail);
	if (!sim_state.n_pending)
		return;
	for (s = ctx->streams; s; s = s->next)
		if (s->blocking)
			deps_add(d, &s->tail, 0);
}

static void deps_of_stream(struct deps *d, struct sim_stream *s, uint64_t gap)
{
	deps_add(d, &s->tail, gap);
	if (s->blocking)
		deps_add(d, &s->ctx->null_stream.tail, gap);
	if (s == &s->ctx->null_stream)
		deps_of_null_stream(d, s->ctx);
}

/* ---- ops that have their time ---- */

static void note_end(struct sim_stream *s, uint64_t end)
{
	struct sim_ctx *ctx = s->ctx;

	ctx->last_end = sim_max(ctx->last_end, end);
	if (s->blocking)
		ctx->blocking_tail = sim_max(ctx->blocking_tail, end);
}

static void tell(const struct sim_op *op)
{
	if (op->kind == SIM_MARKER)
		return;
	sim_truth_op(op);
}

static bool traced(const struct sim_op *op)
{
	return op->kind != SIM_MARKER;
}

/* Remembers when the launch leaves the queue; for pending work finish() fills that in. */
static void note_depth(struct sim_stream *s, const struct sim_when *w)
{
	uint32_t queue = sim_config()->queue;
	uint64_t *end;

	if (!s->ends)
		s->ends = calloc(queue, sizeof *s->ends);
	if (!s->ends)
		return;
	end = &s->ends[s->launched++ % queue];
	*end = w->pending ? SIM_NEVER : w->t;
	if (w->pending)
		w->pending->depth = end;
}

/* ---- pending work ---- */

static struct sim_pending *pending_new(const struct sim_op *op, const struct deps *d)
{
	struct sim_pending *p = calloc(1, sizeof *p + d->n * sizeof p->dep[0]);
	uint32_t i;

	if (!p)
		abort(); /* a model without memory has nothing true to say */
	p->op = *op;
	p->op.end = SIM_NEVER;
	if (op->kind != SIM_GRAPH)
		p->op.start = SIM_NEVER;
	p->refs = 1;
	p->n_deps = d->n;
	for (i = 0; i < d->n; i++) {
		p->dep[i] = d->p[i];
		p->dep[i]->refs++;
	}
	*sim_state.pending_end = p;
	sim_state.pending_end = &p->next;
	sim_state.n_pending++;
	return p;
}

/* Does it take an engine? */
static bool on_device(const struct sim_op *op)
{
	return op->kind == SIM_KERNEL || op->kind == SIM_MEMCPY || op->kind == SIM_MEMSET;
}

/* What the device needs between the end of the work before and this. */
static uint64_t gap_before(const struct sim_op *op)
{
	const struct sim_config *c = sim_config();

	if (!on_device(op))
		return 0;
	return op->in_graph ? c->node_gap_ns : c->turnaround_ns;
}

/* True when all inputs are done; then op.ready is final and the inputs are let go. */
static bool inputs_known(struct sim_pending *p)
{
	uint32_t i;

	for (i = 0; i < p->n_deps; i++)
		if (!p->dep[i]->done)
			return false;
	for (i = 0; i < p->n_deps; i++) {
		p->op.ready = sim_max(p->op.ready, p->dep[i]->op.end + gap_before(&p->op));
		if (p->dep[i]->op.kind != SIM_MARKER && p->dep[i]->op.start < p->op.start)
			p->op.start = p->dep[i]->op.start;
		pending_put(p->dep[i]);
	}
	p->n_deps = 0;
	return true;
}

static void finish(struct sim_pending *p)
{
	p->done = true;
	note_end(p->stream, p->op.end);
	if (p->depth)
		*p->depth = p->op.end;
	tell(&p->op);
	if (p->token)
		sim_tracer()->op_done(p->token, &p->op);
	p->token = NULL;
}

/* Work without an engine of its own: a marker is a moment, a graph lasts from its first node. */
static bool span(struct sim_op *op)
{
	op->end = op->ready;
	if (op->kind == SIM_MARKER || op->start > op->end)
		op->start = op->end;
	return true;
}

/* Gives op its start and end; false while they are open. */
static bool time_it(struct sim_pending *p)
{
	struct sim_op *op = &p->op;

	if (p->work.host)
		return p->host_over;
	if (op->kind == SIM_GRAPH || op->kind == SIM_MARKER)
		return span(op);
	if (op->nccl)
		return sim_meeting_advance(p);
	return sim_place(op);
}

bool sim_pending_part(struct sim_pending *p, bool *done, void (*part)(struct sim_pending *),
		      size_t bytes)
{
	if (*done)
		return true;
	if (bytes > LITTLE) {
		p->part = part;
		p->part_done = done;
		sim_worker_wake();
		return false;
	}
	part(p);
	*done = true;
	return true;
}

static void move(struct sim_pending *p)
{
	sim_data_move(&p->work.data);
}

/* One step of a pending op; true when it is done. */
static bool advance(struct sim_pending *p)
{
	if (p->part || !inputs_known(p))
		return false;
	p->timed = p->timed || time_it(p);
	return p->timed && (p->work.data.kind == SIM_DATA_NONE ||
			    sim_pending_part(p, &p->moved, move, sim_data_bytes(&p->work.data)));
}

bool sim_resolve(void)
{
	struct sim_pending **at = &sim_state.pending;
	bool any = false;

	while (*at) {
		struct sim_pending *p = *at;

		if (!advance(p)) {
			at = &p->next;
			continue;
		}
		finish(p);
		*at = p->next;
		if (!*at)
			sim_state.pending_end = at;
		sim_state.n_pending--;
		pending_put(p);
		any = true;
	}
	if (any)
		sim_tell_resolved();
	return any;
}

/* ---- submission ---- */

void sim_op_init(struct sim_op *op, enum sim_kind kind, struct sim_stream *s)
{
	memset(op, 0, sizeof *op);
	op->kind = (uint8_t)kind;
	op->device = s->ctx->device;
	op->physical = s->ctx->physical;
	op->context = s->ctx->id;
	op->stream = s->id;
	op->call = sim_thread.call;
	op->call_start = sim_thread.call_start;
	op->correlation = sim_thread.correlation;
	op->tid = sim_tid();
}

/* A collective that nothing holds up begins in the launching thread, and may be over too. */
static struct sim_when begin_at_once(struct sim_pending *p)
{
	struct sim_when w = { p->op.ready, p };

	p->refs++;
	sim_resolve();
	if (p->done)
		w = (struct sim_when){ p->op.end, NULL };
	pending_put(p);
	return w;
}

static struct sim_when pending_submit(struct sim_stream *s, const struct sim_op *op,
				      const struct deps *d, struct sim_work *work)
{
	struct sim_pending *p = pending_new(op, d);
	const struct sim_tracer *t = sim_tracer();
	struct sim_when w;

	p->stream = s;
	if (work) {
		p->work = *work;
		p->work.meetings = NULL;
		work->data = (struct sim_data){ .kind = SIM_DATA_NONE };
	}
	if (op->nccl)
		sim_meeting_open(p, work);
	if (t && traced(&p->op))
		p->token = t->op(&p->op);
	w = (struct sim_when){ op->ready, p };
	if (op->nccl && !d->n)
		w = begin_at_once(p);
	if (w.pending)
		sim_worker_wake();
	return w;
}

static struct sim_when submit(struct sim_stream *s, struct sim_op *op, const struct deps *d,
			      struct sim_work *work)
{
	const struct sim_tracer *t = sim_tracer();

	op->ready = d->ready;
	if (d->n || (work && work->host) || op->nccl)
		return pending_submit(s, op, d, work);
	if (op->kind == SIM_GRAPH || op->kind == SIM_MARKER)
		span(op);
	else if (!sim_place(op))
		return pending_submit(s, op, d, work);
	note_end(s, op->end);
	tell(op);
	if (t && traced(op))
		t->op(op);
	return (struct sim_when){ op->end, NULL };
}

static void deps_begin(struct deps *d, struct sim_stream *s, const struct sim_op *op,
		       const struct sim_when *after, uint32_t n)
{
	uint64_t latency = on_device(op) ? sim_config()->launch_ns : 0;
	uint32_t i;

	deps_init(d, sim_now() + latency, n);
	if (!after)
		deps_of_stream(d, s, gap_before(op));
	for (i = 0; after && i < n; i++)
		deps_add(d, &after[i], gap_before(op));
}

struct sim_when sim_submit_work(struct sim_stream *s, struct sim_op *op,
				const struct sim_when *after, uint32_t n, struct sim_work *work)
{
	struct sim_when w;
	struct deps d;

	deps_begin(&d, s, op, after, n);
	w = submit(s, op, &d, work);
	deps_fini(&d);
	if (!after) {
		sim_when_set(&s->tail, w);
		note_depth(s, &w);
	}
	return w;
}

/* Dependencies of a graph as a whole: all its nodes, and nothing else. */
struct sim_when sim_submit_span(struct sim_stream *s, struct sim_op *op,
				const struct sim_when *nodes, uint32_t n)
{
	struct sim_when w;
	struct deps d;
	uint32_t i;

	deps_init(&d, 0, n);
	for (i = 0; i < n; i++)
		deps_add(&d, &nodes[i], 0);
	w = submit(s, op, &d, NULL);
	deps_fini(&d);
	note_depth(s, &w);
	return w;
}

struct sim_when sim_join(struct sim_stream *s, const struct sim_when *when, uint32_t n)
{
	struct sim_when w;
	struct sim_op op;
	struct deps d;
	uint32_t i;

	deps_init(&d, 0, n);
	for (i = 0; i < n; i++)
		deps_add(&d, &when[i], 0);
	w = (struct sim_when){ d.ready, d.n == 1 ? d.p[0] : NULL };
	if (d.n > 1) {
		sim_op_init(&op, SIM_MARKER, s);
		w = submit(s, &op, &d, NULL);
	}
	deps_fini(&d);
	return w;
}

static bool of_communicator(const struct sim_pending *p, uint64_t comm)
{
	return p->op.nccl && p->work.comm == comm;
}

unsigned gpusim_collectives_open(uint64_t comm)
{
	const struct sim_pending *p;
	unsigned n = 0;

	sim_lock();
	for (p = sim_state.pending; p; p = p->next)
		n += of_communicator(p, comm);
	sim_unlock();
	return n;
}

void gpusim_collectives_abandon(uint64_t comm)
{
	struct sim_pending *p;

	sim_lock();
	for (p = sim_state.pending; p; p = p->next)
		p->abandoned = p->abandoned || of_communicator(p, comm);
	sim_resolve();
	sim_unlock();
}

struct sim_when sim_stream_ready(struct sim_stream *s)
{
	struct sim_when all[MAX_DEPS];
	struct deps d;
	uint32_t i;

	deps_init(&d, 0, 0);
	deps_of_stream(&d, s, 0);
	for (i = 0; i < d.n; i++)
		all[i] = (struct sim_when){ d.ready, d.p[i] };
	if (!d.n)
		return (struct sim_when){ d.ready, NULL };
	return sim_join(s, all, d.n);
}

static bool is_full(const struct sim_stream *s, uint32_t queue)
{
	return s->ends && s->launched >= queue && s->ends[s->launched % queue] > sim_now();
}

void sim_note_overhead(struct sim_stream *s, enum sim_overhead what, uint64_t start)
{
	const struct sim_tracer *t = sim_tracer();
	struct sim_op where;

	if (!t)
		return;
	sim_op_init(&where, SIM_MARKER, s);
	t->overhead(&where, what, start);
}

void sim_throttle(struct sim_stream *s)
{
	uint32_t queue = sim_config()->queue;
	uint64_t t, start = sim_now();

	if (!is_full(s, queue))
		return;
	while (is_full(s, queue)) {
		t = s->ends[s->launched % queue];
		if (t == SIM_NEVER) { /* pending; the place is filled when it is resolved */
			sim_wait_resolved();
			continue;
		}
		sim_unlock();
		sim_sleep_until(t);
		sim_lock();
	}
	sim_note_overhead(s, SIM_OVERHEAD_QUEUE_FULL, start);
}

static void note(struct sim_sync_info *info, struct sim_stream *s, const struct sim_event *event)
{
	const struct sim_tracer *t = sim_tracer();
	bool about_stream = info->type == SIM_SYNC_STREAM || info->type == SIM_SYNC_WAIT;
	struct sim_op where;

	if (!t && !sim_truth_on())
		return;
	sim_op_init(&where, SIM_MARKER, s);
	info->end = sim_now();
	info->correlation = where.correlation;
	info->context = s->ctx->id;
	info->stream = about_stream ? s->id : SIM_SYNC_NONE;
	info->event = event ? event->id : SIM_SYNC_NONE;
	if (!info->query)
		sim_truth_sync(info, &where);
	if (t)
		t->sync(info, &where);
}

void sim_note_sync(enum sim_sync type, struct sim_stream *s, const struct sim_event *event,
		   uint64_t start, int result)
{
	struct sim_sync_info info = { .type = type, .start = start, .result = result };

	note(&info, s, event);
}

void sim_note_query(enum sim_sync type, struct sim_stream *s, const struct sim_event *event,
		    uint64_t start, int result)
{
	struct sim_sync_info info = {
		.type = type, .query = true, .start = start, .result = result
	};

	note(&info, s, event);
}
