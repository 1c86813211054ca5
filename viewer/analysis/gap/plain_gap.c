/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gaps into which nothing but API calls of the submitter reaches, where no sample tells more and
 * nobody asks for pieces: most of them. What rules.c and attribution.c say of such a gap, without
 * asking them.
 */
#include "plain_gap.h"

#include <errno.h>
#include "attribution.h"
#include "base/minmax.h"

struct decision {
	struct ana_walk *w;
	struct ana_gpu_state *g;
	struct ana_proc *p; /* who ended the gap's emptiness */
	struct ana_thread *t;
	const struct ana_open_gap *gap;
};

/*
 * What reaches beyond the gap's start comes behind the gap. Rows come in order of start, so up to
 * that no other will begin; many gaps lie before one wait that is known already.
 */
static __attribute__((noinline)) bool begins_behind(struct ana_walk *w,
						    struct ana_timeline_stack *l,
						    const struct ana_open_gap *gap)
{
	uint32_t value;
	int64_t until;

	if (ana_timeline_stack_upto(l, gap->end, w->floor))
		w->err = -ENOMEM;
	if (ana_timeline_stack_at(l, gap->start, &value, &until) || until < gap->end)
		return false;
	if (until != INT64_MAX) {
		l->free_from = gap->start;
		l->free_until = until;
	}
	return true;
}

/* Nothing on the stack covers any of the gap. */
static inline bool nothing_on(struct ana_walk *w, struct ana_timeline_stack *l,
			      const struct ana_open_gap *gap)
{
	return ana_timeline_stack_over(l, gap->start) ||
	       (gap->start >= l->free_from && gap->end <= l->free_until) ||
	       begins_behind(w, l, gap);
}

/* No loader wait, mark, range or operator that may explain the gap. */
static inline bool only_calls(struct ana_walk *w, struct ana_proc *p, struct ana_thread *t,
			      const struct ana_open_gap *gap)
{
	return nothing_on(w, &p->waits, gap) && nothing_on(w, &t->waits, gap) &&
	       nothing_on(w, &t->marks, gap) && nothing_on(w, &t->ranges, gap) &&
	       nothing_on(w, &t->operators, gap);
}

/* It gave the operation before the gap, too. */
static bool gave_before(const struct ana_proc *p, const struct ana_thread *t,
			const struct ana_open_gap *gap)
{
	return gap->left.known && gap->left.process == p->index && gap->left.tid == t->tid;
}

/*
 * There is evidence, and nobody looked at the submitter within the gap. Of one that may not have
 * begun before others tell.
 */
static __attribute__((noinline)) bool unseen(struct ana_walk *w, struct ana_proc *p,
					     struct ana_thread *t, const struct ana_open_gap *gap)
{
	ana_attribute_read(w, p, gap->start, gap->end);
	if (!t->seen)
		t->seen = ana_evidence_thread(p->evidence, p->evidence->pid, t->tid);
	if ((!t->seen || t->seen->first >= gap->start) && !gave_before(p, t, gap))
		return false;
	return !ana_samples_within(t->seen, gap->start, gap->end);
}

/* It waits for what its neighbours tell. */
static __attribute__((noinline)) void keep_unseen(const struct decision *d, int64_t start,
						  int64_t end)
{
	ana_attribute_unseen(d->w, d->t,
			     &(struct ana_unsampled_piece){
				     .start = start,
				     .end = end,
				     .gpu = (uint32_t)(d->g - d->w->gpu),
				     .unknown = ANA_HOST_UNKNOWN,
				     .record_confidence = ANA_NONE,
				     .tid = d->t->tid,
				     .gap_start = d->gap->start,
				     .gap_end = d->gap->end,
			     });
}

/* [@start, @end) of the gap, in which the submitter neither waits nor calls. */
static inline void give_unknown(const struct decision *d, int64_t start, int64_t end)
{
	if (d->p->evidence)
		keep_unseen(d, start, end);
	else
		ana_gpu_add(d->g, ANA_HOST_UNKNOWN, ANA_NONE, start, end);
}

struct piece {
	int64_t start, end;
	uint32_t class;
};

#define PIECES 8

