/* SPDX-License-Identifier: Apache-2.0 */
#include "passes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/archive.h"

#define ITERATORS_MAX 65536u
#define TAKE_MASK 3u
#define COUNT_MAX (UINT64_C(1) << 50) /* of batches, so that products fit into 128 bits */

void ana_passes_fini(struct ana_passes *g)
{
	free(g->pass);
	free(g->waiting);
	*g = (struct ana_passes){ 0 };
}

static struct ana_pass *pass_of(struct ana_passes *g, uint32_t iterator)
{
	if (iterator >= g->passes) {
		uint32_t n = iterator + 64;
		struct ana_pass *p = reallocarray(g->pass, n, sizeof(*p));

		if (!p)
			return NULL;
		for (uint32_t i = g->passes; i < n; i++)
			p[i] = (struct ana_pass){ .first = UINT64_MAX };
		g->pass = p;
		g->passes = n;
	}
	return &g->pass[iterator];
}

static struct ana_pass_batch *at(struct ana_passes *g, uint32_t i)
{
	return &g->waiting[(g->head + i) % ANA_PASSES_WAITING];
}

/* The others close up: it is among the last ones, mostly. */
static void take_out(struct ana_passes *g, uint32_t i)
{
	for (; i + 1 < g->count; i++)
		*at(g, i) = *at(g, i + 1);
	g->count--;
}

/* Of the one that waits for its other side; false: there is none. */
static bool find(struct ana_passes *g, const struct wire_batch *b, bool made, uint32_t *samples)
{
	for (uint32_t i = g->count; i--;) {
		const struct ana_pass_batch *w = at(g, i);

		if (w->batch != b->batch || w->loader != b->loader || (w->samples > 0) != made)
			continue;
		*samples = w->samples;
		take_out(g, i);
		return true;
	}
	return false;
}

static int keep(struct ana_passes *g, const struct wire_batch *b, uint32_t samples)
{
	if (!g->waiting) {
		g->waiting = calloc(ANA_PASSES_WAITING, sizeof(*g->waiting));
		if (!g->waiting)
			return -ENOMEM;
	}
	if (g->count == ANA_PASSES_WAITING) {
		g->head = (g->head + 1) % ANA_PASSES_WAITING;
		g->count--;
	}
	*at(g, g->count++) = (struct ana_pass_batch){ b->batch, b->loader, samples };
	return 0;
}

static void count(struct ana_loader_given *n, uint32_t samples)
{
	n->counted++;
	n->samples += samples;
}

static bool is_unordered(const struct ana_loader_facts *f)
{
	return f->known & ANA_LOADER_IN_ORDER && !f->in_order;
}

static int add_made(struct ana_passes *g, struct ana_loader_facts *f, const struct wire_batch *b)
{
	const struct ana_pass *p = pass_of(g, b->loader);
	uint32_t samples;

	if (!p)
		return -ENOMEM;
	if (!b->samples)
		return 0;
	if (is_unordered(f) || (p->first != UINT64_MAX && b->batch < p->first)) {
		count(&f->given, b->samples);
		return 0;
	}
	if (!find(g, b, false, &samples))
		return keep(g, b, b->samples);
	count(&f->given, b->samples);
	return 0;
}

/* Those before the first that is told of were taken, too. */
static void add_before(struct ana_passes *g, struct ana_loader_given *n, const struct wire_batch *b)
{
	n->before += b->batch;
	n->batches += b->batch;
	for (uint32_t i = g->count; i--;) {
		const struct ana_pass_batch *w = at(g, i);

		if (w->loader != b->loader || !w->samples || w->batch >= b->batch)
			continue;
		count(n, w->samples);
		take_out(g, i);
	}
}

static int add_batch(struct ana_passes *g, struct ana_loader_facts *f, const struct wire_batch *b)
{
	struct ana_pass *p = pass_of(g, b->loader);
	struct ana_loader_given *n = &f->given;
	bool ordered = b->batch != WIRE_BATCH_INDEX_UNKNOWN;
	uint32_t samples;

	if (!p)
		return -ENOMEM;
	if (ordered && b->batch > COUNT_MAX)
		return 0;
	if (p->first == UINT64_MAX) {
		p->first = ordered ? b->batch : 0;
		p->batches = p->first;
		n->passes++;
		if (p->first)
			add_before(g, n, b);
	}
	p->batches++;
	n->batches++;
	if (!ordered)
		return 0;
	if (!find(g, b, true, &samples))
		return keep(g, b, 0);
	count(n, samples);
	return 0;
}

