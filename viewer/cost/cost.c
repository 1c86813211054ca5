/* SPDX-License-Identifier: Apache-2.0 */
/* Exact dollars: one rounding per (GPU, class), sums of these. */
#include "cost.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/evidence/cause.h"
#include "base/minmax.h"
#include "base/units.h"
#include "waste.h"

#define PARTS_MAX 100

/* Time in comm.skew is paid once; by cause it is split as the waits were. */
static void price_skew(struct view_cost *c, size_t g, const struct ana_gpu *gpu)
{
	int64_t *usd = c->gpu_skew[g];

	if (!gpu->classes[ANA_COMM_SKEW])
		return;
	ana_split(c->gpu_class[g][ANA_COMM_SKEW], gpu->skew_causes, ANA_CLASSES, usd);
	for (int k = 0; k < ANA_CLASSES; k++)
		view_cost_add(&c->skew[k], usd[k]);
}

static void price_vacancy(struct view_cost *c, size_t g, const struct ana_vacancy *v)
{
	int64_t usd[ANA_VACANTS];

	ana_split(c->gpu_class[g][ANA_EXCLUDED_NO_PROCESS], v->ns, ANA_VACANTS, usd);
	for (int p = 0; p < ANA_VACANTS; p++)
		view_cost_add(&c->vacant[p], usd[p]);
}

static void price_work(struct view_cost *c, size_t g, const struct ana_work *w)
{
	for (int i = 0; i < ANA_WORKS; i++)
		view_cost_add(&c->work[i],
			      view_cost_amount(c->rate[g].nano_usd_per_hour, w->ns[i]));
}

static void price_gpu(struct view_cost *c, size_t g, const struct ana_gpu *gpu,
		      const bool waste[ANA_CLASSES])
{
	bool starved[ANA_CLASSES];

	for (int k = 0; k < ANA_CLASSES; k++) {
		int64_t usd = view_cost_amount(c->rate[g].nano_usd_per_hour, gpu->classes[k]);

		c->gpu_class[g][k] = usd;
		view_cost_add(&c->classes[k], usd);
		view_cost_add(&c->total, usd);
	}
	price_skew(c, g, gpu);
	price_work(c, g, &gpu->work);
	price_vacancy(c, g, &gpu->vacancy);
	view_starved_set(starved);
	view_cost_add(&c->wasted, view_set_sum(waste, c->gpu_class[g], c->gpu_skew[g]));
	view_cost_add(&c->starved, view_set_sum(starved, c->gpu_class[g], c->gpu_skew[g]));
}

int view_cost_compute(struct view_cost *c, const struct ana_result *r, struct view_rate *rate,
		      const bool waste[ANA_CLASSES])
{
	*c = (struct view_cost){ .rate = rate, .gpus = r->gpus, .known = r->gpus > 0 };
	c->gpu_class = calloc(r->gpus ? r->gpus : 1, sizeof(*c->gpu_class));
	c->gpu_skew = calloc(r->gpus ? r->gpus : 1, sizeof(*c->gpu_skew));
	if (!c->gpu_class || !c->gpu_skew)
		return -ENOMEM;
	for (size_t g = 0; g < r->gpus; g++)
		c->known &= rate[g].known;
	for (size_t g = 0; g < r->gpus && c->known; g++)
		price_gpu(c, g, &r->gpu[g], waste);
	view_cost_close(c, waste, c->quanta);
	return 0;
}

void view_cost_fini(struct view_cost *c)
{
	free(c->rate);
	free(c->gpu_class);
	free(c->gpu_skew);
	*c = (struct view_cost){ 0 };
}

bool view_rate_in_parts(const struct view_rate *r)
{
	return r->fraction_den <= PARTS_MAX;
}

bool view_rate_same(const struct view_rate *a, const struct view_rate *b)
{
	return a->known == b->known && a->list_nano_usd_per_hour == b->list_nano_usd_per_hour &&
	       a->fraction_num == b->fraction_num && a->fraction_den == b->fraction_den &&
	       a->assumed == b->assumed && a->guide == b->guide && !strcmp(a->gpu, b->gpu) &&
	       !strcmp(a->price_model, b->price_model) && !strcmp(a->label, b->label) &&
	       !strcmp(a->source, b->source) && !strcmp(a->date, b->date);
}

struct base_scale view_cost_scale(const struct view_cost *c)
{
	return base_money_scale(c->total);
}

