/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loader's panel: shares of what workers did, files they were blocked on, and the arithmetic of
 * how many workers and bytes a second the training loop needs.
 */
#include "loader.h"

#include <stdlib.h>
#include <string.h>
#include "base/minmax.h"
#include "base/units.h"
#include "wire/evidence.h"

#define RANKS_PARTS 10 /* of a step: what waits for other ranks may add to it */
#define NS_PER_S 1000000000
/*
 * Of what is waited for batches a first worker on the cores here has to hide two thirds. One that
 * was to hide half of it or less brought nothing in any of four plays (docs/MEASUREMENTS.md, 5).
 */
#define FIRST_PARTS 2
#define FIRST_OF 3

const struct ana_loader_facts *view_loader_facts(const struct view_summary *s)
{
	return s->result->loaders ? &s->result->loader[0] : NULL;
}

static bool is_library(const char *file)
{
	return strstr(file, "/site-packages/") || strstr(file, "/dist-packages/") ||
	       strstr(file, "/lib/python");
}

bool view_loader_made_at(const struct view_summary *s, struct view_hotspot *at)
{
	const struct ana_loader_facts *l = view_loader_facts(s);

	if (!l || !l->made_file || is_library(l->made_file))
		return false;
	*at = (struct view_hotspot){ .known = true, .file = l->made_file, .line = l->made_line };
	return true;
}

int64_t view_loader_workers(const struct view_summary *s)
{
	const struct ana_loader_facts *l = view_loader_facts(s);

	return l && l->known & ANA_LOADER_WORKERS ? (int64_t)l->workers : -1;
}

static enum ana_worker_state state_of(const struct ana_hotspot *hotspot)
{
	if (hotspot->runnable)
		return ANA_WORKER_RUNNABLE;
	return hotspot->wait == WIRE_WAIT_NONE ? ANA_WORKER_CPU : ana_worker_blocked(hotspot->wait);
}

static bool of_worker(const struct ana_hotspot *hotspot)
{
	return ana_class_is_input(hotspot->class) &&
	       (hotspot->role == WIRE_ROLE_WORKER || hotspot->role == WIRE_ROLE_WORKER_OTHER);
}

/* The largest takes what rounding left, so that they sum to a whole. */
static void set_shares(struct view_summary *s)
{
	int64_t ns[ANA_WORKER_STATES] = { 0 }, sum = 0, rest = 1000000, *ppm = s->loader.share_ppm;
	int most = 0;

	for (size_t i = 0; i < s->result->hotspots; i++) {
		const struct ana_hotspot *hotspot = &s->result->hotspot[i];
		if (!of_worker(hotspot))
			continue;
		ns[state_of(hotspot)] += hotspot->ns;
		sum += hotspot->ns;
	}
	for (int k = 0; sum && k < ANA_WORKER_STATES; k++) {
		ppm[k] = base_ppm(ns[k], sum);
		rest -= ppm[k];
		if (ns[k] > ns[most])
			most = k;
	}
	if (sum)
		ppm[most] += rest;
}

static int64_t rate_of(const struct ana_target *t)
{
	if (!t->bytes || t->read_ns <= 0)
		return -1;
	return (int64_t)((unsigned __int128)t->bytes * NS_PER_S / (uint64_t)t->read_ns);
}

static void set_files(struct view_summary *s)
{
	const struct ana_result *r = s->result;
	struct view_loader *l = &s->loader;

	l->file = base_arena_array(&s->mem, r->targets, sizeof(*l->file));
	for (size_t i = 0; i < r->targets; i++)
		l->file[l->files++] = (struct view_file){
			.path = base_arena_text(&s->mem, r->target[i].name),
			.fs = base_arena_text(&s->mem, r->target[i].fs),
			.blocked_ns = r->target[i].ns,
			.samples = r->target[i].samples,
			.bytes_per_s = rate_of(&r->target[i]),
		};
}

/* One that took the place of another is no second one. */
static bool in_turn(const struct ana_result *r)
{
	int64_t trainers = 0;

	for (size_t i = 0; i < r->processes; i++)
		trainers += r->process[i].role && !strcmp(r->process[i].role, "trainer");
	return trainers > view_trainers_at_once(r, false);
}

/* That used the loader side by side. */
static int64_t trainers_of(const struct view_summary *s, const struct ana_loader_facts *l)
{
	int64_t n = l->trainers;

	if (s->loader.trainers)
		return s->loader.trainers;
	if (in_turn(s->result))
		n = base_min(n, view_trainers_at_once(s->result, false));
	return base_max(1, n);
}

/* Batches that came while kernels were recorded: what is known of GPUs is of that time. */
static uint64_t recorded(const struct ana_result *r)
{
	return r->batches - base_min(r->unrecorded.batches, r->batches);
}

/* Summed over GPUs, to the part of one trainer and batch. */
static int64_t per_batch(const struct view_summary *s, const struct ana_loader_facts *l,
			 int64_t gpu_sum_ns)
{
	const struct ana_result *r = s->result;
	__int128 den = (__int128)recorded(r) * r->gpus;

	return den ? base_div_even((__int128)gpu_sum_ns * trainers_of(s, l), den) : 0;
}

