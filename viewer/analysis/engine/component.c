/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order in which a component's events are read.
 */
#include "component.h"

#include <errno.h>
#include <stdlib.h>
#include "analysis/gap/attribution.h"
#include "analysis/gap/open_gaps.h"

#define EXACT_CALLS_MAX (UINT64_C(1) << 22)
#define BLOCK_EVENTS ((size_t)1 << 16) /* of a process: a usual block of each kind */
#define UNSAMPLED_EVERY_NS 500000000
/* Operations between two looks at what can be decided; as many as have to be looked at. */
#define DECIDE_EVERY 128u

static int init_gpu(struct ana_walk *w, struct ana_gpu_state *g, uint32_t device,
		    struct ana_result *r, bool calls)
{
	struct ana_device *d = &w->plan->device[device];
	struct ana_gpu *gpu = &r->gpu[device];
	int d_;

	*g = (struct ana_gpu_state){ .plan = d, .gpu = gpu, .index = device };
	g->compute_end = g->comm_end = g->copy_end = g->computed = INT64_MIN;
	for (d_ = 0; d_ < ANA_COPY_DIRS; d_++)
		g->dir_end[d_] = INT64_MIN;
	g->masked = d->lost.count || d->unobserved.count;
	g->clipped = !d->imported && d->held.count > 1;
	g->plain = !g->masked && !g->clipped;
	g->ordinary = g->plain && d->run_phases.count <= 1 && !w->options->on_piece;
	g->no_launches = !calls;
	g->recorder = g->plan->recorder;
	g->at = INT64_MIN;
	g->waits_floor = INT64_MIN;
	if (ana_buckets_init(&g->buckets, &r->timeline[device], gpu->held_start_ns,
			     gpu->held_end_ns, w->options->timeline_buckets,
			     w->observer ? w->observer->fine : 1))
		return -ENOMEM;
	if (ana_minutes_init(&g->minutes, gpu->held_start_ns, gpu->held_end_ns))
		return -ENOMEM;
	ana_gpu_init_buckets(g);
	if (!w->observer)
		return 0;
	if (ana_top_init(&g->top, w->observer->top_gaps))
		return -ENOMEM;
	return w->observer->gpu(w->observer->arg, device, &g->buckets);
}

static int begin_turns(struct ana_walk *w)
{
	struct ana_turns *turns[] = { &w->ops_turns, &w->calls_turns, &w->ranges_turns,
				      &w->syncs_turns };
	size_t i;
	int err = 0;

	for (i = 0; i < sizeof(turns) / sizeof(turns[0]) && !err; i++)
		err = ana_turns_init(turns[i], w->processes);
	return err;
}

/* How the component is read: by what its sources are, and by how many API records they have. */
static void choose_mode(struct ana_walk *w, uint64_t calls, bool imported)
{
	uint64_t exact_calls = w->options->exact_calls ? w->options->exact_calls : EXACT_CALLS_MAX;

	w->exact = imported && calls <= exact_calls;
	w->one_gpu = w->component->devices == 1 && !w->exact;
	w->late_ns = imported ? ANA_LATE_IMPORT_NS : ANA_LATE_NS;
}

static void look_at_sources(const struct ana_walk *w, uint64_t *calls, bool *imported)
{
	const struct ana_component *c = w->component;
	size_t i;

	*calls = 0;
	*imported = true;
	for (i = 0; i < c->sources; i++) {
		const struct ana_source *s = &w->plan->source[c->source[i]];

		*calls += s->calls;
		*imported &= s->imported;
	}
}

static int make_room(struct ana_walk *w)
{
	w->process = calloc(w->component->sources + 1, sizeof(*w->process));
	w->gpu = calloc(w->component->devices + 1, sizeof(*w->gpu));
	if (!w->process || !w->gpu)
		return -ENOMEM;
	return ana_top_init(&w->top, w->options->top_gaps);
}

