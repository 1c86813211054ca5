/* SPDX-License-Identifier: Apache-2.0 */
/* What insurance.h counts, in dollars: rounded once for each GPU and part, half to even. */
#ifndef VIEW_SAVES_MONEY_H
#define VIEW_SAVES_MONEY_H

#include "insurance.h"

struct saves_money { /* nano-dollars */
	int64_t part[SAVES_PARTS];
	int64_t mean; /* that a kill loses on average */
	int64_t now; /* that one at the end would; -1: nothing goes on */
	int64_t moved[SAVES_MARKS_MAX + 1][SAVES_MOVED]; /* marks.h: what parts then have less */
};

/* @price: of each GPU, nano-dollars an hour. */
struct saves_money saves_money_of(const struct view_insurance *i, const int64_t *price,
				  size_t gpus);

#endif
