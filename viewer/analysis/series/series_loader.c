/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What loader workers did over time, and how long batches took.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "series_parts.h"
#include "analysis/evidence/shares.h"

int ana_loader_gather_init(struct ana_loader_gather *g, const struct ana_series_plan *p)
{
	*g = (struct ana_loader_gather){ .start = p->start,
					 .cell_ns = p->cell_ns,
					 .cells = p->cells };
	g->cell = calloc(p->cells + 1, sizeof(*g->cell));
	return g->cell ? 0 : -ENOMEM;
}

void ana_loader_gather_fini(struct ana_loader_gather *g)
{
	free(g->cell);
	*g = (struct ana_loader_gather){ 0 };
}

/* NULL: outside of the axis. */
static struct ana_loader_cell *cell_at(const struct ana_loader_gather *g, int64_t t)
{
	if (t < g->start || !g->cells || (t - g->start) / g->cell_ns >= (int64_t)g->cells)
		return NULL;
	return &g->cell[(t - g->start) / g->cell_ns];
}

/* ---- states ---------------------------------------------------------------------------------- */

static enum ana_worker_state state_of(const struct wire_sample *s)
{
	return ana_sample_runs(s) ? ANA_WORKER_CPU : ana_worker_blocked(s->wait);
}

/* @ns of a state, evenly over [from, to). */
static void spread(struct ana_loader_gather *g, enum ana_worker_state state, int64_t ns,
		   int64_t from, int64_t to)
{
	int64_t given = 0, at = from;

	if (ns <= 0)
		return;
	if (at < g->start)
		at = g->start < to ? g->start : to;
	given = ana_scale(ns, at - from, to - from);
	while (at < to) {
		struct ana_loader_cell *c = cell_at(g, at);
		int64_t stop, until;

		if (!c)
			return;
		stop = g->start + (c - g->cell + 1) * g->cell_ns;
		stop = stop < to ? stop : to;
		until = ana_scale(ns, stop - from, to - from);
		c->state_ns[state] += until - given;
		given = until;
		at = stop;
	}
}

/* Between two samples: what the kernel counted, and the rest by what the thread was blocked in. */
static void account(struct ana_loader_gather *g, const struct wire_sample *a,
		    const struct wire_sample *b)
{
	int64_t run = 0, delay = 0, ns = b->t_ns - a->t_ns;
	const struct wire_sample *rest = ana_sample_runs(a) ? b : a;

	if (ns <= 0)
		return;
	if (!ana_shares_between(a, b, &run, &delay)) {
		if (ns > ANA_CELL_NS)
			return; /* too far apart to tell */
		rest = a;
	}
	g->has_states = g->any = true;
	spread(g, ANA_WORKER_CPU, run, a->t_ns, b->t_ns);
	spread(g, ANA_WORKER_RUNNABLE, delay, a->t_ns, b->t_ns);
	spread(g, state_of(rest), ns - run - delay, a->t_ns, b->t_ns);
}

void ana_loader_gather_sample(struct ana_loader_gather *g, struct ana_last_sample *t,
			      const struct wire_sample *s)
{
	if (s->role != WIRE_ROLE_WORKER || (t->has_last && s->t_ns < t->last.t_ns))
		return;
	if (t->has_last)
		account(g, &t->last, s);
	t->last = *s;
	t->has_last = true;
}

/* ---- batches --------------------------------------------------------------------------------- */

static void join(struct ana_spread *to, const struct ana_spread *s)
{
	if (!s->count)
		return;
	if (!to->count || s->min_ns < to->min_ns)
		to->min_ns = s->min_ns;
	if (!to->count || s->max_ns > to->max_ns)
		to->max_ns = s->max_ns;
	to->count += s->count;
	ana_sum(&to->sum_ns, s->sum_ns);
}

static void change(struct ana_loader_gather *g, int64_t t, int64_t by)
{
	struct ana_loader_cell *c = t < g->start ? g->cell : cell_at(g, t);

	if (c && g->cells)
		c->ready += by;
	g->has_ready = true;
}

/* The iterator's count; of too many at once the one met first is given up. */
static struct ana_ready_row *ready_of(struct ana_ready *r, uint32_t loader)
{
	struct ana_ready_row *free_one = NULL;

	for (size_t i = 0; i < ANA_READY_MAX; i++) {
		if (r->row[i].used && r->row[i].loader == loader)
			return &r->row[i];
		if (!r->row[i].used && !free_one)
			free_one = &r->row[i];
	}
	if (!free_one) {
		free_one = &r->row[r->next];
		r->next = (r->next + 1) % ANA_READY_MAX;
	}
	*free_one = (struct ana_ready_row){ .used = true, .loader = loader };
	return free_one;
}

static void count_ready(struct ana_loader_gather *g, struct ana_ready *ready,
			const struct wire_batch *b, int64_t by)
{
	ready_of(ready, b->loader)->count += by;
	change(g, b->end_ns, by);
}

/* What was made and never taken is thrown away with the iterator. */
static void close_iterator(struct ana_loader_gather *g, struct ana_ready *ready,
			   const struct wire_batch *b)
{
	struct ana_ready_row *r = ready_of(ready, b->loader);

	if (r->count)
		change(g, b->end_ns, -r->count);
	r->used = false;
}

void ana_loader_gather_batch(struct ana_loader_gather *g, struct ana_ready *ready,
			     const struct ana_loader_facts *of, const struct wire_batch *b)
{
	struct ana_loader_cell *c = cell_at(g, b->start_ns);
	int64_t ns = b->end_ns > b->start_ns ? b->end_ns - b->start_ns : 0;
	struct ana_spread one = { 1, ns, ns, ns };

	switch (b->what) {
	case WIRE_BATCH_FETCH:
		g->any = true;
		if (c)
			join(&c->fetch, &one);
		if (b->worker)
			count_ready(g, ready, b, 1);
		break;
	case WIRE_BATCH_TAKE:
		g->any = true;
		if (c)
			join(&c->take, &one);
		if (of && of->workers && b->batch != WIRE_BATCH_INDEX_UNKNOWN)
			count_ready(g, ready, b, -1);
		break;
	case WIRE_BATCH_CLOSE:
		close_iterator(g, ready, b);
		break;
	default:
		break;
	}
}

void ana_loader_gather_merge(struct ana_loader_gather *to, const struct ana_loader_gather *from)
{
	for (size_t i = 0; i < to->cells && i < from->cells; i++) {
		struct ana_loader_cell *c = &to->cell[i];
		const struct ana_loader_cell *f = &from->cell[i];

		for (int k = 0; k < ANA_WORKER_STATES; k++)
			ana_sum(&c->state_ns[k], f->state_ns[k]);
		join(&c->fetch, &f->fetch);
		join(&c->take, &f->take);
		c->ready += f->ready;
	}
	to->any |= from->any;
	to->has_states |= from->has_states;
	to->has_ready |= from->has_ready;
}
