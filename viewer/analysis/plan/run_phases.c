/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Phases: runs of a job that overlap are one, those after them the next. Between two phases of a
 * GPU no gap is anybody's to explain: the one ended, the other started up.
 */
#include "allocations.h"

#include <errno.h>
#include <stdlib.h>
#include "plan_priv.h"

struct life { /* of the processes of one part */
	int64_t start, end;
	uint32_t part, run_phase;
};

static int by_start(const void *a, const void *b)
{
	const struct life *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static size_t find_lives(const struct ana_plan *p, struct life *life)
{
	size_t n = 0;

	for (size_t i = 0; i < p->trace->parts; i++)
		life[i] = (struct life){ INT64_MAX, INT64_MIN, (uint32_t)i, 0 };
	for (size_t i = 0; i < p->sources; i++) {
		const struct ana_source *s = &p->source[i];
		struct life *l = &life[s->s->part];

		l->start = base_min(l->start, s->start_ns);
		l->end = base_max(l->end, s->end_ns);
	}
	for (size_t i = 0; i < p->trace->parts; i++)
		if (life[i].start <= life[i].end)
			life[n++] = life[i];
	return n;
}

static uint32_t number_phases(struct life *life, size_t n)
{
	int64_t end = INT64_MIN;
	uint32_t run_phases = 0;

	qsort(life, n, sizeof(*life), by_start);
	for (size_t i = 0; i < n; i++) {
		run_phases += !run_phases || life[i].start >= end;
		life[i].run_phase = run_phases - 1;
		end = base_max(end, life[i].end);
	}
	return run_phases;
}

static int mark_device(struct ana_plan *p, struct ana_device *d)
{
	int err = 0;

	for (uint32_t run_phase = 0; run_phase < p->run_phases && !err; run_phase++) {
		int64_t start = INT64_MAX, end = INT64_MIN;

		for (size_t u = 0; u < d->uses; u++) {
			const struct ana_source *s = &p->source[d->use[u].source];

			if (s->run_phase != run_phase)
				continue;
			start = base_min(start, s->start_ns);
			end = base_max(end, s->end_ns);
		}
		err = ana_spans_add(&d->run_phases, start, end);
	}
	return err;
}

int ana_run_phases_make(struct ana_plan *p)
{
	struct life *life;
	size_t n;
	int err = 0;

	p->run_phases = 1;
	if (!p->trace->joined || p->trace->parts < 2)
		return 0;
	life = calloc(p->trace->parts, sizeof(*life));
	if (!life)
		return -ENOMEM;
	n = find_lives(p, life);
	p->run_phases = number_phases(life, n);
	for (size_t i = 0; i < p->sources; i++)
		for (size_t k = 0; k < n; k++)
			if (life[k].part == p->source[i].s->part)
				p->source[i].run_phase = life[k].run_phase;
	free(life);
	for (size_t i = 0; i < p->devices && !err; i++)
		err = mark_device(p, &p->device[i]);
	return err;
}

const struct ana_span *ana_run_phase_at(const struct ana_device *d, int64_t t)
{
	size_t low = 0, high = d->run_phases.count;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (d->run_phases.span[mid].start <= t)
			low = mid + 1;
		else
			high = mid;
	}
	return &d->run_phases.span[low ? low - 1 : 0];
}
