/* SPDX-License-Identifier: Apache-2.0 */
#include "capacity.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "core/log.h"
#include "cost/price_list.h"
#include "lines.h"

#define HOUR_NS INT64_C(3600000000000)

/* --- what was held --- */

struct reading {
	struct fleet_table
		types; /* keys: GPU, provider; held in FLEET_HELD_NS, runs in FLEET_RUNS */
	struct fleet_plan_events events;
	struct fleet_plan_events all; /* the same GPUs, for all of their runs */
	struct fleet_table unsure; /* keys as of types; of fleet_plan_is_unsure */
	const struct fleet_query *q;
};

static void hold(struct reading *r, const char *const *key, struct fleet_plan_spread *spread,
		 bool run)
{
	struct fleet_group *g = fleet_table_at(&r->types, 2, key);
	size_t before = r->events.n;

	spread->type = (uint32_t)(g - r->types.group);
	fleet_plan_hold(&r->events, spread, r->q->since_ns, r->q->until_ns);
	fleet_plan_hold_all(&r->all, spread, r->q->since_ns, r->q->until_ns);
	g->sums.m[FLEET_RUNS] += run && r->events.n > before;
	if (!fleet_plan_is_unsure(spread))
		return;
	g = fleet_table_at(&r->unsure, 2, key);
	g->sums.m[FLEET_RUNS] += run;
	g->sums.m[FLEET_HELD_NS] += fleet_plan_held(&r->events, before);
}

static void on_line(void *arg, const struct fleet_line_row *l)
{
	struct reading *r = arg;
	const char *const key[] = { l->gpu, l->name[FLEET_DIM_PROVIDER] };
	struct fleet_plan_spread all = { 0, l->start_ns, l->wall_ns, l->gpus,
					 (int64_t)l->sums.m[FLEET_HELD_NS] };

	if (!l->sums.m[FLEET_HELD_NS] || fleet_line_end(l, r->q->until_ns) <= r->q->since_ns)
		return;
	if (!l->spans)
		hold(r, key, &all, true);
	for (size_t i = 0; i < l->spans; i++) {
		const struct fleet_rest_span *s = &l->span[i];
		struct fleet_plan_spread spread = { 0, fleet_line_span_start(l, i), s->wall_ns,
						    s->gpus, s->held_ns };

		hold(r, key, &spread, false);
	}
}

static base_wide held_of(const struct fleet_plan_type *t)
{
	base_wide ns = 0;

	for (size_t i = 0; i < t->steps; i++)
		ns += t->step[i].gpus * t->step[i].ns;
	return ns;
}

static int by_held(const void *a, const void *b)
{
	const struct fleet_plan_type *x = a, *y = b;
	int order = strcmp(x->gpu, y->gpu);

	if (x->held_ns != y->held_ns)
		return x->held_ns > y->held_ns ? -1 : 1;
	return order ? order : strcmp(x->provider, y->provider);
}

static void make_types(struct fleet_plan *p, struct reading *r)
{
	const struct fleet_query *q = r->q;
	base_wide *most;

	p->since_ns = q->since_ns || !r->events.n ? q->since_ns : r->events.first;
	p->until_ns = q->until_ns != INT64_MAX || !r->events.n ? q->until_ns : r->events.last;
	p->type = base_arena_array(&p->mem, r->types.groups, sizeof(*p->type));
	most = base_arena_array(&p->mem, r->types.groups, sizeof(*most));
	fleet_plan_steps(&r->events, p->type, r->types.groups, &p->mem);
	fleet_plan_most(&r->all, most, r->types.groups);
	for (size_t i = 0; i < r->types.groups; i++) {
		struct fleet_plan_type t = p->type[i];
		const struct fleet_group *g = &r->types.group[i];

		if (!t.steps)
			continue;
		t.gpu = base_arena_text(&p->mem, g->key[0]);
		t.provider = base_arena_text(&p->mem, g->key[1]);
		t.runs = g->sums.m[FLEET_RUNS];
		t.held_ns = held_of(&t);
		t.bound = most[i];
		g = fleet_table_at(&r->unsure, 2, g->key);
		t.unsure_runs = g->sums.m[FLEET_RUNS];
		t.unsure_ns = g->sums.m[FLEET_HELD_NS];
		p->type[p->types++] = t;
	}
	if (p->types)
		qsort(p->type, p->types, sizeof(*p->type), by_held);
}