/*
 * Of one of the trainers: side by side they take the same steps, and each of these a batch of its
 * own. One that was requeued is several processes and one rank; of a model that lies on several
 * GPUs one process has the loader.
 */
static uint64_t batches_of_each(const struct view_summary *s, const struct ana_loader_facts *l)
{
	int64_t trainers = base_min(trainers_of(s, l), s->ranks);

	return recorded(s->result) / (uint64_t)base_max(1, trainers);
}

/* What a batch of a trainer waited within collectives for others, whose loaders were late. */
static int64_t waits_for_ranks(const struct view_summary *s, const struct ana_loader_facts *l)
{
	int64_t ns = 0;

	for (int c = 0; c < ANA_CLASSES; c++)
		if (ana_class_is_input(c))
			view_cost_add(&ns, s->result->skew_causes[c]);
	return per_batch(s, l, ns);
}

/*
 * A median over steps tells something of batches only where each step of a trainer takes one. And
 * only waits for its own loader are taken from a step: where those for other ranks' are more than a
 * small part of it, nobody knows how long it is without any.
 */
static int64_t fed_median(const struct view_summary *s, const struct ana_loader_facts *l)
{
	const struct ana_result *r = s->result;
	uint64_t n = batches_of_each(s, l);
	uint64_t steps = r->unrecorded.ns ? r->unrecorded.steps_recorded : r->steps;
	bool one_each = steps > n / 10 * 9 && steps / 10 * 9 < n;

	if (!one_each || waits_for_ranks(s, l) > r->step_fed_median_ns / RANKS_PARTS)
		return -1;
	return r->step_fed_median_ns;
}

/* Waits of GPUs for their own loaders, and inside collectives for ranks that waited for theirs. */
static int64_t exposed_ns(const struct view_summary *s)
{
	const struct ana_result *r = s->result;
	int64_t ns = 0;

	for (size_t i = 0; i < r->gpus; i++)
		view_cost_add(&ns, r->gpu[i].loader_exposed_ns);
	for (int c = 0; c < ANA_CLASSES; c++)
		if (ana_class_is_input(c))
			view_cost_add(&ns, r->skew_causes[c]);
	return ns;
}

/*
 * From the first operation to the last, less what processes that came one after another took to end
 * and to start between them: nobody made a batch for a GPU then.
 */
static int64_t fed_span_ns(const struct ana_gpu *g, bool turns)
{
	int64_t apart = 0, outside = g->held_ns - g->span_ns - view_gpu_after_last_ns(g);

	if (!turns)
		return g->span_ns;
	view_cost_add(&apart, g->classes[ANA_EXCLUDED_STARTUP]);
	view_cost_add(&apart, g->classes[ANA_EXCLUDED_TEARDOWN]);
	view_cost_add(&apart, g->classes[ANA_EXCLUDED_NO_PROCESS]);
	apart = base_max(0, apart - base_max(0, outside));
	return g->span_ns - base_min(apart, g->span_ns);
}

static void set_facts(struct view_summary *s, const struct ana_loader_facts *l)
{
	const struct ana_result *r = s->result;
	struct view_worker_facts *f = &s->loader.facts;
	int64_t span = 0, made = (int64_t)l->made;
	bool turns = in_turn(r);

	for (size_t i = 0; i < r->gpus; i++)
		span += fed_span_ns(&r->gpu[i], turns);
	span = base_max(span - r->unrecorded.span_ns, 0);
	int64_t own = l->fetch_ns - l->fetch_delay_ns;

	f->workers = l->workers;
	f->fetch_ns = base_div_even(own > l->fetch_cpu_ns ? own : l->fetch_cpu_ns, made);
	f->fetch_cpu_ns = base_div_even(l->fetch_cpu_ns, made);
	f->fetch_delay_ns = base_div_even(l->fetch_delay_ns, made);
	f->fetch_slow_ns = base_max(l->fetch_p95_ns, 0);
	f->step_ns = per_batch(s, l, span);
	f->wait_ns = per_batch(s, l, exposed_ns(s));
	f->fed_median_ns = fed_median(s, l);
	f->cores = r->cpus / base_max(1, view_trainers_at_once(r, true)); /* which share them */
	if (r->cpus && !f->cores)
		f->cores = 1;
}

/*
 * The first worker, for which no core is to spare: it would compute beside the training, copy its
 * batches to shared memory as the main process did not, and hide only a part of the waits.
 */
static bool first_brings_little(const struct view_loader *v)
{
	int64_t spared = v->facts.step_ns - v->need.predicted_step_ns;

	return !v->facts.workers && v->need.advised == 1 &&
	       (__int128)spared * FIRST_OF < (__int128)v->facts.wait_ns * FIRST_PARTS;
}

