/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walks write timelines with fine buckets. Here the parts around the longest gaps are kept as
 * they are, and the rest is put together to the coarse ones that are drawn.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "series_parts.h"

#define ZOOM_BUCKETS 96u /* about as many per window */
#define AROUND 12 /* buckets shown on both sides of a gap, at least */
#define COARSE_ENOUGH 6 /* a gap of so many coarse buckets is seen well without */

struct window {
	uint32_t gpu;
	size_t first, end; /* fine buckets */
};

static void merge(struct ana_bucket *to, const struct ana_bucket *b)
{
	for (int c = 0; c < ANA_CLASSES; c++)
		to->classes[c] += b->classes[c];
	to->end_ns = b->end_ns;
}

static size_t bucket_at(const struct ana_timeline *t, int64_t at)
{
	int64_t width = t->bucket[0].end_ns - t->bucket[0].start_ns, i;

	i = at > t->bucket[0].start_ns ? (at - t->bucket[0].start_ns) / width : 0;
	return i < (int64_t)t->count ? (size_t)i : t->count - 1;
}

static bool seen(const struct window *w, size_t n, uint32_t gpu, size_t first, size_t end)
{
	for (size_t i = 0; i < n; i++)
		if (w[i].gpu == gpu && first >= w[i].first && end <= w[i].end)
			return true;
	return false;
}

/* A window for the gap, unless it needs none. */
static size_t add_window(struct window *w, size_t n, const struct ana_result *r,
			 const struct ana_gap *g)
{
	size_t fine = r->series->gpu[g->gpu].fine;
	const struct ana_timeline *t = &r->timeline[g->gpu];
	size_t first, end, around;

	if (!t->count || fine < 2)
		return n;
	first = bucket_at(t, g->start_ns);
	end = bucket_at(t, g->end_ns - 1) + 1;
	if (end <= first || end - first > COARSE_ENOUGH * fine || seen(w, n, g->gpu, first, end))
		return n;
	around = end - first > AROUND ? end - first : AROUND;
	w[n] = (struct window){ .gpu = g->gpu,
				.first = first > around ? first - around : 0,
				.end = end + around < t->count ? end + around : t->count };
	return n + 1;
}

static int by_length(const void *a, const void *b)
{
	const struct ana_gap *x = a, *y = b;
	int64_t i = x->end_ns - x->start_ns, k = y->end_ns - y->start_ns;

	if (i != k)
		return i > k ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->gpu < y->gpu ? -1 : x->gpu > y->gpu;
}

static int by_place(const void *a, const void *b)
{
	const struct window *x = a, *y = b;

	if (x->gpu != y->gpu)
		return x->gpu < y->gpu ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

/* The longest gaps of all GPUs, each in some window; *out has ANA_SERIES_ZOOMS. */
static int choose(struct window *w, size_t *n, const struct ana_result *r)
{
	const struct ana_series *s = r->series;
	size_t all = 0, i, k;
	struct ana_gap *gap;

	*n = 0;
	for (i = 0; i < r->gpus; i++)
		all += s->gpu[i].gaps;
	gap = calloc(all + 1, sizeof(*gap));
	if (!gap)
		return -ENOMEM;
	for (i = 0, all = 0; i < r->gpus; i++)
		for (k = 0; k < s->gpu[i].gaps; k++)
			gap[all++] = s->gpu[i].gap[k];
	qsort(gap, all, sizeof(*gap), by_length);
	for (i = 0; i < all && *n < ANA_SERIES_ZOOMS; i++)
		*n = add_window(w, *n, r, &gap[i]);
	qsort(w, *n, sizeof(*w), by_place);
	free(gap);
	return 0;
}

static int cut_out(struct ana_zoom *z, const struct window *w, const struct ana_timeline *t)
{
	size_t each = (w->end - w->first + ZOOM_BUCKETS - 1) / ZOOM_BUCKETS, i;

	z->gpu = w->gpu;
	z->line.bucket = calloc((w->end - w->first) / each + 1, sizeof(*z->line.bucket));
	if (!z->line.bucket)
		return -ENOMEM;
	for (i = w->first; i < w->end; i++) {
		if ((i - w->first) % each)
			merge(&z->line.bucket[z->line.count - 1], &t->bucket[i]);
		else
			z->line.bucket[z->line.count++] = t->bucket[i];
	}
	return 0;
}

static void coarsen(struct ana_timeline *t, size_t each)
{
	struct ana_bucket *less;
	size_t n = 0, i;

	for (i = 0; i < t->count; i++) {
		if (i % each)
			merge(&t->bucket[n - 1], &t->bucket[i]);
		else
			t->bucket[n++] = t->bucket[i];
	}
	if (!n || n == t->count)
		return;
	t->count = n;
	less = realloc(t->bucket, n * sizeof(*less));
	if (less)
		t->bucket = less;
}

int ana_series_zoom(struct ana_result *r)
{
	struct ana_series *s = r->series;
	struct window w[ANA_SERIES_ZOOMS + 1];
	size_t n = 0, i;
	int err = choose(w, &n, r);

	s->zoom = calloc(n + 1, sizeof(*s->zoom));
	if (!s->zoom)
		return -ENOMEM;
	for (i = 0; i < n && !err; i++, s->zooms++)
		err = cut_out(&s->zoom[i], &w[i], &r->timeline[w[i].gpu]);
	for (i = 0; i < r->gpus; i++)
		if (s->gpu[i].fine > 1)
			coarsen(&r->timeline[i], s->gpu[i].fine);
	return err;
}
