/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the first run's advice promised at most, and what came true. A bound covers the classes of
 * its advice, so those are what is measured again in the later run.
 */
#include "compare_priv.h"
#include "findings/findings.h"

#define PROMISES_MAX 64 /* a summary of ours has at most 8 */

/* More workers also spare the time that only a full queue spares (as the bound counts it). */
static bool covers(const struct view_advice *a, enum ana_class c)
{
	if (!a->with_need)
		return c == a->class;
	return ana_class_wants_workers(c);
}

struct area { /* of a piece of advice, in both runs */
	__int128 ns[2], nano_usd;
};

/* Time of a class, and what others waited for ranks that were late by it: the bound counts both. */
static int64_t with_waits(const struct view_summary *s, int c)
{
	return compare_bounded(s->result->classes[c]) + compare_bounded(s->result->skew_causes[c]);
}

static struct area area_of(const struct pairing *g, const struct view_advice *a)
{
	struct area r = { { 0, 0 }, 0 };

	for (int c = 0; c < ANA_CLASSES; c++) {
		if (!covers(a, (enum ana_class)c))
			continue;
		r.ns[0] += with_waits(g->s[0], c);
		r.ns[1] += with_waits(g->s[1], c) - compare_new_hotspots(g, (enum ana_class)c);
		r.nano_usd += compare_bounded(g->s[0]->cost.classes[c]) +
			      compare_bounded(g->s[0]->cost.skew[c]);
	}
	return r;
}

static int64_t narrow(__int128 v)
{
	__int128 most = INT64_C(1) << 61;

	return (int64_t)(v > most ? most : v < -most ? -most : v);
}

/* The least of what the class gave, what the whole gave, and what was promised; at least 0. */
static int64_t realised(int64_t change, int64_t whole, int64_t bound, enum view_limit *limit)
{
	int64_t v = change;

	*limit = VIEW_LIMIT_CHANGE;
	if (whole < v) {
		v = whole;
		*limit = VIEW_LIMIT_WHOLE;
	}
	if (bound <= v) {
		v = bound;
		*limit = VIEW_LIMIT_BOUND;
	}
	if (v > 0)
		return v;
	*limit = change > 0 ? VIEW_LIMIT_WHOLE : VIEW_LIMIT_NOTHING;
	return 0;
}

/* At what the first run paid for the time of these classes. */
static int64_t priced(const struct area *r, int64_t ns)
{
	return r->ns[0] > 0 ? compare_bounded(base_div_even(r->nano_usd * ns, r->ns[0])) : 0;
}

static int64_t saved(const struct view_pair *p, const char *id)
{
	return -view_pair_measure(p, id)->difference; /* 0 where it is not comparable */
}

/* GPUs that nobody used are no part of the working time. */
static int64_t whole_step(const struct view_pair *p, const struct view_advice *a)
{
	if (a->class == ANA_EXCLUDED_NO_PROCESS)
		return INT64_C(1) << 61;
	return saved(p, "gpu_step_working");
}

/*
 * How long a run takes to start and to end is nothing that advice is about, and differs by itself.
 */
static int64_t whole_run(const struct pairing *g, const struct view_advice *a)
{
	if (a->class == ANA_EXCLUDED_NO_PROCESS)
		return saved(g->p, "gpu_run");
	return narrow((__int128)view_working_ns(g->s[0]) - view_working_ns(g->s[1]));
}

static int64_t per_samples(const struct view_summary *s, __int128 amount)
{
	const struct view_outcome *o = view_outcome_of(s, "samples");
	__int128 most = (__int128)1 << 66, all;

	if (amount > most || amount < -most || __builtin_mul_overflow(amount * 1000, o->den, &all))
		return 0;
	return narrow(base_div_even_wide(all, o->num));
}

/* What a step saves means nothing where another is of more. */
static void hold_against_samples(const struct pairing *g, const struct area *r,
				 struct view_promise *q)
{
	const struct view_advice *a = q->advice;
	const struct view_summary *const *s = g->s;
	int64_t change, whole = a->class == ANA_EXCLUDED_NO_PROCESS
					? INT64_C(1) << 61
					: per_samples(s[0], view_working_ns(s[0])) -
						  per_samples(s[1], view_working_ns(s[1]));

	q->upper_samples_ns = per_samples(s[0], a->saving_ns);
	q->upper_samples_nano_usd = per_samples(s[0], a->saving_nano_usd);
	change = per_samples(s[0], r->ns[0]) - per_samples(s[1], r->ns[1]);
	q->samples_kept = change < q->upper_samples_ns;
	q->samples_ns = realised(change, whole, q->upper_samples_ns, &q->samples_limit);
	if (g->p->samples_usd)
		q->samples_nano_usd = priced(r, q->samples_ns);
}

static struct view_promise promise(const struct pairing *g, const struct view_advice *a)
{
	const struct view_pair *p = g->p;
	struct view_promise q = { .advice = a };
	struct area r = area_of(g, a);
	enum view_limit per_run;

	q.upper_step_ns = compare_per_step(g->s[0], a->saving_ns);
	q.upper_step_nano_usd = compare_per_step(g->s[0], a->saving_nano_usd);
	if (!p->why[VIEW_PART_GPU_STEP]) {
		q.change_step_ns =
			compare_per_step(g->s[0], r.ns[0]) - compare_per_step(g->s[1], r.ns[1]);
		q.kept = q.change_step_ns < q.upper_step_ns;
		q.step_ns = realised(q.change_step_ns, whole_step(p, a), q.upper_step_ns, &q.limit);
	}
	if (!p->why[VIEW_PART_USD_STEP])
		q.step_nano_usd = priced(&r, q.step_ns);
	if (!p->why[VIEW_PART_GPU_RUN])
		q.run_ns = realised(narrow(r.ns[0] - r.ns[1]), whole_run(g, a), a->saving_ns,
				    &per_run);
	if (!p->why[VIEW_PART_USD_RUN])
		q.run_nano_usd = priced(&r, q.run_ns);
	if (p->samples_gpu)
		hold_against_samples(g, &r, &q);
	return q;
}

static int64_t monthly(const struct view_comparison *c, int64_t v)
{
	return c->runs_per_month < 0 ? 0 : narrow((__int128)v * c->runs_per_month);
}

void compare_promises(struct pairing *g)
{
	const struct view_summary *s = g->s[0];
	struct view_pair *p = g->p;
	size_t n = s->advices < PROMISES_MAX ? s->advices : PROMISES_MAX;

	p->promise = base_arena_array(&g->c->mem, n, sizeof(*p->promise));
	for (size_t i = 0; i < n; i++)
		if (!view_advice_only_tells(&s->advice[i]))
			p->promise[p->promises++] = promise(g, &s->advice[i]);
	p->saving = (struct view_saving){ .step_ns = saved(p, "gpu_step_working"),
					  .step_nano_usd = saved(p, "usd_step_working"),
					  .run_ns = saved(p, "gpu_run"),
					  .run_nano_usd = saved(p, "usd_run") };
	p->saving.month_ns = monthly(g->c, p->saving.run_ns);
	p->saving.month_nano_usd = monthly(g->c, p->saving.run_nano_usd);
}
