/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps to buckets, bins and the slowest.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/time/span.h"
#include "series_parts.h"

#define BINS_PER_OCTAVE 8u

unsigned int ana_histogram_bin(int64_t ns)
{
	uint64_t v = ns > 0 ? (uint64_t)ns : 0;
	unsigned int octave;

	if (v < BINS_PER_OCTAVE)
		return (unsigned int)v;
	octave = 63u - (unsigned int)__builtin_clzll(v); /* 3 at least */
	return (octave - 2) * BINS_PER_OCTAVE + (unsigned int)((v >> (octave - 3)) & 7);
}

int64_t ana_histogram_edge(unsigned int bin)
{
	unsigned int octave = bin / BINS_PER_OCTAVE + 2;

	if (bin < BINS_PER_OCTAVE)
		return bin;
	if (bin >= ANA_HISTOGRAM_BINS)
		return INT64_MAX;
	return (int64_t)((UINT64_C(8) + bin % BINS_PER_OCTAVE) << (octave - 3));
}

/* Slowest first; of equals the earlier, then the process that comes first. */
static bool goes_first(const struct ana_step *a, const struct ana_step *b)
{
	int64_t x = a->end_ns - a->start_ns, y = b->end_ns - b->start_ns;

	if (x != y)
		return x > y;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns;
	if (a->process != b->process)
		return a->process < b->process;
	return a->exposed_ns > b->exposed_ns;
}

void ana_slowest_steps_add(struct ana_slowest_steps *s, const struct ana_step *step)
{
	size_t i = s->count;

	if (i == ANA_SERIES_OUTLIERS) {
		if (!goes_first(step, &s->step[i - 1]))
			return;
		i--;
	} else {
		s->count++;
	}
	for (; i > 0 && goes_first(step, &s->step[i - 1]); i--)
		s->step[i] = s->step[i - 1];
	s->step[i] = *step;
}

void ana_step_gather_init(struct ana_step_gather *g, uint32_t process, size_t max)
{
	*g = (struct ana_step_gather){ .line = { .process = process, .each = 1 }, .max = max };
}

void ana_step_gather_fini(struct ana_step_gather *g)
{
	free(g->line.bucket);
	g->line.bucket = NULL;
}

static void join(struct ana_step_bucket *to, const struct ana_step_bucket *b)
{
	if (b->end_ns > to->end_ns)
		to->end_ns = b->end_ns;
	if (b->min_ns < to->min_ns)
		to->min_ns = b->min_ns;
	if (b->max_ns > to->max_ns)
		to->max_ns = b->max_ns;
	ana_sum(&to->sum_ns, b->sum_ns);
	ana_sum(&to->input_ns, b->input_ns);
	to->count += b->count;
}

/* All buckets are full: twice as many steps in each, and half of them are free again. */
static void halve(struct ana_step_series *l)
{
	for (size_t i = 0; i < l->buckets; i++) {
		if (i % 2)
			join(&l->bucket[i / 2], &l->bucket[i]);
		else
			l->bucket[i / 2] = l->bucket[i];
	}
	l->buckets = (l->buckets + 1) / 2;
	l->each *= 2;
}

static int one_more(struct ana_step_gather *g)
{
	struct ana_step_bucket *p;
	size_t room = g->room ? g->room * 2 : 16;

	if (g->line.buckets == g->max)
		halve(&g->line);
	if (g->line.buckets < g->room)
		return 0;
	room = room < g->max ? room : g->max;
	p = reallocarray(g->line.bucket, room, sizeof(*p));
	if (!p)
		return -ENOMEM;
	g->line.bucket = p;
	g->room = room;
	return 0;
}

int ana_step_gather_add(struct ana_step_gather *g, const struct ana_step *s)
{
	int64_t ns = s->end_ns - s->start_ns;
	struct ana_step_bucket b = {
		.start_ns = s->start_ns,
		.end_ns = s->end_ns,
		.min_ns = ns,
		.max_ns = ns,
		.sum_ns = ns,
		.input_ns = s->input_ns < ns ? s->input_ns : ns,
		.count = 1,
	};
	struct ana_step_series *l = &g->line;
	int err = 0;

	g->histogram[ana_histogram_bin(ns)]++;
	ana_slowest_steps_add(&g->slow, s);
	if (l->buckets && l->bucket[l->buckets - 1].count < l->each) {
		join(&l->bucket[l->buckets - 1], &b);
		return 0;
	}
	err = one_more(g);
	if (err)
		return err;
	if (l->buckets &&
	    l->bucket[l->buckets - 1].count < l->each) /* halved, with one left over */
		join(&l->bucket[l->buckets - 1], &b);
	else
		l->bucket[l->buckets++] = b;
	return 0;
}
