/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reading is about a second long: it is of a phase that it lies in by nine tenths, else of none.
 */
#include "used.h"

#include <errno.h>
#include <stdlib.h>
#include "analysis/read/event_feed.h"
#include "analysis/read/name_flags.h"
#include "base/minmax.h"

#define WHOLE 10000 /* of view_meter's shares */

/* By reading: how long it lay in a phase, of each process by itself. */
struct used_time {
	int64_t *ns; /* of readings in part of it */
	int64_t *whole; /* how many more hold for it and all behind it than for the one before */
};

struct used_gpu {
	struct view_meter *m;
	size_t n;
	struct used_time steps, evaluation;
};

struct used_by { /* a process on a GPU, by process */
	uint32_t source, device;
};

struct ana_used {
	const struct ana_plan *plan;
	struct used_gpu *gpu; /* by device */
	struct used_by *by;
	size_t count;
	int64_t *until; /* by source: what steps before tell of */
};

static int64_t share_of(int64_t ns, uint32_t share)
{
	return (int64_t)((__int128)ns * share / WHOLE);
}

size_t ana_used_pick(struct view_meter *m, size_t n, int64_t from, int64_t until)
{
	size_t i, kept = 0;

	for (i = 0; i < n; i++) {
		int64_t start = base_max(m[i].start_ns, from), ns = m[i].end_ns - start;

		if (!m[i].has_tensor || ns <= 0 || m[i].end_ns > until ||
		    ns < (m[i].end_ns - m[i].start_ns) / 10 * 9)
			continue;
		from = m[i].end_ns;
		m[kept] = m[i];
		m[kept++].start_ns = start;
	}
	return kept;
}

void ana_used_add(struct ana_units *to, const struct view_meter *m)
{
	int64_t ns = m->end_ns - m->start_ns;

	ana_sum(&to->known_ns, ns);
	ana_sum(&to->busy_ns, share_of(ns, m->busy));
	ana_sum(&to->tensor_ns, share_of(ns, m->tensor));
	if (!m->has_dram)
		to->dram_ns = -1;
	else if (to->dram_ns >= 0)
		ana_sum(&to->dram_ns, share_of(ns, m->dram));
}

/*
 * ---- which readings, and whose processes ------------------------------------------------------
 */

static bool make_time(struct used_time *t, size_t n)
{
	t->ns = calloc(n + 1, sizeof(*t->ns));
	t->whole = calloc(n + 1, sizeof(*t->whole));
	return t->ns && t->whole;
}

static int read_gpu(struct used_gpu *g, const struct ana_plan *p, const struct ana_device *d)
{
	size_t n;
	int err = ana_plan_meters(p, d, &g->m, &n);

	if (err || !n)
		return err;
	g->n = ana_used_pick(g->m, n, d->first_ns, d->last_ns);
	return make_time(&g->steps, g->n) && make_time(&g->evaluation, g->n) ? 0 : -ENOMEM;
}

static int by_source(const void *a, const void *b)
{
	const struct used_by *x = a, *y = b;

	if (x->source != y->source)
		return x->source < y->source ? -1 : 1;
	return (x->device > y->device) - (x->device < y->device);
}

static int list_uses(struct ana_used *u)
{
	size_t i, k, n = 0;

	for (i = 0; i < u->plan->devices; i++)
		n += u->gpu[i].n ? u->plan->device[i].uses : 0;
	u->by = calloc(n + 1, sizeof(*u->by));
	if (!u->by)
		return -ENOMEM;
	for (i = 0; i < u->plan->devices; i++)
		for (k = 0; u->gpu[i].n && k < u->plan->device[i].uses; k++)
			u->by[u->count++] =
				(struct used_by){ u->plan->device[i].use[k].source, (uint32_t)i };
	qsort(u->by, u->count, sizeof(*u->by), by_source);
	return 0;
}

