/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is gathered while a component is walked. Steps, samples and gaps go where their process or
 * GPU has a place of its own; stacks and loaders are the component's, and merged at its end.
 */
#include <errno.h>
#include <stdlib.h>
#include "analysis/time/span.h"
#include "base/vec.h"
#include "series_parts.h"

/* The timeline's buckets may be fewer than was asked for. */
static int on_gpu(void *arg, uint32_t gpu, const struct ana_buckets *buckets)
{
	struct ana_series_walk *x = arg;
	struct ana_gpu_series *s = &x->parts->out->gpu[gpu];
	const struct ana_timeline *t = buckets->line;
	size_t n = (t->count + buckets->fine - 1) / buckets->fine;

	s->fine = buckets->fine;
	s->longest_ns = calloc(n + 1, sizeof(*s->longest_ns));
	x->parts->coarse[gpu] = (struct ana_coarse){
		.start = buckets->start,
		.end = t->count ? t->bucket[t->count - 1].end_ns : buckets->start,
		.width = buckets->width * (int64_t)buckets->fine,
		.longest_ns = s->longest_ns,
		.at_start = INT64_MAX, /* in none yet */
	};
	return s->longest_ns ? 0 : -ENOMEM;
}

/* The longest stretch of a gap within each bucket that is drawn. */
ANA_RARE static void mark_longest(struct ana_coarse *c, int64_t start, int64_t end)
{
	start = base_max(start, c->start);
	end = base_min(end, c->end);
	for (; start < end; start = c->at_end) {
		int64_t i = (start - c->start) / c->width;

		c->at = &c->longest_ns[i];
		c->at_start = c->start + i * c->width;
		c->at_end = base_min(c->at_start + c->width, c->end);
		*c->at = base_max(*c->at, base_min(c->at_end, end) - start);
	}
}

/* Most gaps lie in the bucket of the one before. */
static void on_gap(void *arg, uint32_t gpu, int64_t start, int64_t end)
{
	struct ana_series_walk *x = arg;
	struct ana_coarse *c = &x->parts->coarse[gpu];

	if (start < c->at_start || end > c->at_end)
		mark_longest(c, start, end);
	else if (end - start > *c->at)
		*c->at = end - start;
}

static int on_step(void *arg, const struct ana_step *s)
{
	struct ana_series_walk *x = arg;
	struct ana_step_gather **g = &x->parts->steps[s->process];

	if (!*g) {
		*g = malloc(sizeof(**g));
		if (!*g)
			return -ENOMEM;
		ana_step_gather_init(*g, s->process, x->parts->plan.step_buckets);
	}
	return ana_step_gather_add(*g, s);
}

/* NULL: no memory. */
static struct ana_worker_watch *watch_of(struct ana_series_walk *x, uint32_t process)
{
	struct ana_worker_watch **w = &x->parts->watch[process];

	if (!*w)
		*w = calloc(1, sizeof(**w));
	return *w;
}

/* NULL: no memory. */
static struct ana_last_sample *thread_of(struct ana_worker_watch *w, const struct wire_sample *s)
{
	uint64_t key = (uint64_t)s->pid << 32 | s->tid;
	uint32_t i = ana_map_get(&w->thread_of, key);

	if (i != ANA_MAP_NONE)
		return &w->thread[i];
	if (!base_vec_more(w->thread, w->threads, w->room))
		return NULL;
	if (ana_map_put(&w->thread_of, key, w->threads))
		return NULL;
	w->thread[w->threads] = (struct ana_last_sample){ 0 };
	return &w->thread[w->threads++];
}

static int on_sample(void *arg, uint32_t process, const struct wire_sample *s)
{
	struct ana_series_walk *x = arg;
	struct ana_worker_watch *w;
	struct ana_last_sample *t;

	if (s->role != WIRE_ROLE_WORKER)
		return 0;
	w = watch_of(x, process);
	t = w ? thread_of(w, s) : NULL;
	if (!t)
		return -ENOMEM;
	ana_loader_gather_sample(&x->loaders, t, s);
	return 0;
}

static int on_batch(void *arg, uint32_t process, const struct wire_batch *b,
		    const struct ana_loader_facts *of)
{
	struct ana_series_walk *x = arg;
	struct ana_worker_watch *w = watch_of(x, process);

	if (!w)
		return -ENOMEM;
	ana_loader_gather_batch(&x->loaders, &w->ready, of, b);
	return 0;
}

static void on_share(void *arg, const struct ana_hotspot_sample *share,
		     const struct wire_strtab *strings)
{
	struct ana_series_walk *x = arg;

	ana_flames_add(x->flames, share->process, strings, share->class, share->sample, share->ns);
}

int ana_series_walk_init(struct ana_series_walk *x, struct ana_series_parts *parts,
			 uint32_t component)
{
	*x = (struct ana_series_walk){
		.observer = { .arg = x,
			      .fine = parts->plan.fine,
			      .top_gaps = ANA_SERIES_GAPS,
			      .gpu = on_gpu,
			      .gap = on_gap,
			      .step = on_step,
			      .sample = on_sample,
			      .batch = on_batch,
			      .share = on_share },
		.parts = parts,
		.flames = &parts->flames[component],
	};
	ana_flames_init(x->flames, parts->plan.nodes);
	return ana_loader_gather_init(&x->loaders, &parts->plan);
}

void ana_series_walk_gaps(struct ana_series_walk *x, uint32_t gpu, struct ana_top *top)
{
	struct ana_gpu_series *s = &x->parts->out->gpu[gpu];

	ana_top_sort(top);
	s->gap = top->gap;
	s->gaps = top->count;
	*top = (struct ana_top){ 0 };
}

void ana_series_walk_merge(struct ana_series_walk *x)
{
	ana_loader_gather_merge(&x->parts->loaders, &x->loaders);
}

void ana_series_walk_fini(struct ana_series_walk *x)
{
	ana_loader_gather_fini(&x->loaders);
}
