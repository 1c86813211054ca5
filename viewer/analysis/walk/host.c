/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the processes did, as far as the rules ask.
 */
#include "walk.h"

#include <errno.h>
#include <stdlib.h>
#include "join_ring.h"

#define UNPLACED_MAX 4096u
#define STREAM_WAITS_KEPT 4096u /* per stream, where not everything is kept */

static enum ana_step_source step_source(const struct ana_source *s)
{
	if (s->has_step)
		return ANA_STEPS_RANGE;
	if (s->has_optimizer)
		return ANA_STEPS_OPTIMIZER;
	if (s->step_is_batch)
		return ANA_STEPS_BATCHES;
	return s->anchor.found ? ANA_STEPS_PERIOD : ANA_STEPS_NONE;
}

static bool in_long_call(void *proc, uint32_t tid, int64_t t)
{
	struct ana_proc *p = proc;
	uint32_t i = ana_map_get(&p->thread_of, tid);

	return i != ANA_MAP_NONE && ana_longcalls_at(&p->thread[i]->longcalls, t);
}

static int init_evidence(struct ana_walk *w, struct ana_proc *p, struct view_trace *t)
{
	int err;

	if (p->source->imported || !ana_evidence_any(p->source->s))
		return 0;
	p->evidence = malloc(sizeof(*p->evidence));
	if (!p->evidence)
		return -ENOMEM;
	err = ana_evidence_init(p->evidence, t, p->source->s, w->scratch);
	p->evidence->in_call = ana_host_in_call;
	p->evidence->in_long_call = in_long_call;
	p->evidence->in_call_arg = p;
	p->evidence->observer = w->observer;
	p->evidence->process = p->source_index;
	return err;
}

int ana_process_init(struct ana_walk *w, struct ana_proc *p, uint32_t source)
{
	const struct ana_source *s = &w->plan->source[source];
	struct view_trace *t = w->plan->trace;
	int err;

	*p = (struct ana_proc){ .source = s,
				.source_index = source,
				.last_gpu = ANA_MAP_NONE,
				.calls_next = INT64_MIN,
				.served = INT64_MIN };
	p->index = (uint32_t)(p - w->process);
	p->anchored = s->anchor.found;
	p->steps.source = step_source(s);
	p->steps.process = source;
	p->steps.on_step = w->options->on_step;
	p->steps.arg = w->options->arg;
	p->steps.observer = w->observer;
	p->steps.unrecorded = &w->plan->source[source].unrecorded;
	p->join = ana_join_new(w->exact, &w->lost_graphs);
	err = p->join ? ana_names_init(&p->names, s->s->strings) : -ENOMEM;
	if (!err)
		err = ana_feed_init(&p->ops, t, s->s, WIRE_KIND_OP, w->scratch);
	if (!err)
		err = ana_feed_init(&p->calls, t, s->s, WIRE_KIND_API, w->scratch);
	if (!err)
		err = ana_feed_init(&p->ranges, t, s->s, WIRE_KIND_RANGE, w->scratch);
	if (!err)
		err = ana_feed_init(&p->syncs, t, s->s, WIRE_KIND_SYNC, w->scratch);
	p->ops.room = p->calls.room = p->ranges.room = p->syncs.room = &w->open_events;
	p->ops.watched = p->calls.watched = p->ranges.watched = p->syncs.watched = true;
	return err ? err : init_evidence(w, p, t);
}

int ana_process_compare(struct ana_walk *w, struct ana_proc *p)
{
	if (p->source->imported) /* no importer knows communicators */
		return 0;
	return ana_communicators_new(&p->comms, w->plan->trace, p->source->s, &p->names,
				     w->scratch);
}

static void thread_free(struct ana_thread *t)
{
	uint32_t i;
	int k;

	ana_timeline_stack_fini(&t->calls);
	ana_longcalls_fini(&t->longcalls);
	ana_timeline_stack_fini(&t->waits);
	ana_timeline_stack_fini(&t->ranges);
	ana_timeline_stack_fini(&t->operators);
	ana_timeline_stack_fini(&t->marks);
	for (k = 0; k < ANA_PIECE_KINDS; k++)
		ana_unsampled_free(t->unsampled[k]);
	for (i = 0; i < t->take_count; i++)
		ana_unsampled_fini(&t->takes[i].waits);
	free(t->takes);
	free(t);
}

