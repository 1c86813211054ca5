/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides gaps, and what lies before the first operation and behind the last: which rules hold
 * where, whose evidence counts, and what becomes of each piece. rules.h says what the rules are.
 */
#include "gap.h"
#include "analysis/plan/allocations.h"
#include "base/minmax.h"

#include <errno.h>
#include <string.h>
#include "rules.h"

ANA_RARE static void tell(const struct ana_gap_decision *d, const struct ana_ruled_piece *p,
			  int64_t start, int64_t end)
{
	struct ana_piece piece = {
		.gpu = d->g->index,
		.class = (enum ana_class)p->c,
		.confidence = p->confidence,
		.gap = !d->outside,
		.queued = !d->outside && start >= d->submitted,
		.start_ns = start,
		.end_ns = end,
		.gap_start_ns = d->whole_start,
		.gap_end_ns = d->whole_end,
	};

	if (d->call && d->process) {
		piece.pid = d->process->source->pid;
		piece.tid = d->call->tid;
	}
	d->w->options->on_piece(d->w->options->arg, &piece);
}

static void add(struct ana_gap_decision *d, const struct ana_ruled_piece *p, int64_t start,
		int64_t end)
{
	ana_gpu_add(d->g, p->c, p->confidence, start, end);
	if (ana_class_is_input(p->c))
		ana_exposed_input(d->w, d->g, start, end);
	if (d->w->options->on_piece)
		tell(d, p, start, end);
}

static void give(struct ana_gap_decision *d, const struct ana_ruled_piece *p, int64_t start,
		 int64_t end)
{
	struct ana_gpu_state *g = d->g;
	int64_t until;

	if (d->sums)
		d->sums[p->c] += end - start;
	if (!g->clipped) {
		add(d, p, start, end);
		return;
	}
	for (; start < end; start = until) {
		bool inside = ana_spans_at(&g->plan->held, start, &until);

		if (until > end)
			until = end;
		if (inside)
			add(d, p, start, until);
	}
}

/*
 * The tail may be as long as a night: of it no more is kept than is decided, where nothing else of
 * the walk is to be.
 */
static void read_tail(struct ana_gap_decision *d, int64_t start, int64_t end)
{
	if (!d->gap && d->w->gpus == 1 && d->w->floor < start)
		d->w->floor = start;
	ana_host_calls(d->w, end);
	ana_host_place_calls(d->w, d->left, end);
	ana_attribute_read(d->w, d->left, start, end);
}

/* By evidence, in parts that follow each other. False: the piece stays what it is. */
static bool give_attributed(struct ana_gap_decision *d, const struct ana_ruled_piece *p,
			    int64_t start, int64_t end)
{
	const struct ana_cause *b = &d->w->cause;
	struct ana_attribution piece = {
		.gpu = (uint32_t)(d->g - d->w->gpu),
		.gap_start = d->whole_start,
		.gap_end = d->whole_end,
		.start = start,
		.end = end,
		.refine = p->refine,
		.c = p->c,
		.confidence = p->confidence,
		.tid = p->any && p->refine == ANA_REFINE_WAIT ? 0 : d->waiter_tid,
		.submitter = d->call ? d->call->tid : 0,
		.copied = !d->outside && d->gap->copied,
		.copied_bytes = d->outside ? 0 : d->gap->copied_bytes,
		.left = d->outside || !d->call || !d->gap->left.known ||
					d->gap->left.process != d->call->process
				? 0
				: d->gap->left.tid,
		.outside = d->outside,
		.ending = p->refine == ANA_REFINE_HOST && d->left && start < d->ending_until,
	};
	struct ana_proc *waiter = d->waiter;
	struct ana_ruled_piece part;
	int64_t at = start;
	int c;

	if (p->refine == ANA_REFINE_HOST && d->left) {
		waiter = d->left;
		piece.tid = d->left_tid;
		read_tail(d, start, end);
	}
	if (!ana_attribute(d->w, waiter, &piece, !d->g->clipped && !d->outside))
		return false;
	for (c = 0; c < ANA_CLASSES; c++) {
		if (!b->ns[c])
			continue;
		part = (struct ana_ruled_piece){ .c = c, .confidence = b->confidence[c] };
		give(d, &part, at, at + b->ns[c]);
		at += b->ns[c];
	}
	return true; /* at == start: it waits for its neighbours (give_part) */
}

