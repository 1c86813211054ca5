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
	for (uint32_t i = 0; w->observer && i < w->processes; i++) {
		struct ana_proc *p = &w->process[i];

		if (p->steps.source != ANA_STEPS_NONE &&
		    ana_plan_waits(w->plan, g->plan, p->source_index))
			ana_steps_input(&p->steps, start, end);
	}
}

void ana_exposed_gap(struct ana_walk *w, struct ana_gpu_state *g, int64_t start, int64_t end)
{
	uint32_t i;

	expose_gpu(w, g, start, end);
	for (i = 0; i < w->processes; i++) {
		struct ana_proc *p = &w->process[i];

		if (p->steps.source != ANA_STEPS_NONE &&
		    !ana_timeline_stack_over(&p->waits, start) &&
		    ana_plan_waits(w->plan, g->plan, p->source_index))
			expose_steps(w, p, start, end);
	}
}
