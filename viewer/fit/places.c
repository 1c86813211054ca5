/* SPDX-License-Identifier: Apache-2.0 */
#include "places.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "analysis/evidence/taking.h"
#include "base/minmax.h"
#include "base/units.h"
#include "check/scale.h"
#include "cost/rates.h"
#include "findings/loader.h"
#include "peaks.h"

#define PPM 1000000
#define THOUSAND_STEPS 1000
/* What a step takes without waits is no more than this part longer than half of them take. */
#define FED_PARTS 8
/* Its driver, and what is allocated in whole pieces, take a part of a GPU's memory. */
#define MEMORY_PARTS 14
/* An interval so many times as high as low tells nothing that one could act upon. */
#define WIDE_PPM (3 * PPM)

/*
 * -- the run ------------------------------------------------------------------------------------
 */

static const char *same_name(const struct ana_result *r)
{
	char key[160], other[160];

	view_gpu_key(key, sizeof(key), r->gpu[0].name ? r->gpu[0].name : "");
	for (size_t i = 0; i < r->gpus; i++) {
		view_gpu_key(other, sizeof(other), r->gpu[i].name ? r->gpu[i].name : "");
		if (strcmp(key, other) != 0)
			return "its GPUs are of several kinds";
		if (r->gpu[i].mig_profile)
			return "it ran on a part of a GPU (MIG)";
		if (r->gpu[i].shared_with)
			return "others used its GPUs, too";
	}
	return key[0] ? NULL : "nothing says what GPUs it had";
}

static void read_memory(struct fit *f, const struct ana_result *r)
{
	for (size_t i = 0; i < r->gpus; i++) {
		if (r->gpu[i].memory_used_peak_bytes > f->memory_peak_bytes)
			f->memory_peak_bytes = r->gpu[i].memory_used_peak_bytes;
		if (r->gpu[i].memory_total_bytes > f->memory_total_bytes)
			f->memory_total_bytes = r->gpu[i].memory_total_bytes;
	}
}

/* What came behind the last kernel comes once, and is no part of a step; a server has no steps. */
static int64_t once_ns(const struct view_summary *s)
{
	const struct view_kind *k = &s->kind;

	return k->kind == FACTS_RUN_INFERENCE ? 0
					      : k->after_last_ns - k->after_last[ANA_HOST_NO_WORK];
}

static const char *read_run(struct fit *f, const struct view_summary *s)
{
	const struct ana_result *r = s->result;
	const char *why = r->gpus ? same_name(r) : "it used no GPU";
	int64_t all;

	if (why)
		return why;
	f->gpus = (int64_t)r->gpus;
	if (s->kind.kind == FACTS_RUN_INFERENCE)
		f->requests_ns = r->classes[ANA_HOST_NO_WORK] / f->gpus;
	all = view_working_ns(s) - once_ns(s) + f->requests_ns * f->gpus;
	f->own_name = r->gpu[0].name;
	f->own = fit_gpus_find(&f->table, f->own_name);
	f->steps = r->steps;
	f->train_ns = all / f->gpus;
	f->outside_ns = (r->gpu_ns - all) / f->gpus;
	f->work_ns = (int64_t)(ana_class_sum(r->classes, ana_class_is_busy) +
			       r->classes[ANA_INPUT_H2D]) /
		     f->gpus;
	read_memory(f, r);
	return f->train_ns > 0 ? NULL : "its GPUs did no work";
}

/*
 * -- what holds of any GPU ----------------------------------------------------------------------
 */

/* A loader of workers that sets the pace of the run as it is. */
static bool loader_paces(const struct view_summary *s, struct check_prediction *p)
{
	const struct check_scale as_it_is = { .faster_ppm = PPM };
	const char *why;

	return s->loader.has_need && s->loader.facts.workers > 0 &&
	       check_scale_predict(s, &as_it_is, p, &why) && p->bound_by_loader &&
	       p->loader_ns >= p->step_now_ns;
}

/*
 * Whether half of the steps take, without their waits, nearly what they do on average. A median
 * over steps tells something of batches only where each step of a trainer takes one.
 */
