/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose loader waits count for which GPU (plan.h, ana_plan_waits), found once: where hundreds of
 * processes share a GPU, nobody can ask that of each of them for each wait.
 */
#include "walk.h"

#include <errno.h>
#include <stdlib.h>
#include "base/vec.h"

static int add(struct ana_walk *w, struct ana_proc *p, uint32_t gpu)
{
	struct ana_gpu_state *g = &w->gpu[gpu];

	if (p->waits_ats && p->waits_at[p->waits_ats - 1].gpu == gpu)
		return 0; /* it has two ordinals there */
	if (!base_vec_more(p->waits_at, p->waits_ats, p->waits_at_room) ||
	    !base_vec_more(g->waiter, g->waiters, g->waiter_room))
		return -ENOMEM;
	p->waits_at[p->waits_ats++] = (struct ana_waits_at){ gpu, g->waiters };
	g->waiter[g->waiters++] = (struct ana_waiter){ .process = p->index };
	return 0;
}

/* The file does not tell which process uses the GPU: all of them may. */
static int add_file(struct ana_walk *w, uint32_t gpu)
{
	const struct ana_device *d = w->gpu[gpu].plan;
	uint32_t i;
	int err = 0;

	for (i = 0; i < w->processes && !err; i++)
		if (w->process[i].source->file == w->plan->source[d->source].file)
			err = add(w, &w->process[i], gpu);
	return err;
}

static int add_users(struct ana_walk *w, const struct ana_map *process_of, uint32_t gpu)
{
	const struct ana_device *d = w->gpu[gpu].plan;
	bool any = false;
	size_t i;
	int err = 0;

	for (i = 0; i < d->uses && !err; i++) {
		const struct ana_use *u = &d->use[i];
		uint32_t k = ana_map_get(process_of, u->source);

		if (k != ANA_MAP_NONE)
			err = ana_map_put(&w->process[k].gpu_of, u->ordinal, gpu);
		if (err || w->plan->source[u->source].unknown || (d->ops && !u->ops))
			continue;
		any = true;
		if (k != ANA_MAP_NONE)
			err = add(w, &w->process[k], gpu);
	}
	if (!err && !any && d->imported)
		err = add_file(w, gpu);
	w->gpu[gpu].waiting = calloc(w->gpu[gpu].waiters + 1u, sizeof(*w->gpu[gpu].waiting));
	return err || w->gpu[gpu].waiting ? err : -ENOMEM;
}

int ana_waiters_find(struct ana_walk *w)
{
	struct ana_map process_of = { 0 }; /* by source */
	uint32_t i;
	int err = 0;

	for (i = 0; i < w->processes && !err; i++)
		err = ana_map_put(&process_of, w->process[i].source_index, i);
	for (i = 0; i < w->gpus && !err; i++)
		err = add_users(w, &process_of, i);
	ana_map_fini(&process_of);
	return err;
}

void ana_waiters_wait(struct ana_walk *w, const struct ana_proc *p)
{
	uint32_t i;

	for (i = 0; p->steps.source != ANA_STEPS_NONE && i < p->waits_ats; i++) {
		struct ana_gpu_state *g = &w->gpu[p->waits_at[i].gpu];
		struct ana_waiter *waiter = &g->waiter[p->waits_at[i].waiter];

		if (waiter->waits)
			continue;
		waiter->waits = true;
		g->waiting[g->waitings++] = p->waits_at[i].waiter;
	}
}
