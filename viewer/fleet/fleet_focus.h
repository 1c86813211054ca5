/* SPDX-License-Identifier: Apache-2.0 */
/* fleet --format focus. */
#ifndef FLEET_FLEET_FOCUS_H
#define FLEET_FLEET_FOCUS_H

#include <stdio.h>
#include "currency.h"
#include "store.h"

/* What lies in the query's stretch, whenever the runs began. 0 or negative errno, said. */
int fleet_write_focus(struct fleet_store *s, const struct fleet_query *q,
		      const struct fleet_currency *c, FILE *out);

#endif
