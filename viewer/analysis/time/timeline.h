/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the outputs draw: a GPU's time in equal buckets, each with its classes, so that no stall is
 * lost to sampling; and the longest gaps, exactly.
 */
#ifndef ANALYSIS_TIMELINE_H
#define ANALYSIS_TIMELINE_H

#include "analysis/ledger.h"

struct ana_buckets { /* a result's timeline while it is filled */
	struct ana_timeline *line; /* borrowed; count 0: off */
	int64_t start, width;
	size_t fine; /* so many buckets are one of those that are drawn */
	struct ana_bucket *at; /* where the last piece went */
};

#define ANA_FINE_MAX 64 /* a power of 2 */

/*
 * Lays @count buckets at most over [start, end). With @fine, a power of 2, each is cut into so many
 * equal ones, unless it is so short that it stays whole (r->fine is 1 then); where the whole ones
 * lie does not depend on it. 0 or -ENOMEM.
 */
int ana_buckets_init(struct ana_buckets *r, struct ana_timeline *t, int64_t start, int64_t end,
		     size_t count, size_t fine);

/* The bucket of @t; NULL where there are none. */
struct ana_bucket *ana_buckets_at(const struct ana_buckets *r, int64_t t);

void ana_buckets_spread(struct ana_buckets *r, int c, int64_t start, int64_t end);

static inline void ana_buckets_add(struct ana_buckets *r, int c, int64_t start, int64_t end)
{
	if (!r->at)
		return;
	if (start >= r->at->start_ns && end <= r->at->end_ns)
		r->at->classes[c] += end - start;
	else
		ana_buckets_spread(r, c, start, end);
}

struct ana_top { /* a heap, the shortest first */
	struct ana_gap *gap;
	size_t count, max;
};

int ana_top_init(struct ana_top *t, size_t max); /* 0 or -ENOMEM */
void ana_top_fini(struct ana_top *t);
void ana_top_add(struct ana_top *t, const struct ana_gap *g);
/*
 * A piece of the gap [@start, @end) of @gpu has its class only now. Nothing if the gap is not kept.
 */
void ana_top_book(struct ana_top *t, uint32_t gpu, int64_t start, int64_t end, enum ana_class c,
		  int64_t ns);
void ana_gap_judge(struct ana_gap *g); /* its largest class, by its classes */
void ana_top_sort(struct ana_top *t); /* longest first; no more adding after it */

struct ana_archive; /* archive.h */

/* @gpus: how many there are. */
void ana_top_archive(struct ana_top *t, size_t gpus, struct ana_archive *a);
void ana_timeline_archive(struct ana_timeline *t, struct ana_archive *a);
/* The classes of one that is being filled, of as many buckets. */
void ana_buckets_archive(struct ana_buckets *r, struct ana_archive *a);

/* Would a gap of this length be kept? */
static inline bool ana_top_wants(const struct ana_top *t, int64_t ns)
{
	return t->count < t->max || (t->max && ns > t->gap[0].end_ns - t->gap[0].start_ns);
}

#endif
