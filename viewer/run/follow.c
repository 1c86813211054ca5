/* SPDX-License-Identifier: Apache-2.0 */
#include "follow.h"

#include <stdlib.h>

int view_follow_init(struct view_follow *f, const char *dir, const struct view_rate_options *rates)
{
	*f = (struct view_follow){ .rates = *rates };
	return view_tail_init(&f->tail, dir);
}

void view_follow_fini(struct view_follow *f)
{
	view_tail_fini(&f->tail);
}

void view_follow_price(struct live_run *r, const struct view_rate_options *rates)
{
	struct ana_gpu *gpu = calloc(r->gpus ? r->gpus : 1, sizeof(*gpu));
	struct ana_result result = { .gpu = gpu, .gpus = r->gpus };
	struct view_rate *rate = NULL;

	for (size_t i = 0; gpu && i < r->gpus; i++)
		gpu[i] = (struct ana_gpu){ .host = r->gpu[i].host,
					   .name = r->gpu[i].name,
					   .index = r->gpu[i].ordinal,
					   .mig_slices = r->gpu[i].mig_slices,
					   .mig_slices_total = r->gpu[i].mig_slices_total };
	if (!gpu || view_rates_find(&result, NULL, rates, &rate))
		rate = NULL;
	for (size_t i = 0; i < r->gpus; i++)
		r->gpu[i].nano_usd_per_hour =
			rate && rate[i].known ? rate[i].nano_usd_per_hour : -1;
	free(rate);
	free(gpu);
}

void view_follow_look(struct view_follow *f)
{
	view_tail_look(&f->tail);
	if (f->tail.run.gpus != f->priced) {
		view_follow_price(&f->tail.run, &f->rates);
		f->priced = f->tail.run.gpus;
	}
	f->when = view_tail_now();
	live_run_totals(&f->tail.run, f->when.now_ns, &f->totals);
}
