/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lays out the room for series before the walks, and puts together what these gathered.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/time/span.h"
#include "series_parts.h"

#define BUCKETS_IN_ALL 65536u /* of timelines: 20 MB */
#define STEP_BUCKETS_IN_ALL 65536u /* 4 MB */
#define NODES_IN_ALL 32768u /* of flames, with their names 10 MB at most */

static size_t within(size_t n, size_t least, size_t most)
{
	return n < least ? least : n > most ? most : n;
}

void ana_series_axis(const struct ana_result *r, int64_t *start, int64_t *end)
{
	bool any = false;

	*start = *end = 0;
	for (size_t g = 0; g < r->gpus; g++) {
		const struct ana_gpu *k = &r->gpu[g];

		if (k->held_end_ns <= k->held_start_ns)
			continue;
		if (!any || k->held_start_ns < *start)
			*start = k->held_start_ns;
		if (!any || k->held_end_ns > *end)
			*end = k->held_end_ns;
		any = true;
	}
}

void ana_series_plan(struct ana_series_plan *p, const struct ana_result *r, size_t sources,
		     size_t components, size_t buckets)
{
	size_t gpus = r->gpus ? r->gpus : 1;
	int64_t ns;

	*p = (struct ana_series_plan){ .fine = 1, .step_buckets = 16 };
	ana_series_axis(r, &p->start, &p->end);
	ns = p->end - p->start;
	p->cell_ns = ns / ANA_SERIES_CELLS + (ns % ANA_SERIES_CELLS != 0);
	p->cell_ns = p->cell_ns ? p->cell_ns : 1;
	p->cells = (size_t)(ns / p->cell_ns + (ns % p->cell_ns != 0));
	while (buckets && p->fine < ANA_FINE_MAX && p->fine * 2 * buckets * gpus <= BUCKETS_IN_ALL)
		p->fine *= 2;
	while (p->step_buckets < ANA_SERIES_STEPS &&
	       p->step_buckets * 2 * (sources ? sources : 1) <= STEP_BUCKETS_IN_ALL)
		p->step_buckets *= 2;
	p->nodes = (uint32_t)within(NODES_IN_ALL / (components ? components : 1), 64, 8192);
}

static void free_gpus(struct ana_series *s)
{
	for (size_t i = 0; s->gpu && i < s->gpus; i++) {
		free(s->gpu[i].gap);
		free(s->gpu[i].longest_ns);
	}
	free(s->gpu);
}

void ana_series_free(struct ana_series *s)
{
	size_t i;

	if (!s)
		return;
	free_gpus(s);
	for (i = 0; i < s->zooms; i++)
		free(s->zoom[i].line.bucket);
	for (i = 0; i < s->step_series; i++)
		free(s->steps[i].bucket);
	for (i = 0; i < s->frames; i++)
		free(s->frame[i]);
	for (i = 0; i < s->flames; i++)
		free(s->flame[i].node);
	free(s->zoom);
	free(s->steps);
	free(s->outlier);
	free(s->cell);
	free(s->frame);
	free(s->flame);
	free(s);
}

int ana_series_begin(struct ana_series_parts *x, struct ana_result *r, size_t sources,
		     size_t components, size_t buckets)
{
	struct ana_series *s = calloc(1, sizeof(*s));

	r->series = x->out = s;
	if (!s)
		return -ENOMEM;
	ana_series_plan(&x->plan, r, sources, components, buckets);
	s->start_ns = x->plan.start;
	s->end_ns = x->plan.end;
	s->gpu = calloc(r->gpus + 1, sizeof(*s->gpu));
	s->gpus = s->gpu ? r->gpus : 0;
	x->steps = calloc(sources + 1, sizeof(*x->steps));
	x->watch = calloc(sources + 1, sizeof(*x->watch));
	x->sources = x->steps && x->watch ? sources : 0;
	x->coarse = calloc(r->gpus + 1, sizeof(*x->coarse));
	x->flames = calloc(components + 1, sizeof(*x->flames));
	x->components = x->flames ? components : 0;
	if (!s->gpu || !x->steps || !x->watch || !x->coarse || !x->flames)
		return -ENOMEM;
	return ana_loader_gather_init(&x->loaders, &x->plan);
}

static void watch_free(struct ana_worker_watch *w)
{
	if (!w)
		return;
	ana_map_fini(&w->thread_of);
	free(w->thread);
	free(w);
}

void ana_series_parts_fini(struct ana_series_parts *x)
{
	for (size_t i = 0; i < x->sources; i++) {
		if (x->steps[i])
			ana_step_gather_fini(x->steps[i]);
		free(x->steps[i]);
		watch_free(x->watch[i]);
	}
	for (size_t i = 0; i < x->components; i++)
		ana_flames_fini(&x->flames[i]);
	free(x->steps);
	free(x->watch);
	free(x->coarse);
	free(x->flames);
	ana_loader_gather_fini(&x->loaders);
	*x = (struct ana_series_parts){ 0 };
}

static int finish_steps(struct ana_series_parts *x, struct ana_series *s)
{
	struct ana_slowest_steps slow = { .count = 0 };
	size_t i, k;

	s->steps = calloc(x->sources + 1, sizeof(*s->steps));
	s->outlier = calloc(ANA_SERIES_OUTLIERS, sizeof(*s->outlier));
	if (!s->steps || !s->outlier)
		return -ENOMEM;
	for (i = 0; i < x->sources; i++) {
		struct ana_step_gather *g = x->steps[i];

		if (!g || !g->line.buckets)
			continue;
		s->steps[s->step_series++] = g->line;
		g->line.bucket = NULL; /* now the result's */
		for (k = 0; k < ANA_HISTOGRAM_BINS; k++)
			s->histogram[k] += g->histogram[k];
		for (k = 0; k < g->slow.count; k++)
			ana_slowest_steps_add(&slow, &g->slow.step[k]);
	}
	memcpy(s->outlier, slow.step, slow.count * sizeof(*s->outlier));
	s->outliers = slow.count;
	return 0;
}

static void finish_loaders(struct ana_series_parts *x, struct ana_series *s)
{
	struct ana_loader_gather *g = &x->loaders;
	int64_t ready = 0;

	if (!g->any)
		return;
	for (size_t i = 0; i < g->cells; i++) {
		ready += g->cell[i].ready;
		g->cell[i].ready = ready > 0 ? ready : 0; /* rows may be missing */
	}
	s->cell = g->cell;
	s->cells = g->cells;
	s->cell_ns = g->cell_ns;
	s->has_states = g->has_states;
	s->has_ready = g->has_ready;
	g->cell = NULL; /* now the result's */
}

int ana_series_finish(struct ana_series_parts *x, struct ana_result *r)
{
	struct ana_series *s = r->series;
	int err = finish_steps(x, s);

	finish_loaders(x, s);
	if (!err)
		err = ana_flames_finish(x->flames, x->components, s);
	for (int c = 0; c < ANA_CLASSES; c++)
		if (ana_class_is_input(c) || ana_class_is_host(c))
			ana_sum(&s->flame_total_ns, r->classes[c]);
	return err ? err : ana_series_zoom(r);
}
