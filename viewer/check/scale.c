/* SPDX-License-Identifier: Apache-2.0 */
#include "scale.h"

#include "base/minmax.h"
#include "base/units.h"
#include "cores.h"
#include "findings/loader.h"

#define PPM 1000000
#define NS_PER_HOUR 3600000000000
/*
 * The loader sets the pace where a step waits for this part of itself, and workers rest no longer.
 */
#define STARVING_PPM 50000
#define WORKING_PPM 850000
/*
 * Threads that wake one after the other until a batch is there: the worker's feeder writes to the
 * pipe, the trainer reads it, the worker hands over the memory's descriptor, the trainer takes
 * that.
 */
#define HANDOVERS 4

struct facts { /* of one trainer, per step */
	int64_t step, wait, fed, fed_least, compute;
	int64_t copy; /* of fed: the batch to the GPU, which starves it all the same */
	int64_t workers, fetch, fetch_least, cpu, cores;
	int64_t batches, ahead; /* made in all; of these, made before the first was asked for */
};

/* The step's part in which kernels ran: what a faster GPU shortens. */
static int64_t compute_of(const struct ana_result *r, int64_t step)
{
	__int128 span = 0, compute = 0;

	for (size_t i = 0; i < r->gpus; i++) {
		span += r->gpu[i].span_ns;
		compute += r->gpu[i].compute_ns;
	}
	return span > 0 ? base_div_even(compute * step, span) : 0;
}

/*
 * What a batch usually takes. A worker's first one imports modules and fills caches: where all but
 * the slowest twentieth are alike, the median tells more than the mean.
 */
static int64_t usual_fetch(const struct view_summary *s, const struct ana_loader_facts *l)
{
	if (l->fetch_median_ns > 0 && l->fetch_p95_ns <= l->fetch_median_ns / 2 * 3)
		return l->fetch_median_ns;
	return base_max(s->loader.fetch_ns, s->loader.facts.fetch_ns);
}

/* Of a step, the copy of its batch to the GPU: input, too, and no wait for the loader. */
static int64_t copy_of(const struct ana_result *r, const struct facts *f)
{
	__int128 steps = (__int128)r->gpus * r->steps;

	return steps > 0 ? base_min(base_div_even(r->classes[ANA_INPUT_H2D], steps), f->fed - 1)
			 : 0;
}

static bool gather(const struct view_summary *s, struct facts *f, const char **why)
{
	const struct ana_loader_facts *l = view_loader_facts(s);
	const struct view_worker_facts *n = &s->loader.facts;

	*why = "its kernels were not recorded for a part of the run";
	if (s->result->unrecorded.ns)
		return false;
	*why = "the loader was not seen making batches";
	if (!l || !s->loader.has_need || n->step_ns <= 0)
		return false;
	f->step = n->step_ns;
	f->wait = base_min(n->wait_ns, n->step_ns - 1);
	f->fed = f->step - f->wait;
	f->fed_least = n->fed_median_ns > 0 ? base_min(f->fed, n->fed_median_ns) : f->fed;
	f->compute = base_min(compute_of(s->result, f->step), f->fed);
	f->copy = copy_of(s->result, f);
	f->workers = n->workers;
	f->fetch = usual_fetch(s, l);
	f->fetch_least =
		l->fetch_median_ns > 0 ? base_min(n->fetch_ns, l->fetch_median_ns) : n->fetch_ns;
	f->batches = (int64_t)(l->made / (l->trainers ? l->trainers : 1));
	f->ahead = l->known & ANA_LOADER_PREFETCH ? (int64_t)l->prefetch * l->workers : 0;
	f->cpu = n->fetch_cpu_ns;
	f->cores = n->cores;
	return true;
}

static bool starving(const struct facts *f)
{
	return base_ppm(f->wait, f->step) >= STARVING_PPM && f->workers > 0 &&
	       base_ppm(f->fetch / f->workers, f->step) >= WORKING_PPM;
}

/* CPU time per batch over the cores that each trainer has once they are shared by more. */
static int64_t cores_bound(const struct facts *f, int64_t ranks_now, int64_t ranks)
{
	if (f->cores <= 0 || f->cpu <= 0)
		return 0;
	return base_div_even((__int128)f->cpu * ranks, (__int128)f->cores * ranks_now);
}

static int64_t faster(int64_t fed, int64_t compute, int64_t faster_ppm)
{
	int64_t left = base_div_even((__int128)compute * PPM, faster_ppm);

	return base_max(1, fed - compute + left);
}

