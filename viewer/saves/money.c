/* SPDX-License-Identifier: Apache-2.0 */
#include "money.h"

#include "cost/amount.h"

/* What is left of the part is rounded, so that parts still sum up. */
static void add_moved(struct saves_money *m, int64_t price, const struct view_insurance *i,
		      size_t gpu)
{
	static const enum saves_part of[SAVES_MOVED] = { SAVES_DURABLE, SAVES_UNKNOWN };

	for (size_t k = 0; k < i->chain.marks; k++)
		for (int p = 0; p < SAVES_MOVED; p++) {
			int64_t had = i->gpu_part[gpu][of[p]];

			view_cost_add(&m->moved[k][p],
				      view_cost_amount(price, had) -
					      view_cost_amount(price,
							       had - i->gpu_moved[gpu][k][p]));
		}
}

struct saves_money saves_money_of(const struct view_insurance *i, const int64_t *price, size_t gpus)
{
	struct saves_money m = { .now = i->now_ns < 0 ? -1 : 0 };

	for (size_t g = 0; g < gpus; g++) {
		view_cost_add(&m.mean, view_cost_amount(price[g], saves_gpu_mean_ns(i, g)));
		for (int p = 0; p < SAVES_PARTS; p++)
			view_cost_add(&m.part[p], view_cost_amount(price[g], i->gpu_part[g][p]));
		add_moved(&m, price[g], i, g);
		if (i->now_ns >= 0)
			view_cost_add(&m.now, view_cost_amount(price[g], i->gpu_now_ns[g]));
	}
	return m;
}
