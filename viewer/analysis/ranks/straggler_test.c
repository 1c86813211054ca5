/* SPDX-License-Identifier: Apache-2.0 */
#include "straggler_test.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "base/vec.h"

#define LATES_MAX 8192u

int ana_lateness_add(struct ana_lateness *l, int64_t ns)
{
	size_t i;

	if (!l->each)
		l->each = 1;
	if (l->seen++ % l->each)
		return 0;
	if (l->count == LATES_MAX) { /* thin out */
		for (i = 0; i < LATES_MAX / 2; i++)
			l->ns[i] = l->ns[2 * i];
		l->count = LATES_MAX / 2;
		l->each *= 2;
		if ((l->seen - 1) % l->each)
			return 0;
	}
	if (!base_vec_more(l->ns, l->count, l->room))
		return -ENOMEM;
	l->ns[l->count++] = ns;
	return 0;
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

int64_t ana_lateness_median(struct ana_lateness *l)
{
	if (!l->count)
		return 0;
	qsort(l->ns, l->count, sizeof(*l->ns), by_value);
	return l->ns[(l->count - 1) / 2];
}

void ana_lateness_fini(struct ana_lateness *l)
{
	free(l->ns);
	*l = (struct ana_lateness){ 0 };
}

void ana_straggler_test_add(struct ana_straggler_test *s, const uint32_t *member, size_t members,
			    uint32_t who, int64_t late_ns, int64_t t, int64_t step_ns)
{
	size_t i;

	if (s[who].events && t < s[who].until)
		return;
	s[who].until = t + step_ns / 2;
	s[who].events++;
	s[who].event_ns += late_ns;
	for (i = 0; i < members; i++) {
		struct ana_straggler_test *m = &s[member ? member[i] : i];

		m->of++;
		m->expected += 1.0 / (double)members;
	}
}

/*
 * ln of a bound on the chance of so many events or more (Chernoff): binomial, @of tries, each with
 * the chance expected / of.
 */
static double chance(const struct ana_straggler_test *s)
{
	double n = (double)s->of, k = (double)s->events;
	double p = s->of ? s->expected / n : 1, q = n > 0 ? k / n : 0;

	if (q <= p || p <= 0)
		return 0;
	if (q >= 1)
		return n * log(p);
	return -n * (q * log(q / p) + (1 - q) * log((1 - q) / (1 - p)));
}

static bool reaches(int64_t part, int64_t ppm, int64_t whole)
{
	return whole > 0 && (__int128)part * 1000000 >= (__int128)whole * ppm;
}

static void decide_rotating(struct ana_straggler_test *s, size_t n, int64_t span_ns)
{
	int64_t all = 0;
	size_t i, several = 0;

	for (i = 0; i < n; i++) {
		if (s[i].verdict == ANA_CULPRIT_STABLE)
			continue;
		all += s[i].event_ns;
		several += s[i].events >= 2;
	}
	if (several < 2 || !reaches(all, ANA_STRAGGLER_ROTATING_PPM, span_ns))
		return;
	for (i = 0; i < n; i++)
		if (s[i].verdict == ANA_CULPRIT_NONE && s[i].events >= 2 &&
		    (__int128)s[i].event_ns * 10 >= all)
			s[i].verdict = ANA_CULPRIT_ROTATING;
}

bool ana_straggler_test_stable(const struct ana_straggler_test *s, size_t tests, int64_t span_ns)
{
	double bound = ANA_STRAGGLER_ALPHA_LN - log(tests > 0 ? (double)tests : 1);

	return s->events >= ANA_STRAGGLER_EVENTS_LEAST && chance(s) < bound &&
	       reaches(s->event_ns, ANA_STRAGGLER_EFFECT_PPM, span_ns);
}

void ana_straggler_test_decide(struct ana_straggler_test *s, size_t n, size_t tests,
			       int64_t span_ns)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (ana_straggler_test_stable(&s[i], tests, span_ns))
			s[i].verdict = ANA_CULPRIT_STABLE;
	decide_rotating(s, n, span_ns);
}
