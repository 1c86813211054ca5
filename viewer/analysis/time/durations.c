/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sorted array while there are few, bins of half a percent beyond.
 */
#include "durations.h"

#include <errno.h>
#include <stdlib.h>
#include "analysis/archive.h"
#include "base/vec.h"

#define EXACT_MAX ((size_t)1 << 16)
#define BINS_PER_OCTAVE 128u
#define BINS ANA_DURATION_BINS

/* Its octave, and linearly within that. */
unsigned int ana_duration_bin(int64_t ns)
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
		d->bin[ana_duration_bin(d->ns[i])]++;
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
		d->bin[ana_duration_bin(ns)]++;
		return 0;
	}
	if (!base_vec_more(d->ns, d->count, d->room))
		return -ENOMEM;
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

void ana_durations_archive(struct ana_durations *d, struct ana_archive *a)
{
	bool rough = d->bin != NULL;
	size_t bins = BINS;

	ana_archive_field(a, d->total);
	ana_archive_bool(a, &rough);
	if (rough) {
		ana_archive_vec(a, d->bin, bins, BINS);
		ana_archive_check(a, bins == BINS);
		ana_archive_bytes(a, d->bin, bins * sizeof(*d->bin));
		if (a->err)
			d->total = 0; /* of no bins */
		return;
	}
	ana_archive_vec(a, d->ns, d->count, EXACT_MAX);
	if (a->reading)
		d->room = d->count;
	ana_archive_bytes(a, d->ns, d->count * sizeof(*d->ns));
	ana_archive_check(a, d->total == d->count);
}
