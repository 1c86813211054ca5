/* SPDX-License-Identifier: Apache-2.0 */
#include "taking.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include "analysis/archive.h"
#include "analysis/time/span.h"
#include "base/minmax.h"

#define TAKE_MASK 3u

void ana_taking_fini(struct ana_taking *t)
{
	free(t->waiting);
	*t = (struct ana_taking){ 0 };
}

static struct ana_taking_batch *at(struct ana_taking *t, uint32_t i)
{
	return &t->waiting[(t->head + i) % ANA_TAKING_WAITING];
}

/* The others close up: it is among the last ones, mostly. */
static void take_out(struct ana_taking *t, uint32_t i)
{
	for (; i + 1 < t->count; i++)
		*at(t, i) = *at(t, i + 1);
	t->count--;
}

/* The other side of @b, which then waits no longer; false: it is not known yet. */
static bool find(struct ana_taking *t, const struct wire_batch *b, struct ana_taking_batch *other)
{
	const bool made = b->what == WIRE_BATCH_FETCH;

	for (uint32_t i = t->count; i--;) {
		const struct ana_taking_batch *w = at(t, i);

		if (w->batch != b->batch || w->loader != b->loader || (w->made != 0) == made)
			continue;
		*other = *w;
		take_out(t, i);
		return true;
	}
	return false;
}

static int keep(struct ana_taking *t, const struct wire_batch *b)
{
	if (!t->waiting) {
		t->waiting = calloc(ANA_TAKING_WAITING, sizeof(*t->waiting));
		if (!t->waiting)
			return -ENOMEM;
	}
	if (t->count == ANA_TAKING_WAITING) {
		t->head = (t->head + 1) % ANA_TAKING_WAITING;
		t->count--;
	}
	*at(t, t->count++) = (struct ana_taking_batch){ .batch = b->batch,
							.start_ns = b->start_ns,
							.end_ns = b->end_ns,
							.loader = b->loader,
							.made = b->what == WIRE_BATCH_FETCH };
	return 0;
}

static void count(struct ana_loader_facts *f, int64_t made, int64_t start, int64_t end)
{
	int64_t from = base_max(made, start);

	if (end < from) /* stamps of two processes: it cannot be */
		return;
	f->handed++;
	ana_sum(&f->hand_ns, end - from);
}

/* Not a batch that came, or nobody tells which: calls for one of an unordered loader do not. */
static bool is_none(const struct ana_loader_facts *f, const struct wire_batch *b)
{
	uint32_t what = b->samples & TAKE_MASK;

	return !b->loader || b->batch == WIRE_BATCH_INDEX_UNKNOWN ||
	       (f->known & ANA_LOADER_IN_ORDER && !f->in_order) ||
	       (b->what == WIRE_BATCH_TAKE && what && what != WIRE_TAKE_BATCH);
}

int ana_taking_add(struct ana_taking *t, struct ana_loader_facts *f, const struct wire_batch *b)
{
	struct ana_taking_batch other;

	if (is_none(f, b))
		return 0;
	if (!find(t, b, &other))
		return keep(t, b);
	if (other.made)
		count(f, other.end_ns, b->start_ns, b->end_ns);
	else
		count(f, b->end_ns, other.start_ns, other.end_ns);
	return 0;
}

int64_t ana_loader_hand_ns(const struct ana_loader_facts *f)
{
	int64_t n;

	if (!f->handed || f->handed > INT64_MAX)
		return -1;
	n = (int64_t)f->handed;
	return f->hand_ns / n + (f->hand_ns % n != 0);
}

void ana_taking_archive(struct ana_taking *t, struct ana_archive *a)
{
	t->waiting = ana_archive_ring(a, t->waiting, sizeof(*t->waiting), ANA_TAKING_WAITING,
				      &t->head, &t->count);
}
