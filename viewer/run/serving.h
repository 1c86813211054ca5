/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a run that goes on is inference so far, which saves nothing (LEDGER 9). No pulse tells:
 * its trace is analysed, where that is small, and what is found holds until it has held its GPUs
 * for twice as long. One thread.
 */
#ifndef VIEW_RUN_SERVING_H
#define VIEW_RUN_SERVING_H

#include <stdbool.h>
#include "follow.h"

struct view_serving { /* zero at first */
	bool serves; /* as of the last look */
	int64_t until_ns; /* of held time */
};

/* A second or so where it looks. A trace that is not small: false, as nothing is known of it. */
bool view_serving_look(struct view_serving *v, const struct view_follow *f);

/* Whether a run's trace can be analysed within a second or so. */
bool view_small_trace(const char *dir);

#endif
