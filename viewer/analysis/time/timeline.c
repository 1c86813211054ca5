/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buckets and the longest gaps.
 */
#include "timeline.h"

#include <errno.h>
#include <stdlib.h>
#include "analysis/archive.h"

#define TOP_MAX 65536u /* that are read back */
#define BUCKETS_MAX (1u << 20)

int ana_buckets_init(struct ana_buckets *r, struct ana_timeline *t, int64_t start, int64_t end,
		     size_t count, size_t fine)
{
	size_t i;

	*r = (struct ana_buckets){ .line = t, .start = start, .fine = 1 };
	if (!count || end <= start)
		return 0;
	if ((int64_t)count > end - start)
		count = (size_t)(end - start);
	r->width = (end - start + (int64_t)count - 1) / (int64_t)count;
	if (r->width >= ANA_FINE_MAX * ANA_FINE_MAX) {
		r->fine = fine;
		r->width = (r->width + ANA_FINE_MAX - 1) / ANA_FINE_MAX * ANA_FINE_MAX;
		r->width /= (int64_t)fine;
	}
	count = (size_t)((end - start + r->width - 1) / r->width);
	t->bucket = calloc(count, sizeof(*t->bucket));
	if (!t->bucket)
		return -ENOMEM;
	t->count = count;
	for (i = 0; i < count; i++) {
		t->bucket[i].start_ns = start + (int64_t)i * r->width;
		t->bucket[i].end_ns = t->bucket[i].start_ns + r->width;
	}
	t->bucket[count - 1].end_ns = end;
	r->at = t->bucket;
	return 0;
}

struct ana_bucket *ana_buckets_at(const struct ana_buckets *r, int64_t t)
{
	size_t i = 0;

	if (!r->at)
		return NULL;
	if (t > r->start)
		i = (size_t)((t - r->start) / r->width);
	return &r->line->bucket[i < r->line->count ? i : r->line->count - 1];
}

void ana_buckets_spread(struct ana_buckets *r, int c, int64_t start, int64_t end)
{
	int64_t last = r->line->bucket[r->line->count - 1].end_ns;

	if (start < r->start)
		start = r->start;
	if (end > last)
		end = last;
	while (start < end) {
		struct ana_bucket *b = &r->line->bucket[(start - r->start) / r->width];
		int64_t stop = end < b->end_ns ? end : b->end_ns;

		b->classes[c] += stop - start;
		r->at = b;
		start = stop;
	}
}

int ana_top_init(struct ana_top *t, size_t max)
{
	*t = (struct ana_top){ .gap = malloc((max + 1) * sizeof(*t->gap)), .max = max };
	return t->gap ? 0 : -ENOMEM;
}

void ana_top_fini(struct ana_top *t)
{
	free(t->gap);
	*t = (struct ana_top){ 0 };
}

/* Longest first; of equals the earlier, then the GPU that comes first. */
static bool goes_first(const struct ana_gap *a, const struct ana_gap *b)
{
	int64_t x = a->end_ns - a->start_ns, y = b->end_ns - b->start_ns;

	if (x != y)
		return x > y;
	return a->start_ns != b->start_ns ? a->start_ns < b->start_ns : a->gpu < b->gpu;
}

static void sift_down(struct ana_top *t, size_t i, struct ana_gap g)
{
	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= t->count)
			break;
		if (child + 1 < t->count && goes_first(&t->gap[child], &t->gap[child + 1]))
			child++;
		if (!goes_first(&g, &t->gap[child]))
			break;
		t->gap[i] = t->gap[child];
		i = child;
	}
	t->gap[i] = g;
}

void ana_top_add(struct ana_top *t, const struct ana_gap *g)
{
	size_t i;

	if (!t->max)
		return;
	if (t->count == t->max) {
		if (goes_first(g, &t->gap[0]))
			sift_down(t, 0, *g);
		return;
	}
	for (i = t->count++; i > 0 && goes_first(&t->gap[(i - 1) / 2], g); i = (i - 1) / 2)
		t->gap[i] = t->gap[(i - 1) / 2];
	t->gap[i] = *g;
}

void ana_gap_judge(struct ana_gap *g)
{
	int c;

	g->major = (enum ana_class)0;
	for (c = 1; c < ANA_CLASSES; c++)
		if (g->classes[c] > g->classes[g->major])
			g->major = (enum ana_class)c;
	g->class_ns = g->classes[g->major];
}

void ana_top_book(struct ana_top *t, uint32_t gpu, int64_t start, int64_t end, enum ana_class c,
		  int64_t ns)
{
	size_t i;

	if (!t->count || end - start < t->gap[0].end_ns - t->gap[0].start_ns)
		return;
	for (i = 0; i < t->count; i++) {
		struct ana_gap *g = &t->gap[i];

		if (g->gpu != gpu || g->start_ns != start || g->end_ns != end)
			continue;
		g->classes[c] += ns;
		ana_gap_judge(g);
	}
}

static int by_length(const void *a, const void *b)
{
	return goes_first(a, b) ? -1 : goes_first(b, a) ? 1 : 0;
}

void ana_top_sort(struct ana_top *t)
{
	if (t->count)
		qsort(t->gap, t->count, sizeof(*t->gap), by_length);
}

void ana_top_archive(struct ana_top *t, size_t gpus, struct ana_archive *a)
{
	size_t i;

	ana_archive_vec(a, t->gap, t->count, TOP_MAX);
	for (i = 0; i < t->count; i++) {
		struct ana_gap *g = &t->gap[i];

		g->gpu = (uint32_t)ana_archive_number(a, g->gpu, gpus ? gpus - 1 : 0);
		ana_archive_time(a, &g->start_ns);
		ana_archive_time(a, &g->end_ns);
		ana_archive_time(a, &g->empty_ns);
		g->major = (enum ana_class)ana_archive_number(a, g->major, ANA_CLASSES - 1);
		ana_archive_field(a, g->pid);
		ana_archive_field(a, g->tid);
		ana_archive_time(a, &g->class_ns);
		for (int c = 0; c < ANA_CLASSES; c++)
			ana_archive_time(a, &g->classes[c]);
	}
}

void ana_timeline_archive(struct ana_timeline *t, struct ana_archive *a)
{
	size_t i, c;

	ana_archive_vec(a, t->bucket, t->count, BUCKETS_MAX);
	for (i = 0; i < t->count; i++) {
		ana_archive_time(a, &t->bucket[i].start_ns);
		ana_archive_time(a, &t->bucket[i].end_ns);
		for (c = 0; c < ANA_CLASSES; c++)
			ana_archive_time(a, &t->bucket[i].classes[c]);
	}
}

void ana_buckets_archive(struct ana_buckets *r, struct ana_archive *a)
{
	for (size_t i = 0; i < r->line->count; i++)
		for (int c = 0; c < ANA_CLASSES; c++)
			ana_archive_time(a, &r->line->bucket[i].classes[c]);
}