static bool is_even(const struct view_summary *s, const struct ana_loader_facts *l)
{
	const struct view_worker_facts *n = &s->loader.facts;
	uint64_t steps = s->result->steps, batches = s->result->batches / base_max(1, l->trainers);
	int64_t median = s->result->step_fed_median_ns;

	return steps > batches / 10 * 9 && steps / 10 * 9 < batches && median > 0 &&
	       n->step_ns - n->wait_ns <= median + median / FED_PARTS;
}

/*
 * What the loader leaves of a step to the trainer's own work and the GPU's, if its batches come as
 * the fastest do (but a hundredth), and after the trainer took the batch: where they take no more,
 * the loader still sets the pace of each step. 0: not known, or what the GPU does in one differs.
 */
static int64_t room(const struct view_summary *s, const struct check_prediction *p)
{
	const struct ana_loader_facts *l = view_loader_facts(s);
	int64_t workers = base_max(1, s->loader.facts.workers);
	int64_t hand = l ? ana_loader_hand_ns(l) : -1;

	if (hand < 0 || l->fetch_p1_ns <= 0 || !is_even(s, l))
		return 0;
	return base_max(0, base_min(p->loader_ns, l->fetch_p1_ns / workers) - hand);
}

/* So many times the steps, at most, as the loader's workers can make batches for, ppm; 0: any. */
static int64_t loader_most(const struct view_summary *s)
{
	const struct check_scale as_it_is = { .faster_ppm = PPM };
	struct check_prediction p;
	const char *why;

	if (!check_scale_predict(s, &as_it_is, &p, &why) || p.loader_least_ns <= 0)
		return 0;
	return base_max(PPM, base_ppm(p.step_now_ns, p.loader_least_ns));
}

static int64_t less_of(int64_t bound, int64_t other)
{
	return bound && other ? base_min(bound, other) : base_max(bound, other);
}

static void set_limits(struct fit *f, const struct view_summary *s)
{
	struct check_prediction p;
	const int64_t *c = s->result->classes;
	/* What nobody saw may have been work. */
	int64_t unseen = (c[ANA_EXCLUDED_UNOBSERVED] + c[ANA_DEVICE_LOST]) / f->gpus;
	int64_t idle = f->train_ns - base_min(f->work_ns + unseen, f->train_ns);

	f->faster_most_ppm = less_of(idle > 0 ? base_ppm(f->train_ns, idle) : 0, loader_most(s));
	f->slower_free_ppm = PPM;
	if (!loader_paces(s, &p))
		return;
	int64_t wait = base_max(0, room(s, &p) - p.fed_ns);
	int64_t work = base_div_even((base_wide)f->work_ns * p.step_now_ns, f->train_ns);
	if (work > 0)
		f->slower_free_ppm = base_ppm(work + wait, work);
}

/*
 * -- one GPU ------------------------------------------------------------------------------------
 */

/* What check/scale.h predicts where the work of a GPU takes @work_ns. */
static struct check_prediction at_speed(const struct fit *f, const struct view_summary *s,
					int64_t work_ns)
{
	const struct check_scale q = { .faster_ppm = base_max(1, base_ppm(f->work_ns,
									  base_max(1, work_ns))) };
	struct check_prediction p;
	const char *why;

	check_scale_predict(s, &q, &p, &why);
	return p;
}

/* The training time where each step takes so much longer. */
static int64_t longer(const struct fit *f, const struct check_prediction *p, int64_t ns)
{
	return f->train_ns + base_div_even((base_wide)f->train_ns * ns, p->step_now_ns);
}

/*
 * A loader that set the pace lets no step be shorter than its batch. It hides what fits in: a step
 * becomes longer by what the GPU takes beyond the room, at most, for one that waited for the GPU
 * becomes so from there on.
 */
static void narrow(struct fit_range *t, const struct fit *f, const struct view_summary *s,
		   struct fit_range work)
{
	struct check_prediction p;
	int64_t most = loader_most(s);