static int read_held(struct fleet_plan *p, struct fleet_store *s, const struct fleet_query *q)
{
	struct fleet_query all = *q;
	struct reading r = { .q = q };
	int err;

	all.since_ns = INT64_MIN; /* those that began before may reach into it */
	err = fleet_each_line(s, &all, on_line, &r);
	if (!err)
		make_types(p, &r);
	fleet_plan_events_fini(&r.events);
	fleet_plan_events_fini(&r.all);
	fleet_table_fini(&r.types);
	fleet_table_fini(&r.unsure);
	return err;
}

/* --- what it costs --- */

base_wide fleet_plan_at_least(const struct fleet_plan_type *t, base_wide gpus)
{
	base_wide ns = 0;

	for (size_t i = t->steps; i && t->step[i - 1].gpus >= gpus; i--)
		ns += t->step[i - 1].ns;
	return ns;
}

/* Held beyond so many at once. */
static base_wide beyond(const struct fleet_plan_type *t, base_wide gpus)
{
	base_wide ns = 0;

	for (size_t i = t->steps; i && t->step[i - 1].gpus > gpus; i--)
		ns += (t->step[i - 1].gpus - gpus) * t->step[i - 1].ns;
	return ns;
}

/* What is computed with, and whether something was larger than that. */
struct exact {
	bool large;
};

static base_wide times(struct exact *x, base_wide a, base_wide b)
{
	base_wide out;

	x->large |= __builtin_mul_overflow(a, b, &out);
	return x->large ? 0 : out;
}

static base_wide plus(struct exact *x, base_wide a, base_wide b)
{
	base_wide out;

	x->large |= __builtin_add_overflow(a, b, &out);
	return x->large ? 0 : out;
}

/* num / den nano-dollars an hour, times ns: as dollars. */
static base_wide dollars(struct exact *x, base_wide usd_ns, base_wide den)
{
	base_wide by = times(x, den, HOUR_NS), usd = by ? base_div_even_wide(usd_ns, by) : 0;

	x->large |= base_wide_size(usd) > BASE_WIDE_MAX;
	return usd;
}

/* So many of them at the choice's price, all the time, and the rest on demand. */
static void cost(struct exact *x, const struct fleet_plan_type *t, int64_t stretch,
		 struct fleet_plan_choice *c)
{
	base_wide over = beyond(t, c->gpus), paid = times(x, c->gpus, stretch);
	base_wide committed = times(x, paid, c->price.num);
	base_wide rented = times(x, times(x, over, t->on_demand.num), c->price.den);

	c->unused_ns = paid - (t->held_ns - over);
	x->large |= base_wide_size(c->unused_ns) > BASE_WIDE_MAX;
	if (x->large)
		return;
	c->usd = dollars(x, plus(x, committed, rented), c->price.den);
	c->unused_usd = dollars(x, times(x, c->unused_ns, c->price.num), c->price.den);
}

/*
 * One more pays while it would have been held, on demand, for more than it costs: while the time at
 * or above it times the price on demand is above the stretch times its own. The higher the count
 * the shorter that time, so that the first from above is the cheapest.
 */
static void find_best(struct exact *x, const struct fleet_plan_type *t, int64_t stretch,
		      struct fleet_plan_choice *c)
{
	base_wide ns = 0, own = times(x, c->price.num, stretch);
	base_wide each = times(x, t->on_demand.num, c->price.den);

	for (size_t i = t->steps; i && !c->gpus; i--) {
		ns += t->step[i - 1].ns;
		if (times(x, each, ns) > own)
			c->gpus = t->step[i - 1].gpus;
	}
	c->known = true;
	cost(x, t, stretch, c);
}

