/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the engine: plan, ranges of every process, then every component on a thread of a small
 * pool; then the sums.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "analysis/plan/allocations.h"
#include "result_make.h"
#include "analysis/estimate/estimate.h"
#include "analysis/picture/picture_make.h"
#include "analysis/series/series_parts.h"
#include "component.h"
#include "kept.h"
#include "used.h"

#define THREADS_MAX 64u
/* A walk is kept so often, but not before so many operations: some tenths of a second. */
#define KEPT_PARTS 64
#define KEPT_OPS_MIN (INT64_C(1) << 20)
#define KEPT_OPS_MAX (INT64_C(1) << 30)

struct engine {
	struct ana_plan plan;
	struct ana_options options;
	const struct ana_options *given;
	struct ana_result *result;
	struct ana_found *found; /* per component */
	struct ana_step_lengths lengths; /* of all components that are done */
	pthread_mutex_t lengths_lock;
	struct ana_series_parts series;
	struct ana_picture_pick pick;
	struct ana_estimator *estimator; /* NULL: there is nothing to estimate */
	struct ana_used *used; /* NULL: GPM tells nothing */
	uint32_t *order; /* components, the largest first */
	atomic_size_t next;
	atomic_int err;
	pthread_mutex_t tell_lock; /* one call of the user at a time */
	void (*job)(struct engine *e, size_t i, struct wire_scratch *scratch);
	size_t jobs;
};

static void on_step(void *arg, const struct ana_step *s)
{
	struct engine *e = arg;

	pthread_mutex_lock(&e->tell_lock);
	ana_picture_pick_add(&e->pick, s);
	if (e->used)
		ana_used_step(e->used, s);
	if (e->given->on_step)
		e->given->on_step(e->given->arg, s);
	pthread_mutex_unlock(&e->tell_lock);
}

static void on_piece(void *arg, const struct ana_piece *p)
{
	struct engine *e = arg;

	pthread_mutex_lock(&e->tell_lock);
	if (e->estimator)
		ana_estimator_piece(e->estimator, p);
	if (e->given->on_piece)
		e->given->on_piece(e->given->arg, p);
	pthread_mutex_unlock(&e->tell_lock);
}

static void on_hotspot_sample(void *arg, const struct ana_hotspot_sample *s)
{
	struct engine *e = arg;

	pthread_mutex_lock(&e->tell_lock);
	e->given->on_hotspot_sample(e->given->arg, s);
	pthread_mutex_unlock(&e->tell_lock);
}

static void fail(struct engine *e, int err)
{
	int none = 0;

	if (err)
		atomic_compare_exchange_strong(&e->err, &none, err);
}

static void *worker(void *arg)
{
	struct engine *e = arg;
	struct wire_scratch *scratch = wire_scratch_new();
	size_t i;

	if (!scratch)
		fail(e, -ENOMEM);
	while (scratch && !atomic_load(&e->err) && (i = atomic_fetch_add(&e->next, 1)) < e->jobs)
		e->job(e, i, scratch);
	wire_scratch_free(scratch);
	return NULL;
}

static size_t thread_count(const struct engine *e)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	size_t n = e->options.threads ? e->options.threads : online > 0 ? (size_t)online : 1;

	if (n > THREADS_MAX)
		n = THREADS_MAX;
	return n > e->jobs ? e->jobs : n;
}

/* Runs the job for 0..jobs; the caller's thread is one of the pool. */
static int in_parallel(struct engine *e, size_t jobs,
		       void (*job)(struct engine *, size_t, struct wire_scratch *))
{
	pthread_t thread[THREADS_MAX];
	size_t i, n, started = 0;

	e->job = job;
	e->jobs = jobs;
	atomic_store(&e->next, 0);
	n = thread_count(e);
	for (i = 1; i < n; i++)
		if (!pthread_create(&thread[started], NULL, worker, e))
			started++;
	worker(e);
	for (i = 0; i < started; i++)
		pthread_join(thread[i], NULL);
	return atomic_load(&e->err);
}

static void scan_source(struct engine *e, size_t i, struct wire_scratch *scratch)
{
	fail(e, ana_plan_scan(&e->plan, &e->plan.source[i], scratch));
}

static void prepare_component(struct engine *e, size_t i, struct wire_scratch *scratch)
{
	fail(e, ana_plan_stamps(&e->plan, &e->plan.component[i], scratch));
}

