/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When nobody used a GPU that a job had: cases by hand, and 1,000 made-up allocations against a
 * painter who looks at each nanosecond by itself and walks to both sides from there. And their
 * dollars, which sum to those of the class.
 */
#include <stdlib.h>
#include <string.h>
#include "analysis/plan/allocations.h"
#include "analysis/plan/vacancy.h"
#include "cost/cost.h"
#include "harness.h"

#define CASES 1000
#define SPAN 64 /* ns of a made-up allocation */
#define MOST 6 /* intervals of a kind */

struct made {
	struct ana_spans given, unended, held;
};

static void put(struct ana_spans *s, int64_t start, int64_t end)
{
	EXPECT_INT(ana_spans_add(s, start, end), 0);
	ana_spans_merge(s);
}

static struct ana_vacancy split(struct made *m)
{
	struct ana_vacancy v = { 0 };

	ana_vacancy_add(&v, &m->given, &m->unended, &m->held);
	return v;
}

static void made_fini(struct made *m)
{
	ana_spans_fini(&m->given);
	ana_spans_fini(&m->unended);
	ana_spans_fini(&m->held);
}

static void expect_parts(const struct ana_vacancy *v, int64_t before, int64_t between,
			 int64_t after, int64_t never, int64_t unknown)
{
	const int64_t want[ANA_VACANTS] = { before, between, after, never, unknown };

	for (int p = 0; p < ANA_VACANTS; p++)
		EXPECT_INT(v->ns[p], want[p]);
	EXPECT_INT(ana_vacancy_ns(v), before + between + after + never + unknown);
}

static void test_a_sweep(void)
{
	struct made m = { 0 };
	struct ana_vacancy v;

	put(&m.given, 100, 1000);
	put(&m.held, 130, 200);
	put(&m.held, 250, 400);
	put(&m.held, 400, 500); /* at once: no gap */
	put(&m.held, 950, 960);
	v = split(&m);
	expect_parts(&v, 30, 50 + 450, 40, 0, 0);
	EXPECT_INT(v.gaps, 2);
	EXPECT_INT(v.longest_ns, 450);
	made_fini(&m);
}

/* Two programs at once on a GPU are one use of it, whichever ends first. */
static void test_runs_that_overlap(void)
{
	struct made m = { 0 };
	struct ana_vacancy v;

	put(&m.given, 0, 100);
	put(&m.held, 10, 50);
	put(&m.held, 20, 30);
	put(&m.held, 40, 60);
	v = split(&m);
	expect_parts(&v, 10, 0, 40, 0, 0);
	EXPECT_INT(v.gaps, 0);
	made_fini(&m);
}

static void test_never(void)
{
	struct made m = { 0 };
	struct ana_vacancy v;

	put(&m.given, 0, 100);
	v = split(&m);
	expect_parts(&v, 0, 0, 0, 100, 0);
	put(&m.held, 100, 200); /* behind its end */
	v = split(&m);
	expect_parts(&v, 0, 0, 0, 100, 0);
	made_fini(&m);
}

/* A requeue: what is between two stretches is nobody's, and each has a beginning and an end. */
static void test_two_stretches(void)
{
	struct made m = { 0 };
	struct ana_vacancy v;

	put(&m.given, 0, 100);
	put(&m.given, 500, 640);
	put(&m.held, 10, 40);
	v = split(&m);
	expect_parts(&v, 10, 0, 60, 140, 0);
	put(&m.held, 510, 600);
	v = split(&m);
	expect_parts(&v, 10 + 10, 0, 60 + 40, 0, 0);
	made_fini(&m);
}

/* What comes yet nobody knows: another run, or the end. What was between runs stays that. */
static void test_an_end_that_is_not_known(void)
{
	struct made m = { 0 };
	struct ana_vacancy v;

	put(&m.given, 0, 100);
	put(&m.unended, 0, 100);
	v = split(&m);
	expect_parts(&v, 0, 0, 0, 0, 100);
	put(&m.held, 10, 20);
	put(&m.held, 30, 40);
	v = split(&m);
	expect_parts(&v, 10, 10, 0, 0, 60);
	put(&m.held, 90, 100);
	v = split(&m);
	expect_parts(&v, 10, 10 + 50, 0, 0, 0);
	made_fini(&m);
	put(&m.given, 0, 100); /* the one without an end is another stretch */
	put(&m.given, 200, 300);
	put(&m.unended, 200, 300);
	v = split(&m);
	expect_parts(&v, 0, 0, 0, 100, 100);
	made_fini(&m);
}

static void test_nothing(void)
{
	struct made m = { 0 };
	struct ana_vacancy v = split(&m), sum = { 0 };

	expect_parts(&v, 0, 0, 0, 0, 0);
	put(&m.held, 0, 10);
	v = split(&m);
	expect_parts(&v, 0, 0, 0, 0, 0);
	v.known = true;
	v.longest_ns = v.gaps = v.unseen_ns = v.ns[ANA_VACANT_AFTER] = INT64_MAX;
	ana_vacancy_sum(&sum, &v);
	ana_vacancy_sum(&sum, &v);
	EXPECT_INT(sum.ns[ANA_VACANT_AFTER], INT64_MAX);
	EXPECT_INT(sum.longest_ns, INT64_MAX);
	made_fini(&m);
}

