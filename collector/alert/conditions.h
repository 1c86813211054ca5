/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --alert, --exec and --usd-per-gpu-hour: what is watched in every run. Read once with the command
 * line; what is wrong is logged.
 */
#ifndef COLL_CONDITIONS_H
#define COLL_CONDITIONS_H

#include "live/hook.h"

struct coll_conditions { /* zero at first, but for the price */
	struct live_watch watch; /* copied for each run */
	int64_t nano_usd_per_hour; /* of every GPU; -1: not given */
};

bool coll_conditions_alert(struct coll_conditions *c, const char *text);
bool coll_conditions_exec(struct coll_conditions *c, const char *command); /* of the last alert */
bool coll_conditions_price(struct coll_conditions *c, const char *usd);

bool coll_conditions_want(const struct coll_conditions *c, enum live_metric metric); /* one of it */

/* Once all options are read: conditions in dollars need the price. */
bool coll_conditions_complete(const struct coll_conditions *c);

#endif