int ana_walk_init(struct ana_walk *w, const struct ana_walk_task *task,
		  struct wire_scratch *scratch)
{
	const struct ana_component *c = &task->plan->component[task->component];
	uint64_t calls;
	bool imported, compares;
	uint32_t i;
	int err;

	*w = (struct ana_walk){
		.plan = task->plan,
		.component = c,
		.options = task->options,
		.observer = task->observer,
		.scratch = scratch,
		.floor = INT64_MIN,
		.floor_was = INT64_MIN,
		.forgotten = INT64_MIN,
		.unsampled_at = INT64_MIN,
		.booked = INT64_MIN,
		.hotspots = { .options = task->options, .observer = task->observer },
	};
	w->open_events.most = ANA_FEED_EVENTS + c->sources * BLOCK_EVENTS;
	look_at_sources(w, &calls, &imported);
	choose_mode(w, calls, imported);
	err = make_room(w);
	for (; !err && w->processes < c->sources; w->processes++)
		err = ana_process_init(w, &w->process[w->processes], c->source[w->processes]);
	for (; !err && w->gpus < c->devices; w->gpus++)
		err = init_gpu(w, &w->gpu[w->gpus], c->device[w->gpus], task->result, calls != 0);
	compares = !err && ana_walk_compares(w);
	for (i = 0; compares && !err && i < w->processes; i++)
		err = ana_process_compare(w, &w->process[i]);
	w->decide_every = w->processes + w->gpus;
	if (w->decide_every < DECIDE_EVERY)
		w->decide_every = DECIDE_EVERY;
	if (!err)
		err = begin_turns(w);
	return err ? err : ana_waiters_find(w);
}

void ana_walk_fini(struct ana_walk *w)
{
	uint32_t i;

	for (i = 0; w->process && i < w->component->sources; i++)
		ana_process_fini(&w->process[i]);
	for (i = 0; w->gpu && i < w->component->devices; i++)
		ana_gpu_fini(&w->gpu[i]);
	free(w->process);
	free(w->gpu);
	ana_turns_fini(&w->ops_turns);
	ana_turns_fini(&w->calls_turns);
	ana_turns_fini(&w->ranges_turns);
	ana_turns_fini(&w->syncs_turns);
	ana_top_fini(&w->top);
	ana_cause_fini(&w->cause);
	ana_hotspots_fini(&w->hotspots);
}

/* The process whose operation comes next. */
static struct ana_proc *next_process(struct ana_walk *w)
{
	struct ana_turns *t = &w->ops_turns;

	while (t->count && !t->turn[0].then) { /* its next operation was not looked at */
		const struct wire_event *e = ana_feed_peek(&w->process[t->turn[0].process].ops);

		if (e) /* of those that start together the lower stream id, as ana_op_before() */
			ana_turns_wait(t, e->start_ns, 1 + (uint64_t)(e->stream ^ 1u << 31));
		else
			ana_turns_end(t);
	}
	return t->count ? &w->process[t->turn[0].process] : NULL;
}

/* Some operations in order; false: there are no more. */
static bool take_some(struct ana_walk *w)
{
	struct ana_proc *p = &w->process[0];
	const struct wire_event *op, *stop;
	uint32_t n;

	if (w->processes == 1) {
		op = ana_feed_peek(&p->ops);
		stop = p->ops.stop - op > w->decide_every ? op + w->decide_every : p->ops.stop;
		ana_gpu_operations(w, p, op, stop);
		p->ops.at = stop;
		return op != NULL;
	}
	for (n = 0; n < w->decide_every && (p = next_process(w)); n++) {
		op = ana_feed_peek(&p->ops);
		ana_gpu_operations(w, p, op, op + 1);
		ana_feed_pop(&p->ops);
		ana_turns_wait(&w->ops_turns, ana_turns_at(&w->ops_turns), 0);
	}
	return n > 0;
}