static bool has_evidence(const struct ana_gap_decision *d, const struct ana_ruled_piece *p)
{
	const struct ana_proc *of = p->refine == ANA_REFINE_HOST && d->left ? d->left : d->waiter;

	return of && of->evidence;
}

static void walk_pieces(struct ana_gap_decision *d, int64_t start, int64_t end, ana_rules *r)
{
	while (start < end) {
		struct ana_ruled_piece p = { .until = end };

		if (!d->masks || !ana_rules_loss(d, start, &p))
			r(d, start, &p);
		if (!p.refine || !has_evidence(d, &p) || !give_attributed(d, &p, start, p.until))
			give(d, &p, start, p.until);
		start = p.until;
	}
}

static void complete(struct ana_gap_decision *d, struct ana_timeline_stack *l, int64_t t)
{
	if (l && l->rows && ana_timeline_stack_upto(l, t, d->w->floor))
		d->w->err = -ENOMEM;
}

/* The submitter of the gap, and its stacks up to the gap's end. */
static void find_submitter(struct ana_gap_decision *d)
{
	int64_t end = d->gap->end;

	if (!d->call)
		return;
	d->process = &d->w->process[d->call->process];
	ana_host_place_calls(d->w, d->process, end);
	d->thread = ana_host_thread(d->w, d->process, d->call->tid);
	if (!d->thread)
		return;
	complete(d, &d->thread->calls, end);
	complete(d, &d->thread->waits, end);
	complete(d, &d->thread->ranges, end);
	complete(d, &d->thread->operators, end);
	complete(d, &d->thread->marks, end);
	complete(d, &d->process->waits, end);
	d->waiter = d->process;
	d->waiter_tid = d->call->tid;
	ana_attribute_read(d->w, d->process, d->gap->start, end);
}

/*
 * Whose is the only thread that emits ranges, of the process or (where that is not known) of its
 * file. NULL: nobody's.
 */
static struct ana_proc *only_range_process(struct ana_walk *w, const struct ana_source *own)
{
	struct ana_proc *only = NULL;
	uint32_t i, range_threads = 0;

	for (i = 0; i < w->processes; i++) {
		const struct ana_source *s = w->process[i].source;

		if (s != own && !(own->unknown && s->imported && s->file == own->file))
			continue;
		range_threads += s->range_threads;
		if (s->range_threads)
			only = &w->process[i];
	}
	return range_threads == 1 ? only : NULL;
}

static struct ana_timeline_stack *only_range_thread(struct ana_gap_decision *d)
{
	struct ana_walk *w = d->w;
	struct ana_proc *own = &w->process[d->gap->process], *only;

	if (!own->waiter_sought)
		own->only_waiter = only_range_process(w, own->source);
	own->waiter_sought = true;
	only = own->only_waiter;
	if (!only)
		return NULL;
	d->waiter = only;
	d->waiter_tid = only->source->range_thread;
	ana_attribute_read(w, only, d->gap->start, d->gap->end);
	return &ana_host_thread(w, only, only->source->range_thread)->waits;
}

static void decide_blind(struct ana_gap_decision *d)
{
	const struct ana_open_gap *gap = d->gap;

	ana_host_syncs(d->w, gap->end);
	d->waits = only_range_thread(d);
	d->blocked = ana_host_blocked(&d->w->process[gap->process], gap->ordinal, gap->context);
	complete(d, d->waits, gap->end);
	complete(d, d->blocked, gap->end);
	walk_pieces(d, gap->start, gap->end, ana_rules_no_launches);
}

const struct ana_call *ana_gap_lost_graph(struct ana_walk *w, const struct ana_gpu_state *g,
					  int64_t after, int64_t before)
{
	const struct ana_call *first = NULL;
	uint32_t i;

	for (i = 0; w->lost_graphs && i < g->waiters; i++) {
		const struct ana_call *c =
			ana_join_lost_graph(w->process[g->waiter[i].process].join, after, before);

		if (c && (!first || ana_call_before(c, first)))
			first = c;
	}
	return first;
}

/* LEDGER rule 0: @lost ends the emptiness, and what it launched may have run from then on. */
static void decide_up_to(struct ana_gap_decision *d, const struct ana_call *lost, int64_t t)
{
	const struct ana_call *call = d->call;

	d->call = lost;
	find_submitter(d);
	walk_pieces(d, d->gap->start, d->submitted, ana_rules_empty);
	walk_pieces(d, d->submitted, t, ana_rules_lost_graph);
	d->call = call;
	find_submitter(d);
}

