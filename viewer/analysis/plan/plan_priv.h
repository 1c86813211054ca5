/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of plan*.c share. Private to them.
 */
#ifndef ANALYSIS_PLAN_PRIV_H
#define ANALYSIS_PLAN_PRIV_H

#include "plan.h"

/* plan_times.c: the life of a live process, and when a device was held, lost and not observed. */
void ana_plan_life(const struct view_trace *t, struct ana_source *s);
/* When the kernels of a process were not recorded, though much else was. 0 or -ENOMEM. */
int ana_plan_unrecorded(const struct ana_source *s, struct ana_spans *to);
int ana_plan_times(struct ana_plan *p, struct ana_device *d, const struct ana_options *o);

#endif