static const struct fleet_plan_own *own_of(const struct fleet_plan_given *g, const char *gpu)
{
	for (size_t i = 0; i < g->owns; i++)
		if (view_gpu_has_words(gpu, g->own[i].gpu))
			return &g->own[i];
	return NULL;
}

static const struct fleet_plan_reserved *reserved_of(const struct fleet_plan_given *g,
						     const char *gpu)
{
	for (size_t i = 0; i < g->reserveds; i++)
		if (view_gpu_has_words(gpu, g->reserved[i].gpu))
			return &g->reserved[i];
	return NULL;
}

/* Nothing is cheaper or dearer than what has no price. */
static void price(struct exact *x, struct fleet_plan *p, struct fleet_plan_type *t,
		  const struct fleet_plan_lists *lists, const struct fleet_plan_given *given)
{
	const struct fleet_plan_reserved *held = reserved_of(given, t->gpu);
	int64_t stretch = p->until_ns - p->since_ns;

	t->on_demand = fleet_plan_price_of(lists, t, "on-demand", &p->mem);
	t->reserved.price = fleet_plan_price_of(lists, t, "reserved", &p->mem);
	t->given_gpus = held ? held->gpus : 0;
	t->owned = own_of(given, t->gpu);
	if (t->owned)
		t->own.price = fleet_plan_own_price(t->owned, &p->mem);
	if (!t->on_demand.known)
		return;
	t->on_demand_usd = dollars(x, times(x, t->held_ns, t->on_demand.num), 1);
	if (t->reserved.price.known)
		find_best(x, t, stretch, &t->reserved);
	if (t->owned)
		find_best(x, t, stretch, &t->own);
	if (t->reserved.price.known && held) {
		t->given = (struct fleet_plan_choice){ .known = true,
						       .price = t->reserved.price,
						       .gpus = held->gpus };
		cost(x, t, stretch, &t->given);
	}
}

static bool has_gpu(const struct fleet_plan *p, const char *words)
{
	for (size_t i = 0; i < p->types; i++)
		if (view_gpu_has_words(p->type[i].gpu, words))
			return true;
	return false;
}

static void say_unknown(const struct fleet_plan *p, const struct fleet_plan_given *given)
{
	for (size_t i = 0; i < given->owns; i++)
		if (!has_gpu(p, given->own[i].gpu))
			view_note("--own %s: no such GPU was held", given->own[i].gpu);
	for (size_t i = 0; i < given->reserveds; i++)
		if (!has_gpu(p, given->reserved[i].gpu))
			view_note("--reserved %s: no such GPU was held", given->reserved[i].gpu);
}

static int price_all(struct fleet_plan *p, const struct fleet_plan_given *given)
{
	struct fleet_plan_lists *lists = fleet_plan_lists_open(given->prices);
	struct exact x = { 0 };
	int64_t stretch;

	if (!lists)
		return -ENOMEM;
	if (__builtin_sub_overflow(p->until_ns, p->since_ns, &stretch))
		x.large = true;
	for (size_t i = 0; i < p->types && !x.large; i++)
		price(&x, p, &p->type[i], lists, given);
	fleet_plan_lists_close(lists);
	say_unknown(p, given);
	return x.large ? -EOVERFLOW : 0;
}

int fleet_plan_collect(struct fleet_plan *p, struct fleet_store *s, const struct fleet_query *q,
		       const struct fleet_plan_given *given)
{
	static const struct fleet_plan_given none;
	int err = read_held(p, s, q);

	if (!err && p->types)
		err = price_all(p, given ? given : &none);
	if (err == -EOVERFLOW)
		view_error("the plan's amounts are too large to be shown, so some run's times are "
			   "wrong; narrow them down with --team, --since and --until");
	return err;
}

void fleet_plan_fini(struct fleet_plan *p)
{
	base_arena_fini(&p->mem);
}