/* LEDGER rule 12: what held the streams up, of gaps that may be longer than a launch takes. */
static void find_host_code(struct ana_gap_decision *d)
{
	const struct ana_open_gap *gap = d->gap;
	struct ana_proc *p = &d->w->process[gap->process];

	if (!p->host_code_count || gap->end - gap->start <= ANA_LAUNCH_NS)
		return;
	ana_host_syncs(d->w, gap->end);
	d->host_code = ana_host_code(p, gap->ordinal, gap->context, gap->stream);
	complete(d, d->host_code, gap->end);
	if (gap->dependent)
		d->any_host_code = &p->any_host_code;
	complete(d, d->any_host_code, gap->end);
}

static void decide_gap(struct ana_gap_decision *d)
{
	const struct ana_open_gap *gap = d->gap;
	int64_t t = d->call ? base_clamp(d->call->start, gap->start, gap->end) : gap->start;
	const struct ana_call *lost =
		d->call ? ana_gap_lost_graph(d->w, d->g, gap->computed, d->call->start) : NULL;

	d->submitted = lost ? base_clamp(lost->start, gap->start, gap->end) : t;
	d->g->gpu->empty_ns += d->submitted - gap->start;
	d->g->gpu->queued_ns += gap->end - d->submitted;
	d->queued_start = t;
	d->queued_end = gap->end;
	d->whole_start = gap->start;
	d->whole_end = gap->end;
	find_host_code(d);
	if (!d->g->launches) {
		decide_blind(d);
		return;
	}
	if (lost)
		decide_up_to(d, lost, t);
	else
		walk_pieces(d, gap->start, t, ana_rules_empty);
	walk_pieces(d, t, gap->end, ana_rules_queued);
}

/* Imports with step markers began in mid-run (LEDGER 5, lead). */
static void decide_lead_in_steps(struct ana_gap_decision *d, int64_t first_step)
{
	int64_t start = d->gap->start, end = d->gap->end;
	int64_t a = base_clamp(first_step, start, end);
	int64_t t = d->call ? base_clamp(d->call->start, a, end) : a;

	d->masks = false;
	walk_pieces(d, start, a, ana_rules_unobserved);
	d->masks = true;
	walk_pieces(d, a, t, ana_rules_empty);
	d->masks = false;
	walk_pieces(d, t, end, ana_rules_unobserved);
}

static int64_t waited(const struct ana_gpu_state *g)
{
	int64_t ns = 0;
	int c;

	for (c = 0; c < ANA_CLASSES; c++)
		ns += ana_class_is_input(c) ? g->gpu->classes[c] : 0;
	return ns;
}

static void decide_lead(struct ana_gap_decision *d)
{
	int64_t start = d->gap->start, end = d->gap->end, t;
	int64_t first_step = ana_plan_first_step(d->w->plan, d->g->plan);

	if (first_step != INT64_MAX) {
		decide_lead_in_steps(d, first_step);
		return;
	}
	d->masks = !d->g->plan->imported;
	t = d->call ? base_clamp(d->call->start, start, end) : end;
	if (ana_timeline_stack_upto(&d->g->waits, end, d->g->waits_floor))
		d->w->err = -ENOMEM;
	walk_pieces(d, start, t, ana_rules_startup);
	walk_pieces(d, t, end, ana_rules_started);
}

static void keep_top(struct ana_gap_decision *d)
{
	const struct ana_open_gap *gap = d->gap;
	struct ana_gap top = {
		.gpu = d->g->index,
		.start_ns = gap->start,
		.end_ns = gap->end,
		.empty_ns = d->submitted - gap->start,
	};

	memcpy(top.classes, d->sums, sizeof(top.classes));
	ana_gap_judge(&top);
	if (d->call) {
		top.pid = d->process->source->pid;
		top.tid = d->call->tid;
	}
	ana_top_add(&d->w->top, &top);
	ana_top_add(&d->g->top, &top);
}

/* Part of a gap between two phases, by the rules of what lies outside of all operations. */
static void decide_apart(struct ana_gap_decision *d, int64_t start, int64_t end, ana_rules *r)
{
	d->whole_start = start;
	d->whole_end = end;
	walk_pieces(d, start, end, r);
}

#define TEARDOWN_LEAST_NS INT64_C(1000000000)
#define TEARDOWN_MOST_NS INT64_C(60000000000)
#define ENDING_NS INT64_C(10000000000) /* programs tell of results, close files, say goodbye */

