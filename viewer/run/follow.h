/* SPDX-License-Identifier: Apache-2.0 */
/* A run that goes on, with the prices of its GPUs: tail.h and cost/rates.h together. One thread. */
#ifndef VIEW_RUN_FOLLOW_H
#define VIEW_RUN_FOLLOW_H

#include "cost/rates.h"
#include "tail.h"

struct view_follow {
	struct view_tail tail;
	struct view_rate_options rates;
	struct live_when when; /* of the last look */
	struct live_totals totals; /* as of then */
	size_t priced; /* GPUs whose prices have been looked up */
};

/* 0 or -ENOMEM. What @rates and @dir point to must stay. */
int view_follow_init(struct view_follow *f, const char *dir, const struct view_rate_options *rates);
void view_follow_fini(struct view_follow *f);

/* Looks at what was added, prices GPUs that are new, and sums up. */
void view_follow_look(struct view_follow *f);

/* Sets the prices of all GPUs of a model; -1 where none is known. */
void view_follow_price(struct live_run *r, const struct view_rate_options *rates);

#endif
