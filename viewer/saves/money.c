/* SPDX-License-Identifier: Apache-2.0 */
#include "money.h"

#include "cost/amount.h"

struct saves_money saves_money_of(const struct view_insurance *i, const int64_t *price, size_t gpus)
{
	struct saves_money m = { .now = i->now_ns < 0 ? -1 : 0 };

	for (size_t g = 0; g < gpus; g++) {
		view_cost_add(&m.mean, view_cost_amount(price[g], saves_gpu_mean_ns(i, g)));
		for (int p = 0; p < SAVES_PARTS; p++)
			view_cost_add(&m.part[p], view_cost_amount(price[g], i->gpu_part[g][p]));
		if (i->now_ns >= 0)
			view_cost_add(&m.now, view_cost_amount(price[g], i->gpu_now_ns[g]));
	}
	return m;
}