void ana_process_fini(struct ana_proc *p)
{
	uint32_t i;

	ana_feed_fini(&p->ops);
	ana_feed_fini(&p->calls);
	ana_feed_fini(&p->ranges);
	ana_feed_fini(&p->syncs);
	ana_communicators_free(p->comms);
	ana_names_fini(&p->names);
	ana_join_free(p->join);
	for (i = 0; i < p->threads; i++)
		thread_free(p->thread[i]);
	free(p->thread);
	free(p->unplaced);
	free(p->waits_at);
	ana_timeline_stack_fini(&p->waits);
	for (i = 0; i < p->stream_wait_count; i++)
		free(p->stream_waits[i].at);
	free(p->stream_waits);
	for (i = 0; i < p->blocked_count; i++)
		ana_timeline_stack_fini(&p->blocked[i]);
	free(p->blocked);
	for (i = 0; i < p->host_code_count; i++)
		ana_timeline_stack_fini(&p->host_code[i]);
	free(p->host_code);
	ana_timeline_stack_fini(&p->any_host_code);
	ana_map_fini(&p->host_code_of);
	ana_map_fini(&p->thread_of);
	ana_map_fini(&p->stream_waits_of);
	ana_map_fini(&p->blocked_of);
	ana_map_fini(&p->gpu_of);
	ana_steps_fini(&p->steps);
	ana_copied_fini(&p->copied);
	if (p->evidence)
		ana_evidence_fini(p->evidence);
	free(p->evidence);
}

static int grow(void *array, uint32_t *room, uint32_t n, size_t each)
{
	uint32_t want = *room ? *room * 2 : 8;
	void *p;

	if (n < *room)
		return 0;
	p = reallocarray(*(void **)array, want, each);
	if (!p)
		return -ENOMEM;
	*(void **)array = p;
	*room = want;
	return 0;
}

static struct ana_thread *new_thread(struct ana_walk *w, struct ana_proc *p, uint32_t tid)
{
	struct ana_thread *t = calloc(1, sizeof(*t));

	if (!t || grow(&p->thread, &p->thread_room, p->threads, sizeof(*p->thread)) ||
	    ana_map_put(&p->thread_of, tid, p->threads)) {
		free(t);
		w->err = -ENOMEM;
		return NULL;
	}
	t->tid = tid;
	p->thread[p->threads++] = t;
	return t;
}

struct ana_thread *ana_host_other_thread(struct ana_walk *w, struct ana_proc *p, uint32_t tid)
{
	uint32_t i = ana_map_get(&p->thread_of, tid);

	p->last = i == ANA_MAP_NONE ? new_thread(w, p, tid) : p->thread[i];
	return p->last;
}

struct ana_unsampled *ana_host_unsampled(struct ana_walk *w, struct ana_thread *t,
					 enum ana_piece_kind kind)
{
	struct ana_unsampled **k = &t->unsampled[kind];

	if (!*k)
		*k = calloc(1, sizeof(**k));
	if (!*k)
		w->err = -ENOMEM;
	return *k;
}

bool ana_host_in_call(void *proc, uint32_t tid, int64_t t, uint32_t *class)
{
	struct ana_proc *p = proc;
	uint32_t i = ana_map_get(&p->thread_of, tid);
	struct ana_timeline_stack *calls = i == ANA_MAP_NONE ? NULL : &p->thread[i]->calls;
	int64_t until;

	if (!calls || ana_timeline_stack_upto(calls, t + 1, INT64_MIN))
		return false;
	return ana_timeline_stack_at(calls, t, class, &until);
}

static uint32_t call_class(uint16_t flags)
{
	if (flags & ANA_NAME_SYNC)
		return ANA_HOST_SYNC;
	if (flags & ANA_NAME_ALLOC)
		return ANA_HOST_ALLOC;
	return flags & ANA_NAME_LOAD ? ANA_HOST_WARMUP : ANA_HOST_DISPATCH;
}

