/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gaps that are not decided yet: the earliest launch of all operations after a gap ends its
 * emptiness, and an operation that comes much later may have it.
 *
 * That minimum runs backwards in time, but can be kept going forwards: gaps wait in order, in runs
 * that share their minimum, and minima never fall along the runs. An operation with an earlier
 * launch swallows the runs behind it, so each gap is touched a constant number of times.
 */
#include "open_gaps.h"

#include <errno.h>
#include "analysis/window.h"
#include "gap.h"
#include "plain_gap.h"

/* The last @gaps gaps, and those before them whose launch comes later, share the call. */
static void share(struct ana_gpu_state *g, const struct ana_call *call, uint64_t gaps)
{
	while (g->run_tail > g->run_head) {
		const struct ana_run_of_gaps *last = &g->run[g->run_tail - 1];

		if (last->known && !ana_call_before(call, &last->call))
			break;
		gaps += last->gaps;
		g->run_tail--;
	}
	if (gaps)
		g->run[g->run_tail++] = (struct ana_run_of_gaps){ *call, true, gaps };
}

static void add_unknown(struct ana_gpu_state *g)
{
	if (g->run_tail > g->run_head && !g->run[g->run_tail - 1].known)
		g->run[g->run_tail - 1].gaps++;
	else
		g->run[g->run_tail++] = (struct ana_run_of_gaps){ .gaps = 1 };
}

struct ana_open_gap *ana_open_gaps_new(struct ana_walk *w, struct ana_gpu_state *g,
				       const struct ana_call *call)
{
	if (ana_window_room(&g->gap, &g->gap_head, &g->gap_tail, &g->gap_room, sizeof(*g->gap)) ||
	    ana_window_room(&g->run, &g->run_head, &g->run_tail, &g->run_room, sizeof(*g->run))) {
		w->err = -ENOMEM;
		return NULL;
	}
	w->gaps_open++;
	if (call)
		share(g, call, 1);
	else
		add_unknown(g);
	return &g->gap[g->gap_tail++];
}

void ana_open_gaps_lower(struct ana_gpu_state *g, const struct ana_call *call)
{
	share(g, call, 0);
}

static void decide_run(struct ana_walk *w, struct ana_gpu_state *g)
{
	const struct ana_run_of_gaps *run = &g->run[g->run_head++];
	uint64_t i;

	for (i = 0; i < run->gaps; i++) {
		const struct ana_open_gap *gap = &g->gap[g->gap_head++];

		if (!run->known || ana_gap_lost_graph(w, g, gap->computed, run->call.start) ||
		    !ana_plain_gap_decide(w, g, gap, &run->call))
			ana_gap_decide(w, g, gap, run->known ? &run->call : NULL);
		w->gaps_open--;
	}
}

void ana_open_gaps_decide(struct ana_walk *w, struct ana_gpu_state *g, int64_t until)
{
	if (!g->started)
		return;
	while (g->run_tail > g->run_head && g->run[g->run_head].known &&
	       g->run[g->run_head].call.start < until)
		decide_run(w, g);
	if (g->lead_open && g->lead_known && g->lead_call.start < until)
		ana_gap_lead(w, g);
	if (g->lead_open)
		g->waits_floor = g->lead.start;
	else
		g->waits_floor = g->gap_tail > g->gap_head ? g->gap[g->gap_head].start : g->end;
}

void ana_open_gaps_give_up(struct ana_walk *w, struct ana_gpu_state *g)
{
	uint32_t i;

	while (g->run_tail > g->run_head && w->gaps_open > ANA_GAPS_OPEN_MAX / 2) {
		const struct ana_run_of_gaps *r = &g->run[g->run_head];

		for (i = 0; r->known && i < w->processes; i++)
			if (ana_join_give_up(w->process[i].join, r->call.start))
				w->err = -ENOMEM;
		decide_run(w, g);
	}
}

void ana_open_gaps_finish(struct ana_walk *w, struct ana_gpu_state *g)
{
	while (g->run_tail > g->run_head)
		decide_run(w, g);
}