static int add_taken(struct ana_passes *g, struct ana_loader_facts *f, const struct wire_batch *b)
{
	const struct ana_pass *p;

	if (!(b->samples & TAKE_MASK))
		return 0;
	f->given.told = true;
	f->given.lost |= b->samples & WIRE_TAKE_LAST;
	if ((b->samples & TAKE_MASK) == WIRE_TAKE_BATCH)
		return add_batch(g, f, b);
	p = pass_of(g, b->loader);
	if (!p)
		return -ENOMEM;
	if ((b->samples & TAKE_MASK) == WIRE_TAKE_END && p->first != UINT64_MAX) {
		f->given.whole++;
		f->given.whole_batches += p->batches;
	}
	return 0;
}

int ana_passes_add(struct ana_passes *g, struct ana_loader_facts *f, const struct wire_batch *b)
{
	if (!b->loader || b->loader >= ITERATORS_MAX) {
		f->given.lost |= b->what == WIRE_BATCH_TAKE;
		return 0;
	}
	return (b->what == WIRE_BATCH_FETCH ? add_made : add_taken)(g, f, b);
}

void ana_loader_given_add(struct ana_loader_given *to, const struct ana_loader_given *from)
{
	to->told |= from->told;
	to->lost |= from->lost;
	to->batches += from->batches;
	to->counted += from->counted;
	to->samples += from->samples;
	to->before += from->before;
	to->passes += from->passes;
	to->whole += from->whole;
	to->whole_batches += from->whole_batches;
}

static bool is_whole(const struct ana_loader_given *n)
{
	return n->told && !n->lost && n->batches && n->batches <= COUNT_MAX;
}

bool ana_loader_samples(const struct ana_loader_facts *f, uint64_t *samples)
{
	const struct ana_loader_given *n = &f->given;
	uint64_t more = n->batches - n->counted;
	unsigned __int128 all;

	if (!is_whole(n) || n->counted > n->batches)
		return false;
	if (more && (more > n->before || !(f->known & ANA_LOADER_BATCH) || f->iterable))
		return false;
	all = n->samples + (unsigned __int128)more * f->batch_size;
	*samples = (uint64_t)all;
	return all > 0 && all <= INT64_MAX;
}

bool ana_loader_epochs(const struct ana_loader_facts *f, uint64_t *num, uint64_t *den)
{
	const struct ana_loader_given *n = &f->given;
	unsigned __int128 over, under, a, b;

	if (!is_whole(n) || !n->whole || !n->whole_batches || n->whole > n->passes || !f->trainers)
		return false;
	over = (unsigned __int128)n->whole * n->batches;
	under = (unsigned __int128)n->whole_batches * f->trainers;
	for (a = over, b = under; b;) {
		unsigned __int128 rest = a % b;

		a = b;
		b = rest;
	}
	if (over / a > INT64_MAX || under / a > INT64_MAX)
		return false;
	*num = (uint64_t)(over / a);
	*den = (uint64_t)(under / a);
	return true;
}

bool ana_loaders_differ(const struct ana_result *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->loaders; i++)
		if (r->loader[i].given.batches)
			n += r->loader[i].several ? 2 : 1;
	return n > 1;
}

void ana_loader_given_archive(struct ana_loader_given *g, struct ana_archive *a)
{
	ana_archive_bool(a, &g->told);
	ana_archive_bool(a, &g->lost);
	ana_archive_field(a, g->batches);
	ana_archive_field(a, g->counted);
	ana_archive_field(a, g->samples);
	ana_archive_field(a, g->before);
	ana_archive_field(a, g->passes);
	ana_archive_field(a, g->whole);
	ana_archive_field(a, g->whole_batches);
}

void ana_passes_archive(struct ana_passes *g, struct ana_archive *a)
{
	ana_archive_vec(a, g->pass, g->passes, ITERATORS_MAX + 64);
	ana_archive_bytes(a, g->pass, g->passes * sizeof(*g->pass));
	g->waiting = ana_archive_ring(a, g->waiting, sizeof(*g->waiting), ANA_PASSES_WAITING,
				      &g->head, &g->count);
}
