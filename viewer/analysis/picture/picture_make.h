/* SPDX-License-Identifier: Apache-2.0 */
/* The picture of the steps that were picked. */
#ifndef ANALYSIS_PICTURE_MAKE_H
#define ANALYSIS_PICTURE_MAKE_H

#include "analysis/plan/plan.h"
#include "picture.h"
#include "picture_pick.h"

/* After all else of the result is known. 0 and *out, or -ENOMEM. */
int ana_picture_make(struct ana_picture **out, const struct ana_plan *plan,
		     const struct ana_result *result, const struct ana_picture_pick *pick);

#endif