static int take_process(struct ana_found *f, const struct ana_proc *p)
{
	int err = ana_durations_merge(&f->lengths.all, &p->steps.durations);

	ana_sum(&f->loader_wait_ns, p->waits.total);
	f->skipped += p->steps.skipped;
	f->hints |= p->names.hints | (p->source->has_optimizer ? ANA_HINT_STEPS : 0);
	if (p->steps.source && (!f->step_source || p->steps.source < f->step_source))
		f->step_source = p->steps.source;
	if (!err)
		err = ana_durations_merge(&f->lengths.fed, &p->steps.fed);
	if (!err && p->evidence)
		err = ana_loaders_merge(&f->loaders, &p->evidence->loaders);
	return err;
}

/* A run of many ranks has a log for each: none keeps room for what will not come. */
static int finish_logs(const struct ana_walk *w)
{
	uint32_t i;
	int err = 0;

	for (i = 0; i < w->gpus && !err; i++)
		if (w->gpu[i].recorder)
			err = ana_collective_log_finish(w->gpu[i].recorder->log);
	return err;
}

/* Takes over what a walk found. */
static int take_walk(struct ana_plan *plan, struct ana_found *f, struct ana_walk *w)
{
	uint32_t i;
	int err = 0;

	f->top = w->top;
	w->top = (struct ana_top){ 0 };
	f->hotspots = w->hotspots;
	w->hotspots = (struct ana_hotspots){ 0 };
	f->quality = w->quality;
	f->forgot = w->forgotten != INT64_MIN;
	for (i = 0; i < w->processes && !err; i++) {
		plan->source[w->process[i].source_index].steps =
			ana_steps_taken(&w->process[i].steps);
		err = take_process(f, &w->process[i]);
	}
	return err;
}

static void lengths_fini(struct ana_step_lengths *l)
{
	ana_durations_fini(&l->all);
	ana_durations_fini(&l->fed);
}

static void found_fini(struct ana_found *f)
{
	ana_top_fini(&f->top);
	lengths_fini(&f->lengths);
	ana_hotspots_fini(&f->hotspots);
	ana_loaders_fini(&f->loaders);
}

static void finish_series(struct engine *e, struct ana_series_walk *x, struct ana_walk *w)
{
	uint32_t i;

	for (i = 0; i < w->gpus; i++)
		ana_series_walk_gaps(x, w->gpu[i].index, &w->gpu[i].top);
	pthread_mutex_lock(&e->tell_lock);
	ana_series_walk_merge(x);
	pthread_mutex_unlock(&e->tell_lock);
}

static struct ana_kept kept_of(struct engine *e, uint32_t component)
{
	return (struct ana_kept){ &e->plan, component, e->result, &e->found[component] };
}

/* Whether what an earlier analysis found is in place of the walk. */
static bool recall(struct engine *e, uint32_t component)
{
	const struct ana_keeper *keeper = e->options.keeper;
	const struct ana_kept k = kept_of(e, component);
	uint8_t *bytes = NULL;
	size_t len = 0;
	bool known;

	if (!keeper || keeper->get(keeper->arg, component, &bytes, &len))
		return false;
	known = !ana_kept_read(&k, bytes, len);
	free(bytes);
	return known;
}

/* What cannot be kept is walked again. */
static void keep(struct engine *e, uint32_t component)
{
	const struct ana_keeper *keeper = e->options.keeper;
	const struct ana_kept k = kept_of(e, component);
	uint8_t *bytes = NULL;
	size_t len = 0;

	if (!keeper || ana_kept_write(&k, &bytes, &len))
		return;
	keeper->put(keeper->arg, component, bytes, len);
	free(bytes);
}

/*
 * A run of many ranks has as many lists of long steps, so none outlives its component. Whose come
 * first does not matter: what they are together is a sum.
 */
static int add_lengths(struct engine *e, struct ana_step_lengths *l)
{
	int err;

	pthread_mutex_lock(&e->lengths_lock);
	err = ana_durations_merge(&e->lengths.all, &l->all);
	if (!err)
		err = ana_durations_merge(&e->lengths.fed, &l->fed);
	pthread_mutex_unlock(&e->lengths_lock);
	lengths_fini(l);
	return err;
}

struct amid { /* of a walk that may be kept */
	struct engine *e;
	uint32_t component;
};

