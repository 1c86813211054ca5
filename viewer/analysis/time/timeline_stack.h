/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a thread was doing, as disjoint stretches of time that each have a value: its API calls, its
 * loader waits, its ranges. Rows come in order of start and may nest or overlap; at every instant
 * the innermost counts (latest start, then earliest end, then later row). Stretches that nobody
 * will look at again are dropped, so a stack is as long as what the oldest undecided gap needs.
 * There may be as many stacks as a file has threads, most of which do little: one is small, and
 * takes little for its first rows. Caller-owned; zero-initialise. One thread at a time.
 */
#ifndef ANALYSIS_TIMELINE_STACK_H
#define ANALYSIS_TIMELINE_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ana_stretch {
	int64_t start, end;
	uint32_t value;
};

struct ana_row { /* one that has begun and may still run */
	int64_t start, end;
	uint32_t value;
	uint32_t turn; /* in which they came, and begins anew at 2^32 */
};

struct ana_timeline_stack {
	struct ana_stretch *stretch; /* [head, tail) are alive */
	struct ana_row *row; /* a heap: the first is the innermost */
	uint32_t head, tail, room;
	uint32_t cursor; /* where the last search ended */
	uint32_t rows, row_room;
	uint32_t turn; /* of the next row */
	bool begun;
	uint64_t left_out; /* rows, for too many ran at once */
	int64_t done; /* the stretches are complete up to here, once begun */
	int64_t total; /* measure of all stretches there ever were */
	int64_t latest; /* end of the row that ends last, once begun */
	int64_t free_from, free_until; /* the time last found that no row covers, or ever will */
};

/*
 * Adds a row; starts must not go back. An empty row is no row, and of rows that run at once so many
 * are left out as only a made-up file has. 0 or -ENOMEM.
 */
int ana_timeline_stack_add(struct ana_timeline_stack *l, int64_t start, int64_t end, uint32_t value,
			   int64_t floor);

/*
 * Completes the stretches up to @t: all rows that begin before @t have been added. Stretches that
 * end at or before @floor are forgotten, here and above, and of millions the earliest. 0 or
 * -ENOMEM.
 */
int ana_timeline_stack_upto(struct ana_timeline_stack *l, int64_t t, int64_t floor);

void ana_timeline_stack_fini(struct ana_timeline_stack *l);

struct ana_archive; /* archive.h */
/* All of it. Read into a zeroed one; @most: the greatest value. */
void ana_timeline_stack_archive(struct ana_timeline_stack *l, uint32_t most, struct ana_archive *a);

/* Nothing on the stack reaches beyond @t, as far as it is known. */
static inline bool ana_timeline_stack_over(const struct ana_timeline_stack *l, int64_t t)
{
	return !l->begun || l->latest <= t;
}

bool ana_timeline_stack_find(struct ana_timeline_stack *l, int64_t t, uint32_t *value,
			     int64_t *until);

/*
 * Whether a stretch covers @t, and its value; *until gets the next instant at which that may
 * change, INT64_MAX if none is known.
 */
static inline bool ana_timeline_stack_at(struct ana_timeline_stack *l, int64_t t, uint32_t *value,
					 int64_t *until)
{
	if (l->head == l->tail || l->latest <= t) {
		*until = INT64_MAX;
		return false;
	}
	return ana_timeline_stack_find(l, t, value, until);
}

#endif
