/* SPDX-License-Identifier: Apache-2.0 */
/* Which classes count as waste. */
#ifndef VIEW_WASTE_H
#define VIEW_WASTE_H

#include <stdbool.h>
#include "analysis/ledger.h"

/* The default waste set, as an array. */
void view_waste_default(bool waste[ANA_CLASSES]);

/* "a,b" to a set; classes and groups such as input.*. 0 or -EINVAL with the bad name in *bad. */
int view_waste_parse(const char *text, bool waste[ANA_CLASSES], char bad[64]);

#endif
