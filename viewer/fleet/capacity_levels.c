/* SPDX-License-Identifier: Apache-2.0 */
/* How many GPUs were held at once: what is taken and given back, in order. */
#include <stdlib.h>
#include "base/minmax.h"
#include "rollup.h"
#include "capacity.h"

struct fleet_plan_event {
	uint32_t type;
	int64_t at, gpus; /* taken; below 0: given back */
};

static void add(struct fleet_plan_events *e, uint32_t type, int64_t at, int64_t gpus)
{
	e->event = fleet_widened(e->event, e->n, &e->room, sizeof(*e->event));
	e->event[e->n++] = (struct fleet_plan_event){ type, at, gpus };
}

static void span(struct fleet_plan_events *e, uint32_t type, int64_t from, int64_t to, int64_t gpus)
{
	if (from >= to || !gpus)
		return;
	if (!e->n) {
		e->first = from;
		e->last = to;
	}
	e->first = base_min(e->first, from);
	e->last = base_max(e->last, to);
	add(e, type, from, gpus);
	add(e, type, to, -gpus);
}

static int64_t after(int64_t start, int64_t ns)
{
	int64_t end;

	return __builtin_add_overflow(start, ns, &end) ? INT64_MAX : end;
}

/* As many as it names, or as its time needs within the run. */
static int64_t gpus_of(const struct fleet_plan_spread *l)
{
	int64_t gpus = base_max(l->gpus, (int64_t)1);

	if (l->wall_ns > 0)
		gpus = base_max(gpus, l->held_ns / l->wall_ns + (l->held_ns % l->wall_ns > 0));
	return gpus;
}

bool fleet_plan_is_unsure(const struct fleet_plan_spread *l)
{
	return l->held_ns > 0 &&
	       (base_wide)l->held_ns * 100 < (base_wide)gpus_of(l) * l->wall_ns * 99;
}

void fleet_plan_hold_all(struct fleet_plan_events *e, const struct fleet_plan_spread *l,
			 int64_t since, int64_t until)
{
	int64_t gpus = gpus_of(l), each = l->held_ns / gpus + (l->held_ns % gpus > 0);

	if (l->held_ns > 0)
		span(e, l->type, base_max(l->start_ns, since),
		     base_min(after(l->start_ns, base_max(l->wall_ns, each)), until), gpus);
}

base_wide fleet_plan_held(const struct fleet_plan_events *e, size_t from)
{
	base_wide ns = 0;

	for (size_t i = from; i < e->n; i++)
		ns -= (base_wide)e->event[i].gpus * e->event[i].at;
	return ns;
}

void fleet_plan_hold(struct fleet_plan_events *e, const struct fleet_plan_spread *l, int64_t since,
		     int64_t until)
{
	int64_t gpus = gpus_of(l), each, end, longer;

	if (l->held_ns <= 0)
		return;
	each = l->held_ns / gpus;
	end = after(l->start_ns, each);
	longer = after(end, 1);
	span(e, l->type, base_max(l->start_ns, since), base_min(end, until), gpus);
	span(e, l->type, base_max(end, since), base_min(longer, until), l->held_ns % gpus);
}

static int by_time(const void *a, const void *b)
{
	const struct fleet_plan_event *x = a, *y = b;

	if (x->type != y->type)
		return x->type < y->type ? -1 : 1;
	return x->at != y->at ? (x->at < y->at ? -1 : 1) : 0;
}

static int by_gpus(const void *a, const void *b)
{
	const struct fleet_plan_step *x = a, *y = b;

	return x->gpus != y->gpus ? (x->gpus < y->gpus ? -1 : 1) : 0;
}

/* Steps of the same count become one; returns how many are left. */
static size_t join(struct fleet_plan_step *s, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		if (kept && s[kept - 1].gpus == s[i].gpus)
			s[kept - 1].ns += s[i].ns;
		else
			s[kept++] = s[i];
	}
	return kept;
}

/* The events of one type, in order. */
static void steps_of(struct fleet_plan_type *t, const struct fleet_plan_event *e, size_t n,
		     struct base_arena *mem)
{
	base_wide held = 0;

	t->step = base_arena_array(mem, n, sizeof(*t->step));
	for (size_t i = 0; i + 1 < n; i++) {
		held += e[i].gpus;
		if (held > 0 && e[i + 1].at > e[i].at)
			t->step[t->steps++] =
				(struct fleet_plan_step){ held, e[i + 1].at - e[i].at };
	}
	if (t->steps)
		qsort(t->step, t->steps, sizeof(*t->step), by_gpus);
	t->steps = join(t->step, t->steps);
	t->most = t->steps ? t->step[t->steps - 1].gpus : 0;
}

void fleet_plan_most(struct fleet_plan_events *e, base_wide *most, size_t types)
{
	base_wide held = 0;

	if (e->n)
		qsort(e->event, e->n, sizeof(*e->event), by_time);
	for (size_t i = 0; i < types; i++)
		most[i] = 0;
	for (size_t i = 0; i < e->n; i++) {
		const struct fleet_plan_event *v = &e->event[i], *next = v + 1;

		held += v->gpus;
		if (i + 1 == e->n || next->type != v->type)
			held = 0;
		else if (next->at > v->at && held > most[v->type])
			most[v->type] = held;
	}
}

void fleet_plan_steps(struct fleet_plan_events *e, struct fleet_plan_type *type, size_t types,
		      struct base_arena *mem)
{
	size_t at = 0;

	if (e->n)
		qsort(e->event, e->n, sizeof(*e->event), by_time);
	for (size_t i = 0; i < types; i++) {
		size_t from = at;

		while (at < e->n && e->event[at].type == i)
			at++;
		if (at > from)
			steps_of(&type[i], &e->event[from], at - from, mem);
	}
}

void fleet_plan_events_fini(struct fleet_plan_events *e)
{
	free(e->event);
	*e = (struct fleet_plan_events){ 0 };
}
