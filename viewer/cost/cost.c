/* SPDX-License-Identifier: Apache-2.0 */
/* Exact dollars: one rounding per (GPU, class), sums of these. */
#include "cost.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/evidence/cause.h"
#include "base/units.h"
#include "waste.h"

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
	return 0;
}

void view_cost_fini(struct view_cost *c)
{
	free(c->rate);
	free(c->gpu_class);
	free(c->gpu_skew);
	*c = (struct view_cost){ 0 };
}

bool view_rate_same(const struct view_rate *a, const struct view_rate *b)
{
	return a->known == b->known && a->list_nano_usd_per_hour == b->list_nano_usd_per_hour &&
	       a->fraction_num == b->fraction_num && a->fraction_den == b->fraction_den &&
	       a->assumed == b->assumed && a->guide == b->guide && !strcmp(a->gpu, b->gpu) &&
	       !strcmp(a->price_model, b->price_model) && !strcmp(a->label, b->label) &&
	       !strcmp(a->source, b->source) && !strcmp(a->date, b->date);
}
