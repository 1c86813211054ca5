/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gaps into which nothing but API calls of the submitter reaches, where no sample can tell more and
 * nobody asks for pieces: most of them. What rules.c says of such a gap, without asking it.
 */
#include "plain_gap.h"

#include <errno.h>
#include "base/minmax.h"

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
static void give_pieces(struct ana_gpu_state *g, const struct piece *piece, int n, int64_t start,
			int64_t end)
{
	int i;

	for (i = 0; i < n; i++) {
		if (piece[i].start > start)
			ana_gpu_add(g, ANA_HOST_UNKNOWN, ANA_NONE, start, piece[i].start);
		ana_gpu_add(g, (int)piece[i].class, ANA_HIGH, piece[i].start, piece[i].end);
		start = piece[i].end;
	}
	if (start < end)
		ana_gpu_add(g, ANA_HOST_UNKNOWN, ANA_NONE, start, end);
}

/* The same by the stack of the thread's calls. */
static void give_by_stack(struct ana_walk *w, struct ana_gpu_state *g, struct ana_proc *p,
			  struct ana_timeline_stack *calls, const struct ana_open_gap *gap,
			  int64_t end)
{
	int64_t start = gap->start, until;
	uint32_t class;

	ana_host_place_calls(w, p, gap->end);
	if (ana_timeline_stack_upto(calls, gap->end, w->floor))
		w->err = -ENOMEM;
	for (; start < end; start = until) {
		bool in_call = ana_timeline_stack_at(calls, start, &class, &until);

		until = base_min(until, end);
		if (in_call)
			ana_gpu_add(g, (int)class, ANA_HIGH, start, until);
		else
			ana_gpu_add(g, ANA_HOST_UNKNOWN, ANA_NONE, start, until);
	}
}

static void give_empty(struct ana_walk *w, struct ana_gpu_state *g, struct ana_proc *p,
		       struct ana_thread *t, const struct ana_open_gap *gap, int64_t end)
{
	struct piece piece[PIECES];
	int n = -1;

	g->gpu->empty_ns += end - gap->start;
	if (ana_timeline_stack_over(&t->calls, gap->start))
		n = find_calls(p, t->tid, gap->start, end, piece);
	if (n >= 0)
		give_pieces(g, piece, n, gap->start, end);
	else
		give_by_stack(w, g, p, &t->calls, gap, end);
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
	struct ana_proc *p = &w->process[call->process];
	struct ana_thread *t;

	if (!g->ordinary || !gap->known || p->evidence || gap->end - submitted > ANA_LAUNCH_NS ||
	    ana_top_wants(&w->top, gap->end - gap->start) ||
	    ana_top_wants(&g->top, gap->end - gap->start))
		return false;
	t = ana_host_thread(w, p, call->tid);
	if (!t || !only_calls(w, p, t, gap))
		return false;
	give_empty(w, g, p, t, gap, submitted);
	give_queued(g, gap->same_graph, submitted, gap->end);
	return true;
}
