/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loader waits that lie in gaps: the part of waiting that cost GPU time.
 */
#include "component.h"

#include <errno.h>

/* The loader waits inside a gap count as exposed, whatever the gap's classes will be, ... */
static void expose_gpu(struct ana_walk *w, struct ana_gpu_state *g, int64_t start, int64_t end)
{
	uint32_t value;
	int64_t until;

	if (ana_timeline_stack_upto(&g->waits, end, g->waits_floor))
		w->err = -ENOMEM;
	for (; start < end; start = until) {
		bool inside = ana_timeline_stack_at(&g->waits, start, &value, &until);

		if (until > end)
			until = end;
		if (inside)
			g->gpu->loader_exposed_ns += until - start;
	}
}

/* ... and for the steps of each process that uses the GPU. */
static void expose_steps(struct ana_walk *w, struct ana_proc *p, int64_t start, int64_t end)
{
	uint32_t value;
	int64_t until;

	if (ana_timeline_stack_upto(&p->waits, end, w->floor))
		w->err = -ENOMEM;
	for (; start < end; start = until) {
		bool inside = ana_timeline_stack_at(&p->waits, start, &value, &until);

		if (until > end)
			until = end;
		if (inside)
			ana_steps_expose(&p->steps, start, until);
	}
}

/* For the steps of each process that uses the GPU; only observers ask. */
void ana_exposed_input(struct ana_walk *w, const struct ana_gpu_state *g, int64_t start,
		       int64_t end)
{
	for (uint32_t i = 0; w->observer && i < g->waiters; i++) {
		struct ana_proc *p = &w->process[g->waiter[i].process];

		if (p->steps.source != ANA_STEPS_NONE)
			ana_steps_input(&p->steps, start, end);
	}
}

static void expose(struct ana_walk *w, struct ana_gpu_state *g, int64_t start, int64_t end)
{
	uint32_t i = 0;

	expose_gpu(w, g, start, end);
	while (i < g->waitings) {
		struct ana_waiter *waiter = &g->waiter[g->waiting[i]];
		struct ana_proc *p = &w->process[waiter->process];

		if (!ana_timeline_stack_over(&p->waits, start)) {
			expose_steps(w, p, start, end);
			i++;
		} else { /* and for all gaps to come, until it waits again */
			waiter->waits = false;
			g->waiting[i] = g->waiting[--g->waitings];
		}
	}
}

/* What lies there while kernels were recorded, or all of it. */
void ana_exposed_gap(struct ana_walk *w, struct ana_gpu_state *g, int64_t start, int64_t end)
{
	int64_t until;

	if (!g->plan->unrecorded.count) {
		expose(w, g, start, end);
		return;
	}
	for (; start < end; start = until) {
		bool dark = ana_spans_at(&g->plan->unrecorded, start, &until);

		until = base_min(until, end);
		if (!dark)
			expose(w, g, start, until);
	}
}
