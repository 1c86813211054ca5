/* SPDX-License-Identifier: Apache-2.0 */
/* How many loader workers, and on how many cores: one proposal, by what a worker waits for. */
#include <inttypes.h>

#include "advice.h"
#include "findings.h"
#include "gain.h"
#include "loader.h"
#include "base/minmax.h"
#include "base/units.h"
#include "wire/evidence.h"

#define STARVED_PPM 400000 /* of starved time or of making a batch: without a CPU */
#define LOCKED_PPM 50000 /* of the starved time: workers wait for each other */

/* Somebody was making the batch, or may have been: what more workers share. */
static const enum ana_class making[] = { ANA_INPUT_UNKNOWN, ANA_INPUT_FETCH, ANA_INPUT_PREP };
#define MAKING (sizeof(making) / sizeof(making[0]))

static int64_t making_ns(const struct view_summary *s)
{
	int64_t ns = 0;

	for (size_t i = 0; i < MAKING; i++)
		view_cost_add(&ns, view_advice_ns(s, making[i]));
	return ns;
}

/* What a loader that keeps up would have spared. */
static int64_t sparable_ns(const struct view_summary *s)
{
	int64_t ns = 0;

	for (int c = 0; c < ANA_CLASSES; c++)
		if (ana_class_wants_workers(c))
			view_cost_add(&ns, view_advice_ns(s, (enum ana_class)c));
	return ns;
}

/* Workers that want a CPU and get none would be more of the same; rows tell it exactly. */
bool view_advice_workers_starved(const struct view_summary *s)
{
	const struct ana_loader_facts *l = view_loader_facts(s);

	return base_ppm(view_advice_ns(s, ANA_INPUT_CPU_STARVED), s->starved_ns) >= STARVED_PPM ||
	       (l && base_ppm(l->fetch_delay_ns, l->fetch_ns) >= STARVED_PPM);
}

/* They have nothing to do for much of the time: not workers are missing, but work for them. */
static bool workers_idle(const struct view_summary *s)
{
	return view_advice_ns(s, ANA_INPUT_PIPELINE) >= making_ns(s) &&
	       s->loader.busy_ppm < VIEW_BUSY_PPM;
}

/* Do workers wait for each other? Then more of them wait longer. */
bool view_advice_workers_serialised(const struct view_summary *s)
{
	const struct ana_result *r = s->result;
	int64_t ns = 0;

	for (size_t i = 0; i < r->hotspots; i++) {
		const struct ana_hotspot *hotspot = &r->hotspot[i];
		if (hotspot->class == ANA_INPUT_PIPELINE && hotspot->role == WIRE_ROLE_WORKER &&
		    (hotspot->wait == WIRE_WAIT_LOCK_SHARED || hotspot->wait == WIRE_WAIT_LOCK))
			ns += hotspot->ns;
	}
	return base_ppm(ns, s->starved_ns) >= LOCKED_PPM;
}

/* The first worker takes the making out of the step, whatever it is slowed down by. */
bool view_advice_more_workers(const struct view_summary *s)
{
	const struct view_loader *v = &s->loader;

	return v->has_need && v->need.advised > v->facts.workers && !view_loader_wants_cores(s) &&
	       v->need.predicted_step_ns < v->facts.step_ns &&
	       (!v->facts.workers || (!view_advice_workers_starved(s) && !workers_idle(s) &&
				      !view_advice_workers_serialised(s)));
}

/*
 * The cores carry no more of them: more of both. Workers that get no CPU have advice of their own.
 */
bool view_advice_more_cores(const struct view_summary *s)
{
	return view_loader_wants_cores(s) && !view_advice_workers_starved(s) && !workers_idle(s) &&
	       !view_advice_workers_serialised(s);
}

bool view_batches_bind(const struct view_summary *s)
{
	return s->loader.has_need && s->loader.facts.workers &&
	       s->loader.busy_ppm >= VIEW_BUSY_PPM &&
	       (view_advice_more_workers(s) || view_advice_more_cores(s));
}