static int64_t pending(struct ana_walk *w)
{
	int64_t least = INT64_MAX;
	uint32_t i;

	for (i = 0; i < w->processes; i++) {
		struct ana_proc *p = &w->process[i];
		int64_t t = ana_join_pending(p->join, w->now);

		if (t < least)
			least = t;
		if (p->calls_next < least)
			least = p->calls_next;
	}
	return least;
}

/*
 * Steps that ended before every GPU's last known work can have no more gaps in them. What a wait in
 * them was for may still be told by what comes later; who looks on is told of steps by then.
 */
static void pass_steps(struct ana_walk *w)
{
	int64_t t = w->observer ? w->booked : INT64_MAX;
	uint32_t i;
	int err = 0;

	for (i = 0; i < w->gpus; i++)
		if (w->gpu[i].started && w->gpu[i].end < t)
			t = w->gpu[i].end;
	for (i = 0; i < w->processes && !err && t != INT64_MAX; i++)
		err = ana_steps_upto(&w->process[i].steps, t);
	if (err)
		w->err = err;
}

/* What ended before the oldest undecided gap will not be looked at again. */
static void move_floor(struct ana_walk *w)
{
	int64_t floor = INT64_MAX, latest = INT64_MIN;
	uint32_t i;

	for (i = 0; i < w->gpus; i++) {
		const struct ana_gpu_state *g = &w->gpu[i];

		if (!g->started)
			continue;
		/* A live lead asks for waits only, and the GPU has a stack of its own for these. */
		if (g->lead_open && g->plan->imported && g->lead.start < floor)
			floor = g->lead.start;
		if (g->gap_head < g->gap_tail && g->gap[g->gap_head].start < floor)
			floor = g->gap[g->gap_head].start;
		if (g->end < floor)
			floor = g->end;
		if (g->end > latest)
			latest = g->end;
	}
	if (floor == INT64_MAX)
		return;
	if (floor < w->forgotten)
		floor = w->forgotten;
	if (floor != w->floor_was) {
		w->rows = 0;
	} else if (w->rows > ANA_ROWS_MAX) {
		w->forgotten = floor = latest;
		w->rows = 0;
	}
	w->floor = w->floor_was = floor;
}

/* Gaps that are not decided begin at the floor or later, but for leads (move_floor). */
static int64_t booked_upto(const struct ana_walk *w)
{
	int64_t t = base_min(w->floor, ana_attribute_first(w));
	uint32_t i;

	for (i = 0; i < w->gpus; i++)
		if (w->gpu[i].lead_open)
			t = base_min(t, w->gpu[i].lead.start);
	return t;
}

static void decide(struct ana_walk *w)
{
	int64_t until = pending(w);
	uint32_t i;

	for (i = 0; i < w->gpus; i++)
		ana_open_gaps_decide(w, &w->gpu[i], until);
	for (i = 0; i < w->gpus && w->gaps_open > ANA_GAPS_OPEN_MAX; i++)
		ana_open_gaps_give_up(w, &w->gpu[i]);
	move_floor(w);
	if (w->unsampled_pieces > ANA_UNSAMPLED_MAX) {
		ana_attribute_unsampled(w, INT64_MAX);
	} else if (w->floor / UNSAMPLED_EVERY_NS != w->unsampled_at / UNSAMPLED_EVERY_NS) {
		w->unsampled_at = w->floor;
		ana_attribute_unsampled(w, w->floor);
		w->booked = booked_upto(w);
	}
}

static int first_error(struct ana_walk *w)
{
	uint32_t i;

	for (i = 0; i < w->processes && !w->err; i++) {
		struct ana_proc *p = &w->process[i];

		w->err = p->ops.err	 ? p->ops.err
			 : p->calls.err	 ? p->calls.err
			 : p->ranges.err ? p->ranges.err
					 : p->syncs.err;
		if (!w->err && p->comms)
			w->err = p->comms->err ? p->comms->err : p->comms->feed.err;
	}
	return w->err;
}