/*
 * For so long after its last operation may a process be about to end, or on its way to its next
 * step.
 */
static int64_t teardown_ns(struct ana_walk *w, const struct ana_proc *p)
{
	int64_t median = -1;

	if (ana_steps_median(&p->steps, &median))
		w->err = -ENOMEM;
	return base_clamp(2 * base_clamp(median, 0, TEARDOWN_MOST_NS), TEARDOWN_LEAST_NS,
			  TEARDOWN_MOST_NS);
}

/* What is no teardown of the tail [start, end): from then until the submitter's process ends. */
static void find_rest(struct ana_gap_decision *d, const struct ana_submitter *left,
		      int64_t computed, int64_t start, int64_t end)
{
	const struct ana_source *s;

	d->rest_start = d->rest_end = end;
	if (!left->known || d->g->plan->imported || ana_gap_lost_graph(d->w, d->g, computed, end))
		return;
	d->left = &d->w->process[left->process];
	d->left_tid = left->tid;
	s = d->left->source;
	if (!d->left->evidence)
		return;
	d->rest_start = base_min(start + teardown_ns(d->w, d->left), end);
	d->rest_end = base_min(s->s->bye ? ana_clamp_time(s->s->bye->t_ns) : s->end_ns, end);
	d->ending_until = base_min(start + ENDING_NS, end);
}

/* Verdicts are about it, and somebody saw it: in what nobody saw the GPU may have worked. */
static bool is_inside(int c)
{
	return !ana_class_is_outside(c) && c != ANA_EXCLUDED_UNOBSERVED && c != ANA_DEVICE_LOST;
}

/* @before: the classes as they were when what lies behind the last operation was to be decided. */
static void add_after_last(struct ana_gpu *g, const int64_t before[ANA_CLASSES])
{
	for (int c = 0; c < ANA_CLASSES; c++)
		if (is_inside(c))
			ana_sum(&g->after_last_ns[c], g->classes[c] - before[c]);
	ana_sum(&g->no_work_after_ns, g->classes[ANA_HOST_NO_WORK] - before[ANA_HOST_NO_WORK]);
}

/*
 * The end of one phase of a job and the beginning of a later one: teardown, perhaps phases that ran
 * nothing, start-up. What lies between them nobody held, or it was given to no process.
 */
static void decide_between(struct ana_walk *w, struct ana_gpu_state *g,
			   const struct ana_open_gap *gap, const struct ana_call *call)
{
	const struct ana_span *first = ana_run_phase_at(g->plan, gap->start);
	const struct ana_span *last = ana_run_phase_at(g->plan, gap->end), *s;
	struct ana_gap_decision d = { .w = w, .g = g, .masks = g->masked, .outside = true };
	struct ana_open_gap lead = *gap;
	int64_t t = call ? base_clamp(call->start, gap->start, gap->end) : gap->start;
	int64_t before[ANA_CLASSES];

	g->gpu->empty_ns += t - gap->start;
	g->gpu->queued_ns += gap->end - t;
	if (ana_timeline_stack_upto(&g->waits, gap->end, g->waits_floor))
		w->err = -ENOMEM;
	d.gap = gap;
	memcpy(before, g->gpu->classes, sizeof(before));
	find_rest(&d, &gap->left, gap->computed, gap->start, first->end);
	decide_apart(&d, gap->start, first->end, ana_rules_teardown);
	add_after_last(g->gpu, before);
	for (s = first + 1; s < last; s++)
		decide_apart(&d, s->start, s->end, ana_rules_startup);
	lead.start = last->start;
	d.gap = &lead;
	d.call = call;
	t = call ? base_clamp(call->start, lead.start, gap->end) : gap->end;
	decide_apart(&d, lead.start, t, ana_rules_startup);
	decide_apart(&d, t, gap->end, ana_rules_started);
}

void ana_gap_decide(struct ana_walk *w, struct ana_gpu_state *g, const struct ana_open_gap *gap,
		    const struct ana_call *call)
{
	struct ana_gap_decision d = {
		.w = w, .g = g, .gap = gap, .call = call, .masks = g->masked
	};
	int64_t sums[ANA_CLASSES];

	if (g->plan->run_phases.count > 1 &&
	    ana_run_phase_at(g->plan, gap->start) != ana_run_phase_at(g->plan, gap->end)) {
		decide_between(w, g, gap, call);
		return;
	}
	find_submitter(&d);
	if (w->err)
		return;
	if (ana_top_wants(&w->top, gap->end - gap->start) ||
	    ana_top_wants(&g->top, gap->end - gap->start)) {
		memset(sums, 0, sizeof(sums));
		d.sums = sums;
	}
	decide_gap(&d);
	if (d.sums)
		keep_top(&d);
}

