/* SPDX-License-Identifier: Apache-2.0 */
#include "batches.h"

#include <errno.h>
#include <stdlib.h>

#define BEFORE 0x18u /* three and four slices before: no batch that lasts for two is in both */

struct seen { /* of one symbol: in which of the last eight slices, the last one of which is */
	uint64_t last;
	uint8_t slices;
};

static bool was_before(struct seen *s, uint64_t slice)
{
	const uint64_t since = slice - s->last;

	s->slices = since < 8 ? (uint8_t)(s->slices << since) : 0;
	s->slices |= 1;
	s->last = slice;
	return s->slices & BEFORE;
}

int ana_batches_differ(const uint32_t *symbol, size_t n, uint32_t symbols, uint64_t batches)
{
	const uint64_t slice = batches ? n / batches : 0;
	struct seen *seen;
	uint64_t alike = 0;
	size_t i;

	if (!slice)
		return 0;
	seen = calloc((size_t)symbols + 1, sizeof(*seen));
	if (!seen)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		alike += was_before(&seen[symbol[i]], i / slice);
	free(seen);
	return 2 * alike < n;
}

struct pace { /* of one symbol */
	size_t first, last, count;
	size_t even; /* distances that are half to twice the mean one */
};

static void find_pace(struct pace *p, const uint32_t *symbol, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		struct pace *k = &p[symbol[i]];

		if (!k->count++)
			k->first = i;
		k->last = i;
	}
	for (i = 0; i < n; i++) {
		struct pace *k = &p[symbol[i]];
		const size_t mean = k->count > 1 ? (n + k->count - 1) / k->count : 0;

		if (i != k->first && 2 * (i - k->last) >= mean && i - k->last <= 2 * mean)
			k->even++;
		k->last = i;
	}
}

static bool is_once_a_batch(const struct pace *k, uint64_t batches)
{
	return k->count > 1 && k->count >= batches / 2 - batches / 20 &&
	       k->count <= batches + batches / 20 && 10 * k->even >= 9 * (k->count - 1);
}

int ana_batches_anchor(const uint32_t *symbol, size_t n, uint32_t symbols, uint64_t batches,
		       long *at)
{
	struct pace *p = calloc((size_t)symbols + 1, sizeof(*p));
	const struct pace *best = NULL;
	uint32_t s;

	if (!p)
		return -ENOMEM;
	find_pace(p, symbol, n);
	for (s = 0; s < symbols; s++)
		if (is_once_a_batch(&p[s], batches) &&
		    (!best || p[s].count > best->count ||
		     (p[s].count == best->count && p[s].first < best->first)))
			best = &p[s];
	*at = best ? (long)best->first : -1;
	free(p);
	return 0;
}