/* What cannot be kept is walked again from where it was kept last. */
static void keep_amid(void *arg, struct ana_walk *w)
{
	const struct amid *m = arg;
	const struct ana_keeper *keeper = m->e->options.keeper;
	const struct ana_kept k = kept_of(m->e, m->component);
	uint8_t *bytes = NULL;
	size_t len = 0;

	if (ana_kept_walk_write(&k, w, &bytes, &len))
		return;
	keeper->put(keeper->arg, m->component | ANA_KEPT_AMID, bytes, len);
	free(bytes);
}

/* As often as its work is worth it. */
static uint32_t keep_every(const struct engine *e, const struct ana_component *c)
{
	uint64_t ops = 0;

	if (e->options.keep_every)
		return e->options.keep_every;
	for (size_t i = 0; i < c->sources; i++)
		ops += e->plan.source[c->source[i]].ops;
	return (uint32_t)base_clamp((int64_t)(ops / KEPT_PARTS), KEPT_OPS_MIN, KEPT_OPS_MAX);
}

/* The walk as it was when it was kept last. False: it is not as it was begun. */
static bool go_on(struct engine *e, uint32_t component, struct ana_walk *w)
{
	const struct ana_keeper *keeper = e->options.keeper;
	const struct ana_kept k = kept_of(e, component);
	uint8_t *bytes = NULL;
	size_t len = 0;
	int err;

	if (keeper->get(keeper->arg, component | ANA_KEPT_AMID, &bytes, &len))
		return true;
	err = ana_kept_walk_read(&k, w, bytes, len);
	free(bytes);
	return !err;
}

static void forget_timelines(struct engine *e, const struct ana_component *c)
{
	for (size_t i = 0; i < c->devices; i++) {
		struct ana_timeline *t = &e->result->timeline[c->device[i]];

		free(t->bucket);
		*t = (struct ana_timeline){ 0 };
	}
}

/* Where it was kept it goes on from there. */
static int begin_walk(struct amid *m, const struct ana_walk_task *task, struct ana_walk *w,
		      struct wire_scratch *scratch)
{
	struct engine *e = m->e;
	const struct ana_component *c = &e->plan.component[m->component];
	int err = ana_walk_init(w, task, scratch);

	if (err || !e->options.keeper || !ana_kept_can(w))
		return err;
	if (!go_on(e, m->component, w)) {
		ana_walk_fini(w);
		forget_timelines(e, c);
		err = ana_walk_init(w, task, scratch);
	}
	w->pause = keep_amid;
	w->pause_arg = m;
	w->pause_every = keep_every(e, c);
	if (w->decide_every > w->pause_every)
		w->decide_every = w->pause_every;
	return err;
}

static int find(struct engine *e, uint32_t c, struct wire_scratch *scratch)
{
	struct ana_series_walk series = { .parts = NULL };
	struct ana_walk w = { .component = NULL };
	struct amid amid = { e, c };
	bool drawn = e->options.series;
	const struct ana_walk_task task = { .plan = &e->plan,
					    .component = c,
					    .options = &e->options,
					    .observer = drawn ? &series.observer : NULL,
					    .result = e->result };
	int err = 0;

	if (recall(e, c))
		return 0;
	if (drawn)
		err = ana_series_walk_init(&series, &e->series, c);
	if (!err)
		err = begin_walk(&amid, &task, &w, scratch);
	if (!err)
		err = ana_walk_run(&w);
	if (!err)
		err = finish_logs(&w);
	if (!err && drawn)
		finish_series(e, &series, &w);
	if (!err)
		err = take_walk(&e->plan, &e->found[c], &w);
	if (!err)
		keep(e, c);
	ana_walk_fini(&w);
	ana_series_walk_fini(&series);
	return err;
}

static void walk_component(struct engine *e, size_t i, struct wire_scratch *scratch)
{
	uint32_t c = e->order[i];
	int err;

	if (!e->plan.component[c].devices)
		return;
	err = find(e, c, scratch);
	if (!err)
		err = add_lengths(e, &e->found[c].lengths);
	fail(e, err);
}

static int by_size(const void *a, const void *b, void *plan)
{
	const struct ana_plan *p = plan;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;

	if (p->component[i].events != p->component[k].events)
		return p->component[i].events > p->component[k].events ? -1 : 1;
	return i < k ? -1 : i > k;
}

static int make_room(struct engine *e)
{
	size_t n = e->plan.components + 1, i;

	e->found = calloc(n, sizeof(*e->found));
	e->order = calloc(n, sizeof(*e->order));
	if (!e->found || !e->order)
		return -ENOMEM;
	for (i = 0; i < e->plan.components; i++)
		e->order[i] = (uint32_t)i;
	qsort_r(e->order, e->plan.components, sizeof(*e->order), by_size, &e->plan);
	return 0;
}

