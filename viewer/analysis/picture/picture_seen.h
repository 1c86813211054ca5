/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Into which of some steps a sample of a thread that gives the GPU work falls: of steps shorter
 * than the time from look to look most have none. Reads the samples that lie in these steps alone.
 */
#ifndef ANALYSIS_PICTURE_SEEN_H
#define ANALYSIS_PICTURE_SEEN_H

#include "analysis/plan/plan.h"

/*
 * Says so of each in @seen[@n], which is all false before. 0 or -ENOMEM. @steps need no order.
 */
int ana_picture_seen(const struct ana_plan *plan, const struct ana_step *steps, size_t n,
		     bool *seen);

#endif
