/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How well GPUs were used, as GPM tells (LEDGER 3): in all, and by phase of the program. Of which
 * phase a reading is follows from the steps of the processes on its GPU, which it is told of while
 * they are walked, and from their ranges of LEDGER rule 4.
 */
#ifndef ANALYSIS_USED_H
#define ANALYSIS_USED_H

#include "analysis/plan/plan.h"

/*
 * Of readings by start, then end, those that lie within [@from, @until) and tell of tensor cores,
 * cut to what none before them tells of; they come to lie in front. How many they are.
 */
size_t ana_used_pick(struct view_meter *m, size_t n, int64_t from, int64_t until);

void ana_used_add(struct ana_units *to, const struct view_meter *m);

struct ana_used;

/* Reads the ranges. 0 or -ENOMEM; *out NULL: GPM tells nothing. */
int ana_used_begin(struct ana_used **out, const struct ana_plan *p);
void ana_used_free(struct ana_used *u);

/* A step is done; those of a process in order of start. One thread at a time. */
void ana_used_step(struct ana_used *u, const struct ana_step *s);

/* After the walks: fills in @r->units_in. */
void ana_used_finish(struct ana_used *u, struct ana_result *r);

#endif