/* The first of the process's, or where it would stand. */
static size_t first_of(const struct ana_used *u, uint32_t source)
{
	size_t low = 0, high = u->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (u->by[mid].source < source)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/*
 * ---- the time of a phase ----------------------------------------------------------------------
 */

/* The first reading that ends behind @t. */
static size_t reading_at(const struct used_gpu *g, int64_t t)
{
	size_t low = 0, high = g->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (g->m[mid].end_ns > t)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

static void add_part(const struct used_gpu *g, struct used_time *to, size_t i, int64_t start,
		     int64_t end)
{
	int64_t ns = base_min(end, g->m[i].end_ns) - base_max(start, g->m[i].start_ns);

	if (ns > 0)
		ana_sum(&to->ns[i], ns);
}

static void add_time(const struct used_gpu *g, struct used_time *to, int64_t start, int64_t end)
{
	size_t first = reading_at(g, start), last = reading_at(g, end);

	if (first < g->n)
		add_part(g, to, first, start, end);
	if (first < last && last < g->n)
		add_part(g, to, last, start, end);
	if (first + 1 < last) {
		to->whole[first + 1]++;
		to->whole[last]--;
	}
}

/* From counts of whole readings to their time. */
static void sum_time(const struct used_gpu *g, struct used_time *t)
{
	int64_t whole = 0;

	for (size_t i = 0; i < g->n; i++) {
		whole += t->whole[i];
		ana_sum(&t->ns[i], whole ? g->m[i].end_ns - g->m[i].start_ns : 0);
	}
}

/* To the GPUs of a process; of what began earlier only what goes on behind *@until. */
static void add(const struct ana_used *u, uint32_t source, int64_t start, int64_t end,
		int64_t *until, bool step)
{
	size_t i;

	start = base_max(ana_clamp_time(start), *until);
	end = ana_clamp_time(end);
	if (start >= end)
		return;
	*until = end;
	for (i = first_of(u, source); i < u->count && u->by[i].source == source; i++) {
		struct used_gpu *g = &u->gpu[u->by[i].device];

		add_time(g, step ? &g->steps : &g->evaluation, start, end);
	}
}

void ana_used_step(struct ana_used *u, const struct ana_step *s)
{
	add(u, s->process, s->start_ns, s->end_ns, &u->until[s->process], true);
}

static int read_ranges(const struct ana_used *u, uint32_t source, struct wire_scratch *scratch)
{
	const struct view_stream *s = u->plan->source[source].s;
	const struct wire_event *e;
	struct ana_names names = { 0 };
	int64_t until = INT64_MIN;
	struct ana_feed f;
	int err = ana_feed_init(&f, u->plan->trace, s, WIRE_KIND_RANGE, scratch);

	if (!err)
		err = ana_names_init(&names, s->strings);
	for (; !err && (e = ana_feed_peek(&f)); ana_feed_pop(&f))
		if (e->op == WIRE_RANGE_USER && ana_names_flags(&names, e->name) & ANA_NAME_PHASE)
			add(u, source, e->start_ns, e->end_ns, &until, false);
	if (!err)
		err = f.err;
	ana_names_fini(&names);
	ana_feed_fini(&f);
	return err;
}

static int read_all_ranges(const struct ana_used *u)
{
	struct wire_scratch *scratch = wire_scratch_new();
	int err = scratch ? 0 : -ENOMEM;
	size_t i;

	for (i = 0; i < u->count && !err; i++)
		if ((!i || u->by[i].source != u->by[i - 1].source) &&
		    u->plan->source[u->by[i].source].has_user)
			err = read_ranges(u, u->by[i].source, scratch);
	wire_scratch_free(scratch);
	return err;
}

/*
 * ---- all of it --------------------------------------------------------------------------------
 */

static int read_gpus(struct ana_used *u)
{
	int err = 0;
	size_t i;

	for (i = 0; i < u->plan->devices && !err; i++)
		err = read_gpu(&u->gpu[i], u->plan, &u->plan->device[i]);
	return err;
}

int ana_used_begin(struct ana_used **out, const struct ana_plan *p)
{
	struct ana_used *u = calloc(1, sizeof(*u));
	size_t i;
	int err;

	*out = NULL;
	if (!u)
		return -ENOMEM;
	u->plan = p;
	u->gpu = calloc(p->devices + 1, sizeof(*u->gpu));
	u->until = calloc(p->sources + 1, sizeof(*u->until));
	for (i = 0; u->until && i < p->sources; i++)
		u->until[i] = INT64_MIN;
	err = u->gpu && u->until ? read_gpus(u) : -ENOMEM;
	if (!err)
		err = list_uses(u);
	if (!err && u->count)
		err = read_all_ranges(u);
	if (!err && u->count)
		*out = u;
	else
		ana_used_free(u);
	return err;
}

void ana_used_free(struct ana_used *u)
{
	if (!u)
		return;
	for (size_t i = 0; u->gpu && i < u->plan->devices; i++) {
		free(u->gpu[i].m);
		free(u->gpu[i].steps.ns);
		free(u->gpu[i].steps.whole);
		free(u->gpu[i].evaluation.ns);
		free(u->gpu[i].evaluation.whole);
	}
	free(u->gpu);
	free(u->by);
	free(u->until);
	free(u);
}

static enum ana_phase phase_of(const struct used_gpu *g, size_t i)
{
	int64_t tenth = (g->m[i].end_ns - g->m[i].start_ns) / 10;

	if (g->evaluation.ns[i] >= 9 * tenth)
		return ANA_PHASE_EVALUATION;
	if (g->evaluation.ns[i] > tenth)
		return ANA_PHASE_MIXED;
	if (g->steps.ns[i] >= 9 * tenth)
		return ANA_PHASE_STEPS;
	return g->steps.ns[i] > tenth ? ANA_PHASE_MIXED : ANA_PHASE_OTHER;
}

void ana_used_finish(struct ana_used *u, struct ana_result *r)
{
	for (size_t d = 0; d < u->plan->devices; d++) {
		struct used_gpu *g = &u->gpu[d];

		if (!g->n)
			continue;
		sum_time(g, &g->steps);
		sum_time(g, &g->evaluation);
		for (size_t i = 0; i < g->n; i++)
			ana_used_add(&r->units_in[phase_of(g, i)], &g->m[i]);
	}
}