/* ---- against a painter ----------------------------------------------------------------------- */

struct painted {
	bool given[SPAN + 2], unended[SPAN + 2], used[SPAN + 2]; /* from 1; a frame of nothing */
};

static void paint(bool *on, int64_t start, int64_t end)
{
	for (int64_t t = start; t < end; t++)
		on[t + 1] = true;
}

static void random_spans(struct ana_spans *s, bool *on, int most, int64_t longest)
{
	for (int n = rand() % (most + 1); n > 0; n--) {
		int64_t start = rand() % SPAN, end = start + rand() % (longest + 1);

		end = end > SPAN ? SPAN : end;
		EXPECT_INT(ana_spans_add(s, start, end), 0);
		paint(on, start, end);
	}
}

static void make(struct made *m, struct painted *p)
{
	random_spans(&m->given, p->given, 3, SPAN);
	random_spans(&m->unended, p->unended, rand() % 3 ? 0 : 2, SPAN / 2);
	for (size_t i = 0; i < m->unended.count; i++) { /* those are given, too */
		EXPECT_INT(ana_spans_add(&m->given, m->unended.span[i].start,
					 m->unended.span[i].end),
			   0);
		paint(p->given, m->unended.span[i].start, m->unended.span[i].end);
	}
	random_spans(&m->held, p->used, MOST, SPAN / 6);
	ana_spans_merge(&m->given);
	ana_spans_merge(&m->unended);
	ana_spans_merge(&m->held);
}

static enum ana_vacant look(const struct painted *p, int t, int *from, int *to)
{
	bool came, comes;

	for (*from = t; p->given[*from - 1] && !p->used[*from - 1]; --*from)
		;
	for (*to = t; p->given[*to + 1] && !p->used[*to + 1]; ++*to)
		;
	came = p->given[*from - 1] && p->used[*from - 1];
	comes = p->given[*to + 1] && p->used[*to + 1];
	if (!comes && p->unended[*to])
		return ANA_VACANT_UNKNOWN;
	if (came)
		return comes ? ANA_VACANT_BETWEEN : ANA_VACANT_AFTER;
	return comes ? ANA_VACANT_BEFORE : ANA_VACANT_NEVER;
}

static void look_at_all(const struct painted *p, struct ana_vacancy *v)
{
	for (int t = 1; t <= SPAN; t++) {
		enum ana_vacant part;
		int from, to;

		if (!p->given[t] || p->used[t])
			continue;
		part = look(p, t, &from, &to);
		v->ns[part]++;
		if (part != ANA_VACANT_BETWEEN || t != from)
			continue;
		v->gaps++;
		if (to + 1 - from > v->longest_ns)
			v->longest_ns = to + 1 - from;
	}
}

static void expect_money(const struct ana_vacancy *v, int64_t ns)
{
	struct ana_gpu gpu = { .held_ns = ns, .vacancy = *v };
	struct ana_result r = { .gpu = &gpu, .gpus = 1, .gpu_ns = ns };
	struct view_rate *rate = calloc(1, sizeof(*rate));
	const bool waste[ANA_CLASSES] = { [ANA_EXCLUDED_NO_PROCESS] = true };
	struct view_cost c;
	int64_t sum = 0;

	gpu.classes[ANA_EXCLUDED_NO_PROCESS] = r.classes[ANA_EXCLUDED_NO_PROCESS] = ns;
	rate->known = true;
	rate->nano_usd_per_hour = rand() * INT64_C(500000) + rand();
	EXPECT_INT(view_cost_compute(&c, &r, rate, waste), 0);
	for (int p = 0; p < ANA_VACANTS; p++) {
		int64_t exact = view_cost_amount(c.rate[0].nano_usd_per_hour, v->ns[p]);

		sum += c.vacant[p];
		EXPECT(c.vacant[p] >= exact - 1 && c.vacant[p] <= exact + 1);
	}
	EXPECT_INT(sum, c.classes[ANA_EXCLUDED_NO_PROCESS]);
	view_cost_fini(&c);
}

static void test_made_up_allocations(void)
{
	int64_t seen[ANA_VACANTS] = { 0 };

	srand(23);
	for (int i = 0; i < CASES; i++) {
		struct painted p = { 0 };
		struct made m = { 0 };
		struct ana_vacancy want = { 0 }, got;

		make(&m, &p);
		look_at_all(&p, &want);
		got = split(&m);
		for (int k = 0; k < ANA_VACANTS; k++) {
			EXPECT_INT(got.ns[k], want.ns[k]);
			seen[k] += want.ns[k] != 0;
		}
		EXPECT_INT(got.gaps, want.gaps);
		EXPECT_INT(got.longest_ns, want.longest_ns);
		EXPECT_INT(ana_vacancy_ns(&got),
			   ana_allocations_outside(&m.given, &m.held, NULL, NULL));
		expect_money(&got, ana_vacancy_ns(&got));
		made_fini(&m);
	}
	for (int k = 0; k < ANA_VACANTS; k++)
		EXPECT(seen[k] >= 20);
}

int main(void)
{
	return RUN(test_a_sweep, test_runs_that_overlap, test_never, test_two_stretches,
		   test_an_end_that_is_not_known, test_nothing, test_made_up_allocations);
}