/* A gap may be full of more rows than can be kept: of what ended before @t nothing is, then. */
static void count_rows(struct ana_walk *w, uint32_t rows, int64_t t)
{
	w->rows += rows;
	if (w->exact || w->rows <= ANA_ROWS_MAX || t <= w->floor)
		return;
	w->forgotten = w->floor = t;
	w->rows = 0;
}

void ana_host_place_calls(struct ana_walk *w, struct ana_proc *p, int64_t upto)
{
	uint32_t i;

	for (i = p->unplaced_first; i < p->unplaced_count && !w->err; i++) {
		const struct ana_unplaced_call *d = &p->unplaced[i];
		struct ana_thread *t;

		if (d->start >= upto)
			break;
		if (d->end <= w->floor)
			continue;
		count_rows(w, 1, d->start);
		t = ana_host_thread(w, p, d->tid);
		if (t && ana_timeline_stack_add(&t->calls, d->start, d->end, d->value, w->floor))
			w->err = -ENOMEM;
	}
	p->unplaced_first = i;
	if (i == p->unplaced_count)
		p->unplaced_first = p->unplaced_count = 0;
	p->unplaced_over = p->unplaced_first;
}

static __attribute__((noinline)) int place_later(struct ana_walk *w, struct ana_proc *p,
						 const struct wire_event *e, uint16_t flags)
{
	struct ana_unplaced_call *d;

	if (p->unplaced_count == UNPLACED_MAX)
		ana_host_place_calls(w, p, INT64_MAX);
	if (p->unplaced_count == p->unplaced_room &&
	    grow(&p->unplaced, &p->unplaced_room, p->unplaced_count, sizeof(*p->unplaced)))
		return -ENOMEM;
	d = &p->unplaced[p->unplaced_count++];
	d->start = e->start_ns;
	d->end = e->end_ns;
	d->tid = e->tid;
	d->value = call_class(flags);
	return 0;
}

static inline void write_call(struct ana_call *call, const struct ana_proc *p,
			      const struct wire_event *e, uint16_t flags)
{
	call->start = e->start_ns;
	call->end = e->end_ns;
	call->process = p->index;
	call->tid = e->tid;
	call->order = p->order;
	call->flags = flags;
}

/* Its id is not above all others: it may be another record's. */
static __attribute__((noinline)) int add_other_launch(struct ana_proc *p,
						      const struct wire_event *e, uint16_t flags)
{
	struct ana_call again, *call;
	bool fresh;

	call = ana_join_put(p->join, e->corr, &fresh);
	if (!call)
		return -ENOMEM;
	write_call(&again, p, e, flags);
	if (fresh || ana_call_before(&again, call))
		*call = again;
	return 0;
}

static inline int add_launch(struct ana_proc *p, const struct wire_event *e, uint16_t flags)
{
	struct ana_call *call = ana_join_put_next(p->join, e->corr);

	if (!call)
		return add_other_launch(p, e, flags);
	write_call(call, p, e, flags);
	return 0;
}

static void remember_call(struct ana_walk *w, struct ana_proc *p, const struct wire_event *e)
{
	struct ana_thread *t = ana_host_thread(w, p, e->tid);

	if (t && ana_longcalls_add(&t->longcalls, e->start_ns, e->end_ns))
		w->err = -ENOMEM;
}

/* Inline, for it is most of what reading a call costs. */
static inline __attribute__((always_inline)) void take_call(struct ana_walk *w, struct ana_proc *p,
							    const struct wire_event *e)
{
	uint16_t flags = ana_names_flags(&p->names, e->name);

	p->order++;
	if (p->evidence && (__int128)e->end_ns - e->start_ns >= ANA_LONGCALL_NS)
		remember_call(w, p, e);
	if (e->end_ns > w->floor && place_later(w, p, e, flags))
		w->err = -ENOMEM;
	if (!e->corr || (flags & ANA_NAME_NO_OP && !p->source->imported))
		return;
	if (add_launch(p, e, flags))
		w->err = -ENOMEM;
}

static void read_calls(struct ana_walk *w, struct ana_proc *p, int64_t upto)
{
	const struct wire_event *e;

	while ((e = ana_feed_peek(&p->calls)) && e->start_ns <= upto) {
		take_call(w, p, e);
		ana_feed_pop(&p->calls);
	}
	p->calls_next = e ? e->start_ns : INT64_MAX;
}