static enum ana_class largest_of_making(const struct view_summary *s)
{
	enum ana_class best = making[0];

	for (size_t i = 1; i < MAKING; i++)
		if (view_advice_ns(s, making[i]) > view_advice_ns(s, best))
			best = making[i];
	return best;
}

/*
 * What the cores have to do with it: a worker that waits needs none, one that computes needs one
 * for itself.
 */
static const char *cores_why(struct view_summary *s)
{
	const struct view_loader *v = &s->loader;
	const char *busy = view_gain_busy(s, &s->mem);
	int64_t cores = v->facts.cores;

	if (!busy || cores <= 0 || (v->need.bound == VIEW_WORKERS_STEP && v->need.advised < cores))
		return "";
	if (view_loader_wants_cores(s))
		return base_arena_printf(&s->mem,
					 "; %s, so that they want %" PRId64 " cores (now %" PRId64
					 "), one of them for the main process",
					 busy, v->need.cores_needed, cores);
	if (v->need.bound != VIEW_WORKERS_CORES)
		return base_arena_printf(&s->mem, "; %s, so that %" PRId64 " core%s them", busy,
					 cores, cores == 1 ? " carries" : "s carry");
	return base_arena_printf(&s->mem,
				 "; %s, so that %" PRId64 " core%s carr%s no more than %" PRId64,
				 busy, cores, cores == 1 ? "" : "s", cores == 1 ? "ies" : "y",
				 v->need.advised);
}

/* The arithmetic in words. */
static const char *need_why(struct view_summary *s, const struct view_advice *a)
{
	const struct view_loader *v = &s->loader;
	const struct view_worker_facts *f = &v->facts;
	bool median;
	int64_t pace = view_loader_pace_ns(s, &median);
	int64_t saved = view_gain_of_steps(s, a, a->class, a->saving_ns);
	const char *then = view_gain_lengths(s, &s->mem, saved);
	const char *times = view_gain_words(s, &s->mem, saved, 0);
	base_unit fetch, step;

	base_duration(fetch, f->fetch_ns);
	base_duration(step, pace);
	return base_arena_printf(
		&s->mem,
		"%s takes %s for a batch%s takes %s%s: %s / %s, rounded up: %" PRId64
		" worker%s keep%s up (now %" PRId64 ")%s%s%s%s%s",
		f->workers ? "a worker" : "the main process", fetch,
		median ? " on average, and the median step without its wait"
		       : ", and a step without its wait",
		step, median ? "" : ", both on average", fetch, step, v->need.needed,
		v->need.needed == 1 ? "" : "s", v->need.needed == 1 ? "s" : "", f->workers,
		v->need.bound == VIEW_WORKERS_LIMIT
			? base_arena_printf(&s->mem, ", but a sensible limit is %" PRId64,
					    v->need.advised)
			: "",
		cores_why(s), then ? ". " : "", then ? then : "",
		then && times ? base_arena_printf(&s->mem, ": %s", times) : "");
}

/* One source for all workers may be what is slow: its share per worker then falls. */
static const char *if_source_serves(struct view_summary *s)
{
	const struct view_loader *v = &s->loader;
	base_unit rate;

	if (view_loader_by_socket(s))
		return ", if the server answers so many at a time";
	if (v->needed_bytes_per_s <= 0)
		return ", if the storage serves them as fast";
	/* Of what keeps up, as everywhere: fewer workers ask for less. */
	return base_arena_printf(
		&s->mem, ", if the storage serves them %s%s/s",
		v->need.bound == VIEW_WORKERS_STEP ? "" : "as much as they ask for, up to ",
		base_bytes(rate, (uint64_t)v->needed_bytes_per_s));
}

/* What a first worker on the cores here would do (view_loader_wants_cores). */
static const char *first_here(struct view_summary *s)
{
	const struct view_worker_facts *f = &s->loader.facts;
	base_unit spared, wait;

	if (f->workers)
		return "";
	base_duration(spared, f->step_ns - s->loader.need.predicted_step_ns);
	return base_arena_printf(
		&s->mem,
		" (a first worker here would hide at most %s of the %s that a step waits, and copies each "
		"batch to shared memory besides)",
		spared, base_duration(wait, f->wait_ns));
}

