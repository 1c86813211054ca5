/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gaps into which nothing but API calls of the submitter reaches, where no sample can tell more and
 * nobody asks for pieces: most of them. What rules.c says of such a gap, without asking it.
 */
#include "plain_gap.h"

#include <errno.h>
#include "base/minmax.h"

/* No loader wait, mark, range or operator that may explain the gap. */
static bool only_calls(const struct ana_proc *p, const struct ana_thread *t, int64_t start)
{
	return ana_timeline_stack_over(&p->waits, start) &&
	       ana_timeline_stack_over(&t->waits, start) &&
	       ana_timeline_stack_over(&t->marks, start) &&
	       ana_timeline_stack_over(&t->ranges, start) &&
	       ana_timeline_stack_over(&t->operators, start);
}

/* LEDGER rules 3 and 6. */
static void give_empty(struct ana_gpu_state *g, struct ana_timeline_stack *calls, int64_t start,
		       int64_t end)
{
	uint32_t class;
	int64_t until;

	g->gpu->empty_ns += end - start;
	for (; start < end; start = until) {
		bool in_call = ana_timeline_stack_at(calls, start, &class, &until);

		until = base_min(until, end);
		if (in_call)
			ana_gpu_add(g, (int)class, ANA_HIGH, start, until);
		else
			ana_gpu_add(g, ANA_HOST_UNKNOWN, ANA_NONE, start, until);
	}
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
	ana_host_place_calls(w, p, gap->end);
	t = ana_host_thread(w, p, call->tid);
	if (!t || !only_calls(p, t, gap->start))
		return false;
	if (ana_timeline_stack_upto(&t->calls, gap->end, w->floor))
		w->err = -ENOMEM;
	give_empty(g, &t->calls, gap->start, submitted);
	give_queued(g, gap->same_graph, submitted, gap->end);
	return true;
}