void ana_host_calls(struct ana_walk *w, int64_t upto)
{
	struct ana_turns *t = &w->calls_turns;

	if (w->processes == 1) { /* it has no turn to wait for */
		if (w->process->calls_next <= upto)
			read_calls(w, w->process, upto);
		return;
	}
	while (t->count && ana_turns_at(t) <= upto) {
		struct ana_proc *p = &w->process[t->turn[0].process];

		if (p->calls_next <= upto) /* ana_host_find() may have read more */
			read_calls(w, p, upto);
		if (p->calls_next == INT64_MAX)
			ana_turns_end(t);
		else
			ana_turns_wait(t, p->calls_next, 0);
	}
}

void ana_host_find(struct ana_walk *w, struct ana_proc *p, uint64_t corr, int64_t upto)
{
	const struct wire_event *e;

	while ((e = ana_feed_peek(&p->calls)) && e->start_ns <= upto) {
		bool found = e->corr == corr;

		if (found) /* and what begins together with it */
			upto = e->start_ns;
		take_call(w, p, e);
		ana_feed_pop(&p->calls);
	}
	p->calls_next = e ? e->start_ns : INT64_MAX;
}

static void take_wait(struct ana_walk *w, struct ana_proc *p, const struct wire_event *e,
		      struct ana_thread *t)
{
	uint32_t value = e->flags & WIRE_EV_FL_FIRST ? ANA_INPUT_EPOCH : ANA_INPUT_UNKNOWN, i;
	int err = ana_timeline_stack_add(&t->waits, e->start_ns, e->end_ns, value, w->floor);

	if (!err)
		err = ana_timeline_stack_add(&p->waits, e->start_ns, e->end_ns, value, w->floor);
	for (i = 0; i < p->waits_ats && !err; i++) {
		struct ana_gpu_state *g = &w->gpu[p->waits_at[i].gpu];

		err = ana_timeline_stack_add(&g->waits, e->start_ns, e->end_ns, value,
					     g->waits_floor);
	}
	ana_waiters_wait(w, p);
	if (!err)
		err = ana_steps_begin(&p->steps, e->start_ns);
	if (!err && !(e->flags & WIRE_EV_FL_CONT))
		err = ana_steps_batch(&p->steps, e->start_ns, e->flags & WIRE_EV_FL_FIRST);
	if (err)
		w->err = err;
}

static int user_range(struct ana_walk *w, struct ana_proc *p, const struct wire_event *e,
		      struct ana_thread *t)
{
	uint16_t flags = ana_names_flags(&p->names, e->name);

	if (flags & ANA_NAME_CHECKPOINT)
		return ana_timeline_stack_add(&t->ranges, e->start_ns, e->end_ns,
					      ANA_HOST_CHECKPOINT, w->floor);
	if (flags & ANA_NAME_PHASE)
		return ana_timeline_stack_add(&t->ranges, e->start_ns, e->end_ns, ANA_HOST_PHASE,
					      w->floor);
	return 0;
}

/*
 * What libprof itself marks: collecting garbage, saving a checkpoint, making an iterator; and what
 * CUPTI says of a call. -1: no mark.
 */
static int mark_of(uint8_t op)
{
	switch (op) {
	case WIRE_RANGE_GC:
		return ANA_HOST_GC;
	case WIRE_RANGE_CHECKPOINT:
		return ANA_HOST_CHECKPOINT;
	case WIRE_RANGE_ITER:
		return ANA_INPUT_EPOCH;
	case WIRE_RANGE_QUEUE_FULL:
		return ANA_HOST_SYNC;
	case WIRE_RANGE_CODE_LOAD:
		return ANA_HOST_WARMUP;
	default:
		return -1;
	}
}