	if (most)
		t->low = base_max(t->low, base_div_even((base_wide)f->train_ns * PPM, most));
	t->low = base_min(t->low, t->high);
	if (!loader_paces(s, &p))
		return;
	int64_t more =
		base_div_even((base_wide)(work.high - f->work_ns) * p.step_now_ns, f->train_ns);
	t->high = base_min(t->high, longer(f, &p, base_max(0, p.fed_ns + more - room(s, &p))));
	p = at_speed(f, s, work.low);
	t->low = base_max(t->low,
			  base_div_even((base_wide)f->train_ns * PPM, PPM + p.gain_most_ppm));
	t->low = base_min(t->low, t->high);
}

static const char *time_on(struct fit_range *t, const struct fit *f, const struct view_summary *s,
			   const struct fit_gpu *b)
{
	struct fit_range d, work;
	const char *why = f->own ? fit_work(s, f->own, b, &d)
				 : "what the run's own GPU can do at most is not known";

	if (why)
		return why;
	d.low /= f->gpus;
	d.high /= f->gpus;
	work = (struct fit_range){ base_max(0, f->work_ns + d.low),
				   base_max(0, f->work_ns + d.high) };
	t->low = base_max(f->train_ns + base_min(d.low, 0), work.low);
	t->high = base_max(f->train_ns + base_max(d.high, 0), work.high);
	narrow(t, f, s, work);
	return t->low <= 0 || base_ppm(t->high, t->low) > WIDE_PPM ? "the range is too wide" : NULL;
}

static enum fit_memory memory_of(const struct fit *f, const struct fit_gpu *g)
{
	if (!f->memory_peak_bytes || !g->memory_bytes)
		return FIT_MEMORY_UNKNOWN;
	if (f->memory_peak_bytes > g->memory_bytes)
		return FIT_MEMORY_SHORT;
	return f->memory_peak_bytes <= g->memory_bytes - g->memory_bytes / MEMORY_PARTS
		       ? FIT_MEMORY_FITS
		       : FIT_MEMORY_UNKNOWN;
}

static struct fit_range cost_of(struct fit_range ns, int64_t nano_usd_per_hour, int64_t gpus,
				uint64_t of, uint64_t in)
{
	struct fit_range r;
	const base_wide hour = (base_wide)3600 * 1000000000 * (in ? in : 1);
	const base_wide each = (base_wide)nano_usd_per_hour * gpus * of;

	r.low = base_div_even(each * ns.low, hour);
	r.high = base_div_even(each * ns.high, hour);
	return r;
}

static void price_place(struct fit_place *p, const struct fit *f, int64_t nano_usd_per_hour)
{
	struct fit_range held = { p->train_ns.low + f->outside_ns,
				  p->train_ns.high + f->outside_ns };

	p->nano_usd = cost_of(held, nano_usd_per_hour, f->gpus, 1, 1);
	if (f->steps)
		p->nano_usd_per_1k_steps =
			cost_of(p->train_ns, nano_usd_per_hour, f->gpus, THOUSAND_STEPS, f->steps);
	p->has_usd = true;
}

static void set_time(struct fit_place *p, const struct fit *f, struct fit_range train)
{
	p->train_ns = train;
	if (f->steps)
		p->step_ns = (struct fit_range){ base_div_even(train.low, (base_wide)f->steps),
						 base_div_even(train.high, (base_wide)f->steps) };
}

static void set_other(struct fit_place *p, const struct fit *f, const struct view_summary *s,
		      const struct view_price *row)
{
	struct fit_range t = { 0, 0 };

	p->price = row;
	p->gpu = fit_gpus_find(&f->table, row->gpu);
	if (!p->gpu) {
		p->why = "what it can do at most is not known";
		return;
	}
	p->memory = memory_of(f, p->gpu);
	p->why = time_on(&t, f, s, p->gpu);
	if (p->why)
		return;
	set_time(p, f, t);
	price_place(p, f, row->nano_usd_per_hour);
}

