/* SPDX-License-Identifier: Apache-2.0 */
#include "split.h"

#include <string.h>

void ana_weights_set(struct ana_weights *w, const int64_t *weight, size_t n)
{
	size_t i;

	w->count = 0;
	w->total = 0;
	for (i = 0; i < n; i++) {
		if (!weight[i]) /* most are */
			continue;
		w->of[w->count] = (uint8_t)i;
		w->weight[w->count++] = weight[i];
		w->total += weight[i];
	}
}

/* Rounded down; returns what is left. */
static int64_t split_wide(const struct ana_weights *w, int64_t ns, int64_t *part, __int128 *rest)
{
	int64_t left = ns;
	uint32_t i;

	for (i = 0; i < w->count; i++) {
		__int128 share = (__int128)ns * w->weight[i];

		part[i] = (int64_t)(share / w->total);
		rest[i] = share % w->total;
		left -= part[i];
	}
	return left;
}

/* The same where all fits into 64 bits, as nearly always. */
static int64_t split_narrow(const struct ana_weights *w, int64_t ns, int64_t *part, __int128 *rest)
{
	uint64_t total = (uint64_t)w->total;
	int64_t left = ns;
	uint32_t i;

	for (i = 0; i < w->count; i++) {
		uint64_t share = (uint64_t)ns * (uint64_t)w->weight[i];

		part[i] = (int64_t)(share / total);
		rest[i] = (__int128)(share % total);
		left -= part[i];
	}
	return left;
}

static bool is_narrow(const struct ana_weights *w, int64_t ns)
{
	int64_t share;

	return ns >= 0 && w->total > 0 && w->total <= INT64_MAX &&
	       !__builtin_mul_overflow(ns, (int64_t)w->total, &share);
}

void ana_weights_split(const struct ana_weights *w, int64_t ns, int64_t *part)
{
	__int128 rest[ANA_CLASSES];
	uint32_t i, best;
	int64_t left;

	if (!w->total) {
		memset(part, 0, w->count * sizeof(*part));
		return;
	}
	left = is_narrow(w, ns) ? split_narrow(w, ns, part, rest) : split_wide(w, ns, part, rest);
	for (; left > 0; left--) {
		for (best = 0, i = 1; i < w->count; i++)
			if (rest[i] > rest[best])
				best = i;
		part[best]++;
		rest[best] = -1;
	}
}

void ana_split(int64_t ns, const int64_t *weight, size_t n, int64_t *out)
{
	int64_t part[ANA_CLASSES];
	struct ana_weights w;
	uint32_t i;

	memset(out, 0, n * sizeof(*out));
	ana_weights_set(&w, weight, n);
	ana_weights_split(&w, ns, part);
	for (i = 0; i < w.count; i++)
		out[w.of[i]] = part[i];
}