bool view_loader_wants_cores(const struct view_summary *s)
{
	const struct view_loader *v = &s->loader;

	return v->has_need && v->need.bound == VIEW_WORKERS_CORES &&
	       (v->need.advised <= v->facts.workers || first_brings_little(v)) &&
	       v->need.cores_needed > v->facts.cores &&
	       !view_worker_count_is_beyond(&v->facts, &v->need);
}

int64_t view_loader_pace_ns(const struct view_summary *s, bool *median)
{
	const struct view_worker_facts *f = &s->loader.facts;
	int64_t fed = f->step_ns - f->wait_ns;

	*median = f->fed_median_ns > 0 && f->fed_median_ns < fed;
	return *median ? f->fed_median_ns : fed;
}

bool view_loader_by_socket(const struct view_summary *s)
{
	for (size_t i = 0; i < s->findings; i++)
		if (s->finding[i].class == ANA_INPUT_FETCH && s->finding[i].where.known)
			return s->finding[i].where.wait == WIRE_WAIT_SOCKET;
	return false;
}

/* A time of each batch, over all batches and GPUs. */
static __int128 of_all(const struct view_summary *s, const struct ana_loader_facts *l,
		       int64_t each_ns)
{
	const struct ana_result *r = s->result;

	return (__int128)each_ns * (__int128)recorded(r) * (__int128)r->gpus / trainers_of(s, l);
}

int64_t view_loader_spared_ns(const struct view_summary *s, int64_t then_ns)
{
	const struct ana_loader_facts *l = view_loader_facts(s);
	int64_t exposed = exposed_ns(s), most = exposed < s->starved_ns ? exposed : s->starved_ns;
	__int128 ns;

	if (!l || !s->loader.has_need)
		return 0;
	ns = of_all(s, l, s->loader.facts.step_ns - then_ns);
	return ns > most ? most : (int64_t)ns;
}

int64_t view_loader_each_ns(const struct view_summary *s, int64_t all_ns)
{
	const struct ana_loader_facts *l = view_loader_facts(s);

	return l ? per_batch(s, l, all_ns) : 0;
}

int64_t view_loader_inline_ns(const struct view_summary *s)
{
	const struct ana_loader_facts *l = view_loader_facts(s);
	const struct view_worker_facts *f = &s->loader.facts;
	int64_t hidden, more;
	__int128 ns;

	if (!l || !s->loader.has_need || !recorded(s->result))
		return 0;
	hidden = base_div_even(l->take_ns, (__int128)s->result->batches) - f->wait_ns;
	more = f->fetch_ns - base_max(hidden, 0);
	ns = of_all(s, l, base_max(more, 0));
	return ns > s->result->gpu_ns ? s->result->gpu_ns : (int64_t)ns;
}

static void set_saving(struct view_summary *s)
{
	struct view_loader *v = &s->loader;

	v->saving_ns = view_loader_spared_ns(s, v->need.predicted_step_ns);
	v->saving_least_ns = view_loader_spared_ns(s, v->need.most_step_ns);
	if (s->cost.known && s->starved_ns)
		v->saving_nano_usd =
			base_div_even((__int128)s->cost.starved * v->saving_ns, s->starved_ns);
}

/* Workers that make batches all the time are what the step waits for. */
static void set_busy(struct view_loader *v)
{
	v->busy_ppm =
		v->facts.workers ? base_ppm(v->fetch_ns, v->facts.step_ns * v->facts.workers) : -1;
	if (v->busy_ppm > 1000000)
		v->busy_ppm = 1000000;
}

static void set_bytes(struct view_summary *s, const struct ana_loader_facts *l)
{
	struct view_loader *v = &s->loader;
	int64_t fed = v->facts.step_ns - v->facts.wait_ns;

	if (!l->rchar_bytes)
		return;
	v->batch_bytes = base_div_even((__int128)l->rchar_bytes, (__int128)l->made);
	if (l->read_bytes) /* 0 may mean that the kernel does not tell */
		v->disk_ppm = l->read_bytes >= l->rchar_bytes
				      ? 1000000
				      : base_ppm((int64_t)l->read_bytes, (int64_t)l->rchar_bytes);
	if (!v->has_need)
		return;
	v->read_bytes_per_s = base_div_even((__int128)v->batch_bytes * NS_PER_S, v->facts.step_ns);
	v->needed_bytes_per_s = base_div_even((__int128)v->batch_bytes * NS_PER_S, fed);
}

void view_loader_add(struct view_summary *s)
{
	const struct ana_loader_facts *l = view_loader_facts(s);
	struct view_loader *v = &s->loader;

	v->fetch_ns = v->batch_bytes = v->disk_ppm = -1;
	v->read_bytes_per_s = v->needed_bytes_per_s = -1;
	set_shares(s);
	set_files(s);
	if (!l || !l->made)
		return;
	v->trainers = trainers_of(s, l);
	v->fetch_ns = base_div_even(l->fetch_ns, (__int128)l->made);
	if (l->known & ANA_LOADER_WORKERS) {
		set_facts(s, l);
		v->has_need = view_worker_count_find(&v->facts, &v->need);
	}
	if (v->has_need) {
		set_busy(v);
		set_saving(s);
	}
	set_bytes(s, l);
}