/* The first call on no stack that is not over by @t. Mostly gaps are asked about in order. */
static uint32_t first_at(struct ana_proc *p, int64_t t)
{
	uint32_t i = p->unplaced_over;

	if (t < p->unplaced_over_at || i < p->unplaced_first)
		i = p->unplaced_first;
	while (i < p->unplaced_count && p->unplaced[i].end <= t)
		i++;
	p->unplaced_over = i;
	p->unplaced_over_at = t;
	return i;
}

/*
 * The calls of @tid within [start, end), where all of them are on no stack yet and none begins
 * inside of another: how many, -1 if it is not so simple.
 */
static int find_calls(struct ana_proc *p, uint32_t tid, int64_t start, int64_t end,
		      struct piece *piece)
{
	int64_t until = start;
	uint32_t i;
	int n = 0;

	for (i = first_at(p, start); i < p->unplaced_count && p->unplaced[i].start < end; i++) {
		const struct ana_unplaced_call *c = &p->unplaced[i];

		if (c->tid != tid || c->end <= base_max(c->start, start))
			continue;
		if (n == PIECES || (n && c->start < until))
			return -1;
		piece[n++] = (struct piece){ base_max(c->start, start), base_min(c->end, end),
					     c->value };
		until = c->end;
	}
	return n;
}

/* LEDGER rules 3 and 6, in order. */
static inline void give_pieces(const struct decision *d, const struct piece *piece, int n,
			       int64_t end)
{
	int64_t start = d->gap->start;
	int i;

	for (i = 0; i < n; i++) {
		if (piece[i].start > start)
			give_unknown(d, start, piece[i].start);
		ana_gpu_add(d->g, (int)piece[i].class, ANA_HIGH, piece[i].start, piece[i].end);
		start = piece[i].end;
	}
	if (start < end)
		give_unknown(d, start, end);
}

/* The same by the stack of the thread's calls. */
static __attribute__((noinline)) void give_by_stack(const struct decision *d, int64_t end)
{
	struct ana_timeline_stack *calls = &d->t->calls;
	int64_t start = d->gap->start, until;
	uint32_t class;

	ana_host_place_calls(d->w, d->p, d->gap->end);
	if (ana_timeline_stack_upto(calls, d->gap->end, d->w->floor))
		d->w->err = -ENOMEM;
	for (; start < end; start = until) {
		bool in_call = ana_timeline_stack_at(calls, start, &class, &until);

		until = base_min(until, end);
		if (in_call)
			ana_gpu_add(d->g, (int)class, ANA_HIGH, start, until);
		else
			give_unknown(d, start, until);
	}
}

static inline void give_empty(const struct decision *d, int64_t end)
{
	int64_t start = d->gap->start;
	struct piece piece[PIECES];
	int n = -1;

	d->g->gpu->empty_ns += end - start;
	if (ana_timeline_stack_over(&d->t->calls, start))
		n = find_calls(d->p, d->t->tid, start, end, piece);
	if (n >= 0)
		give_pieces(d, piece, n, end);
	else
		give_by_stack(d, end);
}

/* LEDGER rules 7 to 9. */
static void give_queued(struct ana_gpu_state *g, bool same_graph, int64_t start, int64_t end)
{
	int c = end - start <= ANA_TURNAROUND_NS ? ANA_DEVICE_TURNAROUND
		: same_graph			 ? ANA_DEVICE_GRAPH
						 : ANA_DEVICE_LAUNCH;

	g->gpu->queued_ns += end - start;
	if (start < end)
		ana_gpu_add(g, c, ANA_HIGH, start, end);
}

bool ana_plain_gap_decide(struct ana_walk *w, struct ana_gpu_state *g,
			  const struct ana_open_gap *gap, const struct ana_call *call)
{
	int64_t submitted = base_clamp(call->start, gap->start, gap->end);
	struct decision d = { .w = w, .g = g, .p = &w->process[call->process], .gap = gap };

	if (!g->ordinary || !gap->known || gap->end - submitted > ANA_LAUNCH_NS ||
	    ana_top_wants(&w->top, gap->end - gap->start) ||
	    ana_top_wants(&g->top, gap->end - gap->start))
		return false;
	d.t = ana_host_thread(w, d.p, call->tid);
	if (!d.t || !only_calls(w, d.p, d.t, gap) || (d.p->evidence && !unseen(w, d.p, d.t, gap)))
		return false;
	give_empty(&d, submitted);
	give_queued(g, gap->same_graph, submitted, gap->end);
	return true;
}