int64_t view_cost_quanta(const struct view_cost *c, int64_t nano_usd)
{
	bool sum = nano_usd == c->total || nano_usd == c->wasted || nano_usd == c->starved;

	for (int k = 0; nano_usd && !sum && k < ANA_CLASSES; k++)
		if (c->classes[k] == nano_usd)
			return c->quanta[k];
	return base_quanta(view_cost_scale(c), nano_usd);
}

const char *view_cost_text(char *out, const struct view_cost *c, int64_t nano_usd)
{
	return base_scaled_quanta(out, view_cost_scale(c), nano_usd, view_cost_quanta(c, nano_usd));
}

/* What classes are closed to, in quanta. */
struct closing {
	const int64_t *amount; /* by class */
	int64_t quantum, all, lost, hungry;
};

/* Closes the classes that are in @group by themselves. */
static void close_group(const struct closing *to, const bool group[ANA_CLASSES], int64_t total,
			int64_t quanta[ANA_CLASSES])
{
	int64_t amount[ANA_CLASSES], closed[ANA_CLASSES];
	int n = 0;

	for (int k = 0; k < ANA_CLASSES; k++)
		if (group[k] && to->amount[k])
			amount[n++] = to->amount[k];
	base_close(amount, n, total, to->quantum, closed);
	n = 0;
	for (int k = 0; k < ANA_CLASSES; k++)
		if (group[k])
			quanta[k] = to->amount[k] ? closed[n++] : 0;
}

/*
 * Whether the starved are a part of the waste, and both sums of classes and of nothing else: @skew
 * is what counts under another class's causes.
 */
static bool nested(const int64_t skew[ANA_CLASSES], const bool starved[ANA_CLASSES],
		   const bool waste[ANA_CLASSES])
{
	for (int k = 0; k < ANA_CLASSES; k++)
		if ((starved[k] && !waste[k]) || (skew[k] && (starved[k] || waste[k])))
			return false;
	return true;
}

static void close_all(const struct closing *to, const int64_t skew[ANA_CLASSES],
		      const bool waste[ANA_CLASSES], int64_t quanta[ANA_CLASSES])
{
	bool starved[ANA_CLASSES], wasted[ANA_CLASSES], rest[ANA_CLASSES];

	view_starved_set(starved);
	if (!nested(skew, starved, waste)) {
		base_close(to->amount, ANA_CLASSES, to->all, to->quantum, quanta);
		return;
	}
	for (int k = 0; k < ANA_CLASSES; k++) {
		wasted[k] = waste[k] && !starved[k];
		rest[k] = !waste[k];
	}
	close_group(to, starved, to->hungry, quanta);
	close_group(to, wasted, to->lost - to->hungry, quanta);
	close_group(to, rest, to->all - to->lost, quanta);
}

void view_cost_close(const struct view_cost *c, const bool waste[ANA_CLASSES],
		     int64_t quanta[ANA_CLASSES])
{
	struct base_scale scale = view_cost_scale(c);
	const struct closing to = { c->classes, scale.quantum, base_quanta(scale, c->total),
				    base_quanta(scale, c->wasted), base_quanta(scale, c->starved) };

	close_all(&to, c->skew, waste, quanta);
}

static int64_t tenths(int64_t ns, int64_t whole)
{
	return base_div_even(base_ppm(ns, whole), 1000);
}

void view_shares_close(const struct ana_result *r, const bool waste[ANA_CLASSES],
		       int64_t quanta[ANA_CLASSES])
{
	int64_t ppm[ANA_CLASSES], sum = 0;
	bool starved[ANA_CLASSES];
	struct closing to = { ppm, 1000, 1000, 0, 0 };

	view_starved_set(starved);
	for (int k = 0; k < ANA_CLASSES; k++) {
		ppm[k] = base_min(base_ppm(r->classes[k], r->gpu_ns), INT64_MAX / 2);
		quanta[k] = base_div_even(ppm[k], 1000);
		view_cost_add(&sum, ppm[k]);
	}
	/* a document may claim anything of its parts */
	if (sum < 1000000 - ANA_CLASSES || sum > 1000000 + ANA_CLASSES)
		return;
	to.lost = tenths(view_set_sum(waste, r->classes, r->skew_causes), r->gpu_ns);
	to.hungry = tenths(view_set_sum(starved, r->classes, r->skew_causes), r->gpu_ns);
	close_all(&to, r->skew_causes, waste, quanta);
}
