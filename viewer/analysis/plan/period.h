/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps where nobody marks them: a training loop submits the same kernels again and again, so one
 * that comes once per round tells where a step begins. Looks at a bounded part of a process's
 * operations; says so when there is no such rhythm.
 */
#ifndef ANALYSIS_PERIOD_H
#define ANALYSIS_PERIOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "trace/trace.h"

struct ana_anchor { /* the operation that begins each step */
	bool found;
	uint32_t device, stream, name;
	uint8_t op, copy;
};

static inline bool ana_anchor_is(const struct ana_anchor *a, const struct wire_event *e)
{
	return e->name == a->name && e->stream == a->stream && e->device == a->device &&
	       e->op == a->op && e->copy == a->copy;
}

struct ana_source; /* plan.h */

/* Into s->anchor, or s->step_is_batch. s->ops and s->batches are known. 0 or -ENOMEM. */
int ana_period_find(struct view_trace *t, struct ana_source *s, struct wire_scratch *scratch);

/*
 * The same over symbols: index of an element of @symbol[0..n) whose symbol (0 to @symbols - 1)
 * begins each period, and the period's length. -1: there is no period.
 */
long ana_period_of(const uint32_t *symbol, size_t n, uint32_t symbols, size_t *period);

#endif