/* "set num_workers=16"; with cores where they are what is missing. */
static void set_words(struct view_summary *s, struct view_advice *a)
{
	const struct view_loader *v = &s->loader;
	const struct view_worker_count *n = &v->need;
	int64_t cores = v->facts.cores;
	const char *survive = v->facts.workers ? "" : " and persistent_workers=True";
	const char *serves = view_advice_asks_source(s, a) ? if_source_serves(s) : "";

	if (view_loader_wants_cores(s)) {
		a->id = "workers-and-cores";
		a->title = "More loader workers, and cores for them";
		a->action = base_arena_printf(&s->mem,
					      "ask for %" PRId64 " cores (now %" PRId64
					      ") and set num_workers=%" PRId64 " (now %" PRId64
					      "): one without the other brings little%s%s",
					      n->cores_needed, cores, n->needed, v->facts.workers,
					      first_here(s), serves);
		a->brief = base_arena_printf(&s->mem,
					     "num_workers %" PRId64 " -> %" PRId64 " and %" PRId64
					     " -> %" PRId64 " cores",
					     v->facts.workers, n->needed, cores, n->cores_needed);
		return;
	}
	a->action = base_arena_printf(
		&s->mem, "set num_workers=%" PRId64 "%s%s%s", n->advised, survive, serves,
		n->bound == VIEW_WORKERS_CORES && n->cores_needed > cores
			? base_arena_printf(&s->mem,
					    "; with %" PRId64 " cores %" PRId64 " would keep up",
					    n->cores_needed, n->needed)
			: "");
	a->brief = base_arena_printf(
		&s->mem, "num_workers %" PRId64 " -> %" PRId64 "%s", v->facts.workers, n->advised,
		n->bound != VIEW_WORKERS_CORES ? ""
		: cores == 1		       ? " on the core here"
			     : base_arena_printf(&s->mem, " on the %" PRId64 " cores here", cores));
}

bool view_advise_workers(struct view_summary *s, struct view_advice *a)
{
	const struct view_loader *v = &s->loader;
	int64_t most = sparable_ns(s);
	bool cores = view_advice_more_cores(s);

	if (!view_advice_more_workers(s) && !cores)
		return false;
	a->id = "workers";
	a->title = v->facts.workers ? "More loader workers" : "Load in worker processes";
	a->class = largest_of_making(s);
	a->with_need = true;
	set_words(s, a);
	a->saving_ns =
		base_min(cores ? view_loader_spared_ns(s, v->facts.step_ns - v->facts.wait_ns)
			       : v->saving_ns,
			 most);
	/* One source for all may give no more to many than to one; and nobody saw those cores. */
	a->saving_least_ns = cores || view_advice_asks_source(s, a)
				     ? 0
				     : base_min(v->saving_least_ns, a->saving_ns);
	if (s->starved_ns)
		a->saving_nano_usd =
			base_div_even((__int128)s->cost.starved * a->saving_ns, s->starved_ns);
	a->why = need_why(s, a);
	return true;
}

/* The general advice names workers too: only where nothing better is known. */
bool view_advise_unknown(struct view_summary *s, struct view_advice *a)
{
	const struct view_loader *v = &s->loader;
	base_unit fetch, step;

	if (view_advice_more_workers(s) || view_advice_more_cores(s))
		return false;
	if (!v->has_need || v->need.needed > v->facts.workers)
		return !view_advice_workers_starved(s) && !view_advice_workers_serialised(s);
	a->brief = "a larger prefetch_factor";
	a->action = base_arena_printf(
		&s->mem,
		"%" PRId64 " workers are enough on average (%s per batch and worker, a step each "
		"%s): raise prefetch_factor to bridge slow batches",
		v->facts.workers, base_duration(fetch, v->facts.fetch_ns),
		base_duration(step, v->facts.step_ns));
	return true;
}
