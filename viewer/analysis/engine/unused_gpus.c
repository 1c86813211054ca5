/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPUs that were given to a job and that no process used: a row each, all of whose time is
 * excluded.no_process, or excluded.unobserved where tasks ran that nobody recorded.
 */
#include "result_make.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/plan/allocations.h"
#include "analysis/time/minutes.h"
#include "analysis/series/series.h"
#include "analysis/time/timeline.h"

static int fill(struct ana_gpu *g, const struct ana_unused *u)
{
	const struct view_alloc_gpu *a = u->gpu;

	g->host = strdup(u->host);
	g->index = a->index >= 0 ? (uint32_t)a->index : 0;
	g->uuid = a->uuid ? strdup(a->uuid) : NULL;
	g->name = strdup(u->name ? u->name : "unknown GPU");
	g->mig_profile = a->mig_profile ? strdup(a->mig_profile) : NULL;
	g->mig_slices = a->mig_slices;
	g->mig_slices_total = a->mig_slices_total;
	g->nvml_utilization_pct = -1;
	g->allocated_ns = 0;
	if (u->given.count) {
		g->held_start_ns = u->given.span[0].start;
		g->held_end_ns = u->given.span[u->given.count - 1].end;
	}
	return g->host && g->name && (g->uuid || !a->uuid) && (g->mig_profile || !a->mig_profile)
		       ? 0
		       : -ENOMEM;
}

int ana_unused_begin(const struct ana_plan *p, struct ana_result *r)
{
	int err = 0;

	for (size_t i = 0; i < p->unuseds && !err; i++)
		err = fill(&r->gpu[p->devices + i], &p->unused[i]);
	return err;
}

static enum ana_class class_of(const struct ana_unused *u)
{
	return u->unseen ? ANA_EXCLUDED_UNOBSERVED : ANA_EXCLUDED_NO_PROCESS;
}

static enum ana_confidence confidence_of(const struct ana_unused *u)
{
	return u->unseen ? ANA_NONE : ANA_HIGH;
}

static void tell(const struct ana_options *o, uint32_t gpu, const struct ana_unused *u,
		 const struct ana_span *s)
{
	struct ana_piece piece = { .gpu = gpu,
				   .class = class_of(u),
				   .confidence = confidence_of(u),
				   .start_ns = s->start,
				   .end_ns = s->end,
				   .gap_start_ns = s->start,
				   .gap_end_ns = s->end };

	if (o->on_piece)
		o->on_piece(o->arg, &piece);
}

/* A page draws as many buckets of it as of the others, though they all are alike. */
static int add_series(struct ana_result *r, size_t gpu, const struct ana_buckets *buckets)
{
	struct ana_gpu_series *s = r->series ? &r->series->gpu[gpu] : NULL;

	if (!s)
		return 0;
	s->fine = 1;
	s->longest_ns = calloc(buckets->line->count + 1, sizeof(*s->longest_ns));
	return s->longest_ns ? 0 : -ENOMEM;
}

/* All of them idle, of a GPU of which that is known. */
static int count_minutes(struct ana_gpu *g, struct ana_spans *given)
{
	struct ana_spans none = { 0 };
	struct ana_minutes minutes;

	if (ana_minutes_init(&minutes, g->held_start_ns, g->held_end_ns))
		return -ENOMEM;
	ana_minutes_count(&minutes, given, &none, &none, g->minutes);
	ana_minutes_fini(&minutes);
	return 0;
}

int ana_unused_finish(struct ana_plan *p, struct ana_result *r, const struct ana_options *o)
{
	struct ana_buckets buckets;
	int err = 0;

	for (size_t i = 0; i < p->unuseds && !err; i++) {
		struct ana_unused *u = &p->unused[i];
		struct ana_spans *given = &u->given;
		size_t gpu = p->devices + i;
		struct ana_gpu *g = &r->gpu[gpu];

		err = ana_buckets_init(&buckets, &r->timeline[gpu], g->held_start_ns,
				       g->held_end_ns, o->timeline_buckets, 1);
		for (size_t k = 0; k < given->count && !err; k++) {
			const struct ana_span *s = &given->span[k];

			g->classes[class_of(u)] += s->end - s->start;
			ana_buckets_add(&buckets, class_of(u), s->start, s->end);
			tell(o, (uint32_t)gpu, u, s);
		}
		g->held_ns = g->allocated_ns = g->classes[class_of(u)];
		g->confidence[class_of(u)][confidence_of(u)] = g->held_ns;
		if (!err && class_of(u) == ANA_EXCLUDED_NO_PROCESS)
			err = count_minutes(g, given);
		if (!err)
			err = add_series(r, gpu, &buckets);
	}
	return err;
}
