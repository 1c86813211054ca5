/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps from ranges, and the distribution of their durations.
 */
#include "step.h"

#include <errno.h>
#include <stdlib.h>
#include "analysis/series/series_parts.h"
#include "analysis/window.h"

#define EXACT_MAX ((size_t)1 << 16)
#define OPEN_MAX 65536u /* steps that have begun and may still be exposed */
#define BINS_PER_OCTAVE 128u
#define BINS (64u * BINS_PER_OCTAVE)

/* Bin of a duration: its octave, and linearly within that. */
static unsigned int bin_of(int64_t ns)
{
	uint64_t v = ns > 0 ? (uint64_t)ns : 0;
	unsigned int octave;

	if (v < BINS_PER_OCTAVE)
		return (unsigned int)v;
	octave = 63u - (unsigned int)__builtin_clzll(v);
	return (octave - 6) * BINS_PER_OCTAVE + (unsigned int)((v >> (octave - 7)) & 127);
}

static int64_t bin_middle(unsigned int bin)
{
	unsigned int octave = bin / BINS_PER_OCTAVE + 6;
	uint64_t low, width;

	if (bin < BINS_PER_OCTAVE)
		return bin;
	width = UINT64_C(1) << (octave - 7);
	low = (UINT64_C(1) << octave) + bin % BINS_PER_OCTAVE * width;
	return (int64_t)(low + width / 2);
}

static int go_rough(struct ana_durations *d)
{
	size_t i;

	d->bin = calloc(BINS, sizeof(*d->bin));
	if (!d->bin)
		return -ENOMEM;
	for (i = 0; i < d->count; i++)
		d->bin[bin_of(d->ns[i])]++;
	free(d->ns);
	d->ns = NULL;
	d->count = d->room = 0;
	return 0;
}

int ana_durations_add(struct ana_durations *d, int64_t ns)
{
	int err = !d->bin && d->count == EXACT_MAX ? go_rough(d) : 0;

	if (err)
		return err;
	d->total++;
	if (d->bin) {
		d->bin[bin_of(ns)]++;
		return 0;
	}
	if (d->count == d->room) {
		size_t room = d->room ? d->room * 2 : 64;
		int64_t *p = reallocarray(d->ns, room, sizeof(*p));

		if (!p)
			return -ENOMEM;
		d->ns = p;
		d->room = room;
	}
	d->ns[d->count++] = ns;
	return 0;
}

int ana_durations_merge(struct ana_durations *d, const struct ana_durations *more)
{
	size_t i;
	int err = 0;

	for (i = 0; i < more->count && !err; i++)
		err = ana_durations_add(d, more->ns[i]);
	if (err || !more->bin)
		return err;
	if (!d->bin)
		err = go_rough(d);
	for (i = 0; i < BINS && !err; i++)
		d->bin[i] += more->bin[i];
	d->total += more->total;
	return err;
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

int64_t ana_durations_rank(struct ana_durations *d, unsigned int permille)
{
	uint64_t rank = (d->total * permille + 999) / 1000, seen = 0;
	unsigned int i;

	if (!d->total)
		return -1;
	rank = rank ? rank : 1;
	if (!d->bin) {
		qsort(d->ns, d->count, sizeof(*d->ns), by_value);
		return d->ns[rank - 1];
	}
	for (i = 0; i < BINS - 1 && seen + d->bin[i] < rank; i++)
		seen += d->bin[i];
	return bin_middle(i);
}

void ana_durations_fini(struct ana_durations *d)
{
	free(d->ns);
	free(d->bin);
	*d = (struct ana_durations){ 0 };
}

static int done(struct ana_steps *s, const struct ana_step *t)
{
	int64_t ns = t->end_ns - t->start_ns;
	int err;

	s->count++;
	if (s->on_step)
		s->on_step(s->arg, t);
	err = ana_durations_add(&s->durations, ns);
	if (!err && s->gather)
		err = ana_step_gather_add(s->gather, t);
	if (!err) /* several GPUs may be exposed at once */
		err = ana_durations_add(&s->fed, t->exposed_ns < ns ? ns - t->exposed_ns : 0);
	return err;
}

static int append(struct ana_steps *s, int64_t start, int64_t end)
{
	if (s->tail - s->head == OPEN_MAX && done(s, &s->open[s->head++]))
		return -ENOMEM;
	if (ana_window_room(&s->open, &s->head, &s->tail, &s->room, sizeof(*s->open)))
		return -ENOMEM;
	s->open[s->tail++] = (struct ana_step){ start, end, 0, s->process };
	return 0;
}

int ana_steps_begin(struct ana_steps *s, int64_t start)
{
	if (s->source != ANA_STEPS_OPTIMIZER || s->tail > s->head || s->count)
		return 0;
	return append(s, start, INT64_MAX);
}

int ana_steps_boundary(struct ana_steps *s, int64_t t)
{
	if (s->source != ANA_STEPS_PERIOD)
		return 0;
	if (s->tail > s->head)
		s->open[s->tail - 1].end_ns = t;
	return append(s, t, INT64_MAX);
}

int ana_steps_range(struct ana_steps *s, int64_t start, int64_t end)
{
	if (end < start) /* stamps that cannot be */
		end = start;
	if (s->source == ANA_STEPS_RANGE)
		return append(s, start, end);
	if (s->source != ANA_STEPS_OPTIMIZER)
		return 0;
	if (s->tail > s->head && s->open[s->tail - 1].start_ns >= end)
		return 0; /* inside the one before it */
	if (s->tail > s->head)
		s->open[s->tail - 1].end_ns = end;
	else
		s->skipped++; /* nobody knows where it began */
	return append(s, end, INT64_MAX);
}

void ana_steps_expose(struct ana_steps *s, int64_t start, int64_t end)
{
	size_t i;

	for (i = s->head; i < s->tail && s->open[i].start_ns < end; i++) {
		struct ana_step *t = &s->open[i];
		int64_t a = start > t->start_ns ? start : t->start_ns;
		int64_t b = end < t->end_ns ? end : t->end_ns;

		if (a < b)
			t->exposed_ns += b - a;
	}
}

int ana_steps_upto(struct ana_steps *s, int64_t t)
{
	int err = 0;

	while (!err && s->head < s->tail && s->open[s->head].end_ns <= t)
		err = done(s, &s->open[s->head++]);
	return err;
}

/* What has no end by now is not a step. */
int ana_steps_finish(struct ana_steps *s)
{
	int err = 0;

	for (; s->head < s->tail && !err; s->head++) {
		if (s->open[s->head].end_ns == INT64_MAX)
			continue;
		err = done(s, &s->open[s->head]);
	}
	return err;
}

void ana_steps_fini(struct ana_steps *s)
{
	free(s->open);
	ana_durations_fini(&s->durations);
	ana_durations_fini(&s->fed);
	*s = (struct ana_steps){ 0 };
}
