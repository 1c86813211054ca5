/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of plan*.c share. Private to them.
 */
#ifndef ANALYSIS_PLAN_PRIV_H
#define ANALYSIS_PLAN_PRIV_H

#include "plan.h"

/* plan_times.c: the life of a live process, and when a device was held, lost and not observed. */
void ana_plan_life(const struct view_trace *t, struct ana_source *s);
int ana_plan_times(struct ana_plan *p, struct ana_device *d, const struct ana_options *o);

#endif