static int collect(struct engine *e)
{
	struct ana_result_parts r = {
		.plan = &e->plan,
		.options = e->given,
		.result = e->result,
		.found = e->found,
		.lengths = &e->lengths,
	};

	int err = ana_unused_finish(&e->plan, e->result, e->given);

	if (!err)
		err = ana_result_finish(&r);
	if (!err && e->options.series)
		err = ana_series_finish(&e->series, e->result);
	if (!err && e->estimator)
		err = ana_estimator_finish(e->estimator, e->given, e->result);
	if (!err && e->used)
		ana_used_finish(e->used, e->result);
	return err || e->options.keeper
		       ? err
		       : ana_picture_make(&e->result->picture, &e->plan, e->result, &e->pick);
}

/* Without the walks, whose sums these are. */
static int hold_only(struct engine *e)
{
	struct ana_result_parts r = {
		.plan = &e->plan, .options = e->given, .found = e->found, .lengths = &e->lengths
	};
	int err = ana_result_begin(&e->result, &e->plan, e->given);

	r.result = e->result;
	if (!err)
		err = ana_unused_finish(&e->plan, e->result, e->given);
	return err ? err : ana_result_finish(&r);
}

static int begin_series(struct engine *e)
{
	struct ana_series_parts *x = &e->series;

	return ana_series_begin(x, e->result, e->plan.sources, e->plan.components,
				e->options.timeline_buckets);
}

static int begin_pick(struct engine *e)
{
	int64_t start, end;

	ana_series_axis(e->result, &start, &end);
	return ana_picture_pick_init(&e->pick, e->plan.sources, start + (end - start) / 2);
}

static int begin_estimate(struct engine *e)
{
	int err = ana_estimator_begin(&e->estimator, &e->plan, &e->options);

	if (e->estimator)
		e->options.on_piece = on_piece;
	return err;
}

static int run(struct engine *e, struct view_trace *t)
{
	int err = ana_plan_make(&e->plan, t, e->given);

	if (err)
		return err;
	if (!e->plan.devices && !e->plan.unuseds)
		return -ENODATA;
	err = make_room(e);
	if (!err && e->options.held_only)
		return hold_only(e);
	if (!err)
		err = in_parallel(e, e->plan.sources, scan_source);
	if (!err)
		err = in_parallel(e, e->plan.components, prepare_component);
	if (!err)
		err = ana_skew_begin(&e->plan);
	if (!err)
		err = ana_result_begin(&e->result, &e->plan, e->given);
	if (!err && e->options.series)
		err = begin_series(e);
	if (!err && !e->options.keeper)
		err = begin_pick(e);
	if (!err && !e->options.keeper)
		err = begin_estimate(e);
	if (!err && !e->options.keeper)
		err = ana_used_begin(&e->used, &e->plan);
	if (!err)
		err = in_parallel(e, e->plan.components, walk_component);
	return err ? err : collect(e);
}

static void fini(struct engine *e)
{
	size_t i;

	for (i = 0; e->found && i < e->plan.components; i++)
		found_fini(&e->found[i]);
	free(e->found);
	lengths_fini(&e->lengths);
	free(e->order);
	ana_series_parts_fini(&e->series);
	ana_picture_pick_fini(&e->pick);
	ana_estimator_free(e->estimator);
	ana_used_free(e->used);
	ana_skew_fini(&e->plan);
	ana_plan_fini(&e->plan);
	pthread_mutex_destroy(&e->lengths_lock);
	pthread_mutex_destroy(&e->tell_lock);
}

int ana_run(struct view_trace *t, const struct ana_options *o, struct ana_result **out)
{
	struct engine e = { .options = *o, .given = o };
	int err;

	pthread_mutex_init(&e.tell_lock, NULL);
	pthread_mutex_init(&e.lengths_lock, NULL);
	e.options.arg = &e;
	e.options.on_step = o->keeper ? NULL : on_step;
	if (o->on_piece)
		e.options.on_piece = on_piece;
	if (o->on_hotspot_sample)
		e.options.on_hotspot_sample = on_hotspot_sample;
	if (o->keeper) {
		e.options.series = false;
		e.options.on_piece = NULL;
		e.options.on_hotspot_sample = NULL;
	}
	err = run(&e, t);
	fini(&e);
	if (err) {
		ana_result_free(e.result);
		return err;
	}
	*out = e.result;
	return 0;
}
