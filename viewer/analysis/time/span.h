/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of intervals of time: what was lost, what nobody watched, when a GPU was held. Built from
 * any intervals, then merged into disjoint ones in order. Caller-owned; zero-initialise.
 */
#ifndef ANALYSIS_SPAN_H
#define ANALYSIS_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/minmax.h"

/* What is rare stays out of the way of what is not. */
#define ANA_RARE __attribute__((noinline, cold))

struct ana_span {
	int64_t start, end;
};

struct ana_spans {
	struct ana_span *span;
	size_t count, room;
	size_t at; /* where the last look was */
};

/* Sums that hostile stamps could carry over the edge stop at it. */
static inline void ana_sum(int64_t *to, int64_t ns)
{
	if (__builtin_add_overflow(*to, ns, to))
		*to = ns < 0 ? INT64_MIN : INT64_MAX;
}

int ana_spans_add(struct ana_spans *s, int64_t start, int64_t end); /* 0 or -ENOMEM; empty: none */
void ana_spans_merge(struct ana_spans *s); /* sorts, joins what touches */
void ana_spans_fini(struct ana_spans *s);

/*
 * Whether @t lies in the (merged) set; *until gets where that changes next, INT64_MAX if never.
 * Cheap when looks move forward.
 */
bool ana_spans_at(struct ana_spans *s, int64_t t, int64_t *until);

int64_t ana_spans_measure(const struct ana_spans *s); /* of a merged set */

/* Measure of the set within [start, end). */
int64_t ana_spans_within(struct ana_spans *s, int64_t start, int64_t end);

#endif