/*
 * The loader's time for a batch as it showed itself, and at the very least. A short run gains from
 * the batches that were ready when its first step began.
 */
static void loader_pace(const struct facts *f, int64_t ranks_now, int64_t ranks, int64_t *usual,
			int64_t *least)
{
	int64_t cores = cores_bound(f, ranks_now, ranks);
	int64_t left = base_max(1, f->batches - base_min(f->ahead, f->batches));

	*usual = base_max(starving(f) ? f->step : f->fetch / f->workers, cores);
	*least = base_div_even((__int128)base_max(f->fetch_least / f->workers, cores) * left,
			       base_max(1, f->batches));
}

/* What the hand-overs of a batch wait for cores, with so many ranks and steps of @step. */
static int64_t handovers(const struct facts *f, int64_t ranks_now, int64_t ranks, __int128 step)
{
	__int128 used = (__int128)f->cpu * ranks * PPM / step;

	return HANDOVERS * check_cores_wait_ns(used < INT64_MAX ? (int64_t)used : INT64_MAX,
					       f->cores * ranks_now);
}

/*
 * The waits that more ranks add to @step. The longer a step, the emptier the cores: the shortest
 * step that has room for its own waits is searched for.
 */
static int64_t crowding(const struct facts *f, int64_t ranks_now, int64_t ranks, int64_t step)
{
	int64_t now = handovers(f, ranks_now, ranks_now, f->step), low = 0, high = step;

	if (ranks <= ranks_now || f->cpu <= 0)
		return 0;
	while (high < CHECK_CORES_FULL_NS &&
	       handovers(f, ranks_now, ranks, (__int128)step + high) - now > high)
		high *= 2;
	while (low < high) {
		int64_t middle = low + (high - low) / 2;
		if (handovers(f, ranks_now, ranks, (__int128)step + middle) - now > middle)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int64_t price_per_hour(const struct view_summary *s)
{
	int64_t sum = 0;

	if (!s->cost.known)
		return -1;
	for (size_t i = 0; i < s->cost.gpus; i++)
		view_cost_add(&sum, s->cost.rate[i].nano_usd_per_hour);
	return sum;
}

bool check_scale_predict(const struct view_summary *s, const struct check_scale *q,
			 struct check_prediction *p, const char **why)
{
	struct facts f;
	int64_t least;

	*p = (struct check_prediction){ 0 };
	if (!gather(s, &f, why))
		return false;
	p->ranks_now = base_max(1, s->ranks);
	p->ranks = q->ranks > 0 ? q->ranks : p->ranks_now;
	p->step_now_ns = f.step;
	p->fed_ns = faster(f.fed, f.compute, q->faster_ppm);
	int64_t fed_least = faster(f.fed_least, base_min(f.compute, f.fed_least), q->faster_ppm);
	if (f.workers > 0) {
		loader_pace(&f, p->ranks_now, p->ranks, &p->loader_ns, &least);
		p->loader_least_ns = least;
		/*
		 * What a loader that keeps up lets wait all the same (at its start) it will again.
		 */
		p->step_ns = base_max(p->fed_ns + (starving(&f) ? 0 : f.wait), p->loader_ns);
		least = base_max(fed_least, least);
	} else { /* the trainer makes them itself, between steps */
		p->loader_ns = base_max(f.wait, cores_bound(&f, p->ranks_now, p->ranks));
		p->step_ns = p->fed_ns + p->loader_ns;
		least = fed_least + base_min(f.wait, f.fetch_least);
	}
	p->bound_by_loader = f.workers > 0 ? p->step_ns == p->loader_ns : p->loader_ns > 0;
	p->bound_by_cores =
		p->bound_by_loader && p->loader_ns == cores_bound(&f, p->ranks_now, p->ranks);
	if (f.workers > 0) {
		p->cores_ns = crowding(&f, p->ranks_now, p->ranks, p->step_ns);
		p->step_ns += p->cores_ns;
	}
	p->starved_ppm =
		base_ppm(base_min(p->step_ns, p->step_ns - p->fed_ns + f.copy), p->step_ns);
	p->gain_most_ppm = base_max(0, base_div_even((__int128)f.step * p->ranks * PPM,
						     (__int128)base_max(1, least) * p->ranks_now) -
					       PPM);
	int64_t price = price_per_hour(s);
	p->nano_usd_per_1k_steps =
		price < 0 ? -1
			  : base_div_even((__int128)price * p->ranks * p->step_ns * 1000,
					  (__int128)NS_PER_HOUR * p->ranks_now);
	return true;
}