static void take_range(struct ana_walk *w, struct ana_proc *p, const struct wire_event *e)
{
	bool row = e->op == WIRE_RANGE_OPERATOR ||
		   (e->op == WIRE_RANGE_OPTIMIZER && e->flags & WIRE_EV_FL_OPERATOR);
	struct ana_thread *t = ana_host_thread(w, p, e->tid);
	int err = 0;

	if (!t)
		return;
	/* a wait is on the stacks of its thread, its process and its GPUs */
	count_rows(w, e->op == WIRE_RANGE_LOADER ? 2 + 2 * p->waits_ats : 1, e->start_ns);
	if (e->op == WIRE_RANGE_LOADER)
		take_wait(w, p, e, t);
	else if (row)
		err = ana_timeline_stack_add(&t->operators, e->start_ns, e->end_ns,
					     ANA_HOST_DISPATCH, w->floor);
	else if (e->op == WIRE_RANGE_USER || e->op == WIRE_RANGE_OPTIMIZER)
		err = user_range(w, p, e, t);
	else if (mark_of(e->op) >= 0)
		err = ana_timeline_stack_add(&t->marks, e->start_ns, e->end_ns,
					     (uint32_t)mark_of(e->op), w->floor);
	if (!err && ((e->op == WIRE_RANGE_STEP && p->steps.source == ANA_STEPS_RANGE) ||
		     (e->op == WIRE_RANGE_OPTIMIZER && p->steps.source == ANA_STEPS_OPTIMIZER)))
		err = ana_steps_range(&p->steps, e->start_ns, e->end_ns);
	if (err)
		w->err = err;
}

/* Of all processes in one order: a GPU's stack of waits takes those of several. */
void ana_host_ranges(struct ana_walk *w, int64_t upto)
{
	struct ana_turns *t = &w->ranges_turns;

	while (t->count && ana_turns_at(t) <= upto) {
		struct ana_proc *p = &w->process[t->turn[0].process];
		const struct wire_event *e = ana_feed_peek(&p->ranges);

		if (!e) {
			ana_turns_end(t);
		} else if (e->start_ns > ana_turns_at(t)) {
			ana_turns_wait(t, e->start_ns, 0);
		} else {
			take_range(w, p, e);
			ana_feed_pop(&p->ranges);
		}
	}
}

/*
 * CUPTI's records name the context, whose streams are its own; imported ones name the device, and
 * a stream id means the same in all its contexts.
 */
static uint64_t key_of(const struct ana_proc *p, uint32_t ordinal, uint32_t context,
		       uint32_t stream)
{
	return (uint64_t)(p->source->imported ? ordinal : context) << 32 | stream;
}

static uint64_t stream_key(const struct ana_proc *p, const struct wire_event *e)
{
	return key_of(p, e->device, e->context, e->stream);
}

static uint64_t context_key(const struct ana_proc *p, uint32_t ordinal, uint32_t context)
{
	return (uint64_t)(p->source->imported ? ordinal : 0) << 32 | context;
}

static int add_stream_wait(struct ana_walk *w, struct ana_waits *s, int64_t at)
{
	if (!w->exact && s->tail - s->head >= STREAM_WAITS_KEPT)
		s->head++;
	if (s->tail == s->room && s->head > s->room / 2) {
		size_t i;

		for (i = s->head; i < s->tail; i++)
			s->at[i - s->head] = s->at[i];
		s->tail -= s->head;
		s->head = 0;
	} else if (s->tail == s->room) {
		size_t room = s->room ? s->room * 2 : 16;
		int64_t *p = reallocarray(s->at, room, sizeof(*p));

		if (!p)
			return -ENOMEM;
		s->at = p;
		s->room = room;
	}
	s->at[s->tail++] = at;
	return 0;
}

static int take_stream_wait(struct ana_walk *w, struct ana_proc *p, const struct wire_event *e)
{
	uint64_t key = stream_key(p, e);
	uint32_t i = ana_map_get(&p->stream_waits_of, key);

	if (i == ANA_MAP_NONE) {
		i = p->stream_wait_count;
		if (grow(&p->stream_waits, &p->stream_wait_room, i, sizeof(*p->stream_waits)) ||
		    ana_map_put(&p->stream_waits_of, key, i))
			return -ENOMEM;
		p->stream_waits[p->stream_wait_count++] = (struct ana_waits){ 0 };
	}
	return add_stream_wait(w, &p->stream_waits[i], e->start_ns);
}

