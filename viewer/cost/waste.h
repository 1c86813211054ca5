/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of classes: which count as waste, which as starved, and what such a set comes to. */
#ifndef VIEW_WASTE_H
#define VIEW_WASTE_H

#include <stdbool.h>
#include "analysis/ledger.h"

/* The default waste set, as an array. */
void view_waste_default(bool waste[ANA_CLASSES]);

/* "a,b" to a set; classes and groups such as input.*. 0 or -EINVAL with the bad name in *bad. */
int view_waste_parse(const char *text, bool waste[ANA_CLASSES], char bad[64]);

/* The classes of starvation: those of input. */
void view_starved_set(bool starved[ANA_CLASSES]);

/*
 * What @set comes to, in time or in dollars: its classes, and of comm.skew what went to causes that
 * are in the set. A set with comm.skew itself has all of that already. @skew: comm.skew by cause.
 */
int64_t view_set_sum(const bool set[ANA_CLASSES], const int64_t classes[ANA_CLASSES],
		     const int64_t skew[ANA_CLASSES]);

#endif