void ana_gap_lead(struct ana_walk *w, struct ana_gpu_state *g)
{
	struct ana_gap_decision d = {
		.w = w,
		.g = g,
		.gap = &g->lead,
		.call = g->lead_known ? &g->lead_call : NULL,
		.outside = true,
		.whole_start = g->lead.start,
		.whole_end = g->lead.end,
	};
	int64_t before = waited(g);
	const struct ana_call *lost = ana_gap_lost_graph(
		w, g, INT64_MIN, d.call ? base_min(d.call->start, g->lead.end) : g->lead.end);

	if (lost) /* LEDGER rule 0: it was submitted, too */
		d.call = lost;
	g->lead_open = false;
	ana_host_ranges(w, g->lead.end); /* no gap may have asked for them yet */
	find_submitter(&d);
	if (!w->err)
		decide_lead(&d);
	g->gpu->loader_outside_ns += waited(g) - before;
}

/* The only process whose waits count for the GPU and of which there is evidence; NULL: several. */
static struct ana_proc *only_waiter(struct ana_walk *w, const struct ana_gpu_state *g)
{
	struct ana_proc *only = g->waiters == 1 ? &w->process[g->waiter[0].process] : NULL;

	return only && only->evidence ? only : NULL;
}

/* Those that were launched behind the last operation, too, where the tail is more than its end. */
static void find_lost_graphs(struct ana_walk *w, const struct ana_gpu_state *g, int64_t end)
{
	uint32_t i;

	if (!g->left.known || g->plan->imported || !w->process[g->left.process].evidence)
		return;
	ana_host_calls(w, end);
	for (i = 0; i < g->waiters; i++)
		if (ana_join_end(w->process[g->waiter[i].process].join))
			w->err = -ENOMEM;
}

void ana_gap_tail(struct ana_walk *w, struct ana_gpu_state *g)
{
	struct ana_gap_decision d = { .w = w,
				      .g = g,
				      .masks = !g->plan->imported,
				      .waiter = only_waiter(w, g),
				      .outside = true };
	const struct ana_spans *held = &g->plan->held;
	int64_t end = held->count ? held->span[held->count - 1].end : g->end;
	int64_t before = waited(g), classes[ANA_CLASSES];

	memcpy(classes, g->gpu->classes, sizeof(classes));
	if (ana_timeline_stack_upto(&g->waits, end, INT64_MIN))
		w->err = -ENOMEM;
	d.whole_start = g->end;
	d.whole_end = end;
	if (d.waiter) {
		d.waiter_tid =
			d.waiter->source->range_threads == 1 ? d.waiter->source->range_thread : 0;
		ana_attribute_read(w, d.waiter, g->end, end);
	}
	find_lost_graphs(w, g, end);
	find_rest(&d, &g->left, g->computed, g->end, end);
	walk_pieces(&d, g->end, end, ana_rules_teardown);
	g->gpu->loader_outside_ns += waited(g) - before;
	add_after_last(g->gpu, classes);
	g->gpu->saving_after_ns =
		g->gpu->classes[ANA_HOST_CHECKPOINT] - classes[ANA_HOST_CHECKPOINT];
	g->gpu->last_end_ns = g->end;
	g->gpu->submitted_ns =
		g->gpu->ops_without_launch || g->computed == INT64_MIN ? g->end : g->computed;
}

void ana_gap_unused(struct ana_walk *w, struct ana_gpu_state *g)
{
	struct ana_gap_decision d = {
		.w = w, .g = g, .masks = !g->plan->imported, .outside = true
	};
	const struct ana_spans *held = &g->plan->held;
	size_t i;

	for (i = 0; i < held->count; i++) {
		if (ana_timeline_stack_upto(&g->waits, held->span[i].end, INT64_MIN))
			w->err = -ENOMEM;
		d.whole_start = held->span[i].start;
		d.whole_end = held->span[i].end;
		walk_pieces(&d, d.whole_start, d.whole_end, ana_rules_startup);
	}
}
