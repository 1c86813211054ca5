/* SPDX-License-Identifier: Apache-2.0 */
#include "runs_apart.h"

#include <errno.h>
#include <stdlib.h>

struct life { /* of a process on a GPU */
	uint32_t part;
	int64_t start, end;
};

static int by_part(const void *a, const void *b)
{
	const struct life *x = a, *y = b;

	return x->part < y->part ? -1 : x->part > y->part;
}

/* Adds what those of one run had it for; returns how many they are, or -ENOMEM. */
static ssize_t measure_run(const struct life *life, size_t lives, int64_t *ns)
{
	struct ana_spans of = { 0 };
	size_t n = 0;
	int err = 0;

	for (; n < lives && life[n].part == life[0].part && !err; n++)
		err = ana_spans_add(&of, life[n].start, life[n].end);
	ana_spans_merge(&of);
	ana_sum(ns, ana_spans_measure(&of));
	ana_spans_fini(&of);
	return err ? err : (ssize_t)n;
}

/* What its runs had it for, each by itself. */
static int measure(const struct ana_plan *p, const struct ana_device *d, int64_t *ns)
{
	struct life *life = calloc(d->uses + 1, sizeof(*life));
	ssize_t n = 0;

	*ns = 0;
	if (!life)
		return -ENOMEM;
	for (size_t i = 0; i < d->uses; i++) {
		const struct ana_source *s = &p->source[d->use[i].source];

		life[i] = (struct life){ s->s->part, s->start_ns, s->end_ns };
	}
	qsort(life, d->uses, sizeof(*life), by_part);
	for (size_t i = 0; i < d->uses && n >= 0; i += (size_t)n)
		n = measure_run(&life[i], d->uses - i, ns);
	free(life);
	return n < 0 ? (int)n : 0;
}

int ana_runs_apart(const struct ana_plan *p, bool *apart)
{
	int64_t ns;
	int err = 0;

	*apart = p->trace->joined;
	for (size_t i = 0; i < p->devices && *apart && !err; i++) {
		const struct ana_device *d = &p->device[i];

		err = measure(p, d, &ns);
		*apart = !d->imported && ns == ana_spans_measure(&d->held);
	}
	return err;
}