static int take_host_wait(struct ana_walk *w, struct ana_proc *p, const struct wire_event *e)
{
	uint64_t key = context_key(p, e->device, e->context);
	uint32_t i = ana_map_get(&p->blocked_of, key);

	if (i == ANA_MAP_NONE) {
		i = p->blocked_count;
		if (grow(&p->blocked, &p->blocked_room, i, sizeof(*p->blocked)) ||
		    ana_map_put(&p->blocked_of, key, i))
			return -ENOMEM;
		p->blocked[p->blocked_count++] = (struct ana_timeline_stack){ 0 };
	}
	return ana_timeline_stack_add(&p->blocked[i], e->start_ns, e->end_ns, ANA_HOST_SYNC,
				      w->floor);
}

static int take_host_code(struct ana_walk *w, struct ana_proc *p, const struct wire_event *e)
{
	uint64_t key = stream_key(p, e);
	uint32_t i = ana_map_get(&p->host_code_of, key);
	int err;

	if (i == ANA_MAP_NONE) {
		i = p->host_code_count;
		if (grow(&p->host_code, &p->host_code_room, i, sizeof(*p->host_code)) ||
		    ana_map_put(&p->host_code_of, key, i))
			return -ENOMEM;
		p->host_code[p->host_code_count++] = (struct ana_timeline_stack){ 0 };
	}
	count_rows(w, 2, e->start_ns);
	err = ana_timeline_stack_add(&p->host_code[i], e->start_ns, e->end_ns, ANA_DEVICE_HOST_CODE,
				     w->floor);
	return err ? err
		   : ana_timeline_stack_add(&p->any_host_code, e->start_ns, e->end_ns,
					    ANA_DEVICE_HOST_CODE, w->floor);
}

static int take_sync(struct ana_walk *w, struct ana_proc *p, const struct wire_event *e)
{
	switch (e->op) {
	case WIRE_SYNC_STREAM_WAIT:
		return take_stream_wait(w, p, e);
	case WIRE_SYNC_EVENT:
	case WIRE_SYNC_STREAM:
	case WIRE_SYNC_CONTEXT:
		return take_host_wait(w, p, e);
	case WIRE_SYNC_HOST_FUNCTION:
		return take_host_code(w, p, e);
	default: /* of a later version */
		return 0;
	}
}

void ana_host_syncs(struct ana_walk *w, int64_t upto)
{
	struct ana_turns *t = &w->syncs_turns;
	int err = 0;

	while (t->count && ana_turns_at(t) <= upto) {
		struct ana_proc *p = &w->process[t->turn[0].process];
		const struct wire_event *e = NULL;

		while (!err && (e = ana_feed_peek(&p->syncs)) && e->start_ns <= upto) {
			err = take_sync(w, p, e);
			ana_feed_pop(&p->syncs);
		}
		if (e && !err)
			ana_turns_wait(t, e->start_ns, 0);
		else
			ana_turns_end(t);
	}
	if (err)
		w->err = err;
}

bool ana_host_told_to_wait(const struct ana_proc *p, const struct wire_event *op, int64_t from,
			   int64_t to)
{
	uint32_t i = ana_map_get(&p->stream_waits_of, stream_key(p, op));
	const struct ana_waits *s;
	size_t low, high;

	if (i == ANA_MAP_NONE)
		return false;
	s = &p->stream_waits[i];
	for (low = s->head, high = s->tail; low < high;) {
		size_t mid = low + (high - low) / 2;

		if (s->at[mid] <= to)
			low = mid + 1;
		else
			high = mid;
	}
	return low > s->head && s->at[low - 1] >= from;
}

struct ana_timeline_stack *ana_host_code(struct ana_proc *p, uint32_t ordinal, uint32_t context,
					 uint32_t stream)
{
	uint32_t i = ana_map_get(&p->host_code_of, key_of(p, ordinal, context, stream));

	return i == ANA_MAP_NONE ? NULL : &p->host_code[i];
}

struct ana_timeline_stack *ana_host_blocked(struct ana_proc *p, uint32_t ordinal, uint32_t context)
{
	uint32_t i = ana_map_get(&p->blocked_of, context_key(p, ordinal, context));

	return i == ANA_MAP_NONE ? NULL : &p->blocked[i];
}