/* The run as it was, at what it cost. */
static void set_own(struct fit_place *p, const struct fit *f, const struct view_summary *s)
{
	p->own = true;
	p->gpu = f->own;
	p->memory = FIT_MEMORY_FITS;
	set_time(p, f, (struct fit_range){ f->train_ns, f->train_ns });
	if (s->cost.known && s->cost.gpus)
		price_place(p, f, s->cost.rate[0].nano_usd_per_hour);
}

/*
 * -- which is cheapest --------------------------------------------------------------------------
 */

static bool is_known(const struct fit_place *p)
{
	return !p->why && p->has_usd;
}

static base_wide middle(const struct fit_place *p)
{
	return (base_wide)p->nano_usd.low + p->nano_usd.high;
}

static int cheapest_first(const void *left, const void *right)
{
	const struct fit_place *a = left, *b = right;

	if (is_known(a) != is_known(b))
		return is_known(a) ? -1 : 1;
	if (is_known(a) && middle(a) != middle(b))
		return middle(a) < middle(b) ? -1 : 1;
	if (a->own != b->own)
		return a->own ? -1 : 1;
	if (a->price && b->price) {
		int n = strcmp(a->price->gpu, b->price->gpu);
		return n ? n : strcmp(a->price->provider, b->price->provider);
	}
	return 0;
}

static bool is_choice(const struct fit_place *p)
{
	return is_known(p) && p->memory != FIT_MEMORY_SHORT &&
	       (!p->price || !view_price_is_guide(p->price));
}

/* Of the same GPU the time is the same, whatever it is. */
static bool is_cheaper(const struct fit_place *a, const struct fit_place *b)
{
	if (a->gpu == b->gpu && a->gpu)
		return a->nano_usd.high <= b->nano_usd.high;
	return a->nano_usd.high < b->nano_usd.low;
}

/* @a is cheaper than each other of which anything is known, and there is one. */
static bool is_cheapest(const struct fit *f, const struct fit_place *a)
{
	size_t others = 0;

	if (!is_choice(a))
		return false;
	for (size_t k = 0; k < f->places; k++) {
		const struct fit_place *b = &f->place[k];
		if (b == a || !is_choice(b))
			continue;
		if (!is_cheaper(a, b))
			return false;
		others++;
	}
	return others > 0;
}

static void choose(struct fit *f)
{
	for (size_t i = 0; i < f->places && !f->cheapest; i++)
		if (is_cheapest(f, &f->place[i]))
			f->cheapest = &f->place[i];
}

/*
 * -- all of it ----------------------------------------------------------------------------------
 */

static void read_prices(struct fit *f)
{
	const char *why = NULL;

	/* what is wrong with the file was said when the run's own price was looked up */
	view_prices_read(&f->prices, view_prices_site(), &why);
	view_prices_builtin(&f->prices);
}

static bool is_wanted(const struct fit *f, const struct view_price *row, const char *provider)
{
	return !strcasecmp(row->price_model, f->model) && !strpbrk(row->gpu, "*?[") &&
	       (!provider || !strcasecmp(row->provider, provider));
}

int fit_make(struct fit *f, const struct view_summary *s, const char *model, const char *provider,
	     const char **why)
{
	*f = (struct fit){ .model = model ? model : "on-demand" };
	fit_gpus_read(&f->table);
	*why = read_run(f, s);
	if (*why)
		return -ENODATA;
	set_limits(f, s);
	read_prices(f);
	f->place = base_arena_array(&f->mem, f->prices.rows + 1, sizeof(*f->place));
	set_own(&f->place[f->places++], f, s);
	for (size_t i = 0; i < f->prices.rows; i++)
		if (is_wanted(f, &f->prices.row[i], provider))
			set_other(&f->place[f->places++], f, s, &f->prices.row[i]);
	qsort(f->place, f->places, sizeof(*f->place), cheapest_first);
	choose(f);
	return 0;
}

void fit_fini(struct fit *f)
{
	view_prices_fini(&f->prices);
	fit_gpus_fini(&f->table);
	base_arena_fini(&f->mem);
}