static void sum_evidence(struct ana_quality *q, const struct ana_evidence *e)
{
	q->samples += e->count;
	q->samples_torn += e->torn;
	q->samples_without_python += e->without_python;
	q->samples_lost += e->forgotten;
	q->invalid += e->samples.bad + e->batches.bad;
	q->frames_missing += e->samples.unreadable + e->batches.unreadable;
}

static uint64_t left_out(const struct ana_proc *p)
{
	uint64_t n = p->waits.left_out;
	uint32_t i;

	for (i = 0; i < p->threads; i++) {
		const struct ana_thread *t = p->thread[i];

		n += t->calls.left_out + t->waits.left_out + t->ranges.left_out +
		     t->operators.left_out + t->marks.left_out;
	}
	return n;
}

static void sum_quality(struct ana_walk *w)
{
	struct ana_quality *q = &w->quality;
	uint32_t i;

	q->graphs_lost += w->lost_graphs;
	for (i = 0; i < w->processes; i++) {
		struct ana_proc *p = &w->process[i];

		q->launches_expired += ana_join_expired(p->join);
		q->invalid += p->ops.bad + p->calls.bad + p->ranges.bad + p->syncs.bad;
		q->invalid += left_out(p);
		q->frames_missing += p->ops.unreadable + p->calls.unreadable +
				     p->ranges.unreadable + p->syncs.unreadable;
		if (p->evidence)
			sum_evidence(q, p->evidence);
	}
}

static int finish_process(struct ana_proc *p)
{
	int err = ana_timeline_stack_upto(&p->waits, INT64_MAX, INT64_MAX);

	if (!err && p->evidence) /* for the facts about loaders */
		err = ana_evidence_upto(p->evidence, INT64_MAX, INT64_MAX);
	return err;
}

/* For the comparison of ranks: what was launched and never ended. */
static void note_unanswered(struct ana_walk *w)
{
	uint32_t i, k;

	if (ana_walk_compares(w)) /* the last calls come after all operations */
		ana_host_calls(w, INT64_MAX);
	for (i = 0; i < w->gpus; i++) {
		struct ana_rank_recorder *s = w->gpu[i].recorder;

		for (k = 0; s && k < w->processes; k++) {
			int64_t t = ana_join_unanswered(w->process[k].join);

			if (t > s->unanswered_ns)
				s->unanswered_ns = t;
		}
	}
}

static void pause_perhaps(struct ana_walk *w)
{
	if (!w->pause || w->err || w->now - w->paused < w->pause_every)
		return;
	w->paused = w->now;
	w->pause(w->pause_arg, w);
}

/* No operation will come: what was launched up to the last gap and has none is known now. */
static void end_launches(struct ana_walk *w)
{
	uint32_t i;

	for (i = 0; i < w->gpus; i++)
		if (w->gpu[i].lead_open)
			ana_host_calls(w, w->gpu[i].lead.end);
	for (i = 0; i < w->processes && !w->err; i++)
		w->err = ana_join_end(w->process[i].join);
}

int ana_walk_run(struct ana_walk *w)
{
	uint32_t i;

	if (w->exact) {
		ana_host_calls(w, INT64_MAX);
		ana_host_ranges(w, INT64_MAX);
		ana_host_syncs(w, INT64_MAX);
	}
	while (!w->err && take_some(w)) {
		pass_steps(w);
		if (!w->exact)
			decide(w);
		pause_perhaps(w);
	}
	if (first_error(w))
		return w->err;
	if (!w->exact)
		ana_host_ranges(w, INT64_MAX);
	end_launches(w);
	for (i = 0; i < w->gpus && !w->err; i++)
		ana_gpu_finish(w, &w->gpu[i]);
	ana_attribute_unsampled(w, INT64_MAX);
	for (i = 0; i < w->processes && !w->err; i++) /* all in them has its class */
		w->err = ana_steps_finish(&w->process[i].steps);
	note_unanswered(w);
	for (i = 0; i < w->processes && !w->err; i++)
		w->err = finish_process(&w->process[i]);
	sum_quality(w);
	return first_error(w);
}
