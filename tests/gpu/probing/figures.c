/* SPDX-License-Identifier: Apache-2.0 */
/*
 * figures.c - medians, differences within rounds, and what a meter means.
 */
#include "figures.h"

#include <stdlib.h>
#include <string.h>

#define MOST 4096

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static int64_t at_rank(const int64_t *sorted, size_t n, unsigned permille)
{
	size_t rank = (n * permille + 999) / 1000;

	return sorted[rank ? rank - 1 : 0];
}

int64_t fig_quantile(int64_t *values, size_t n, unsigned permille)
{
	if (!n)
		return FIG_UNKNOWN;
	qsort(values, n, sizeof *values, by_value);
	return at_rank(values, n, permille);
}

struct spread fig_spread(const int64_t *values, size_t n)
{
	struct spread s = { FIG_UNKNOWN, FIG_UNKNOWN, FIG_UNKNOWN, FIG_UNKNOWN, FIG_UNKNOWN, 0 };
	int64_t sorted[MOST];

	if (!n)
		return s;
	s.n = n < MOST ? n : MOST;
	memcpy(sorted, values, s.n * sizeof *values);
	s.median = fig_quantile(sorted, s.n, 500);
	s.p25 = at_rank(sorted, s.n, 250);
	s.p75 = at_rank(sorted, s.n, 750);
	s.least = sorted[0];
	s.most = sorted[s.n - 1];
	return s;
}

static int64_t divide(int64_t a, int64_t b)
{
	int64_t half = (b < 0 ? -b : b) / 2;

	return ((a < 0) == (b < 0) ? a + (a < 0 ? -half : half) : a - (a < 0 ? half : -half)) / b;
}

int64_t fig_per(int64_t total, int64_t count)
{
	return count > 0 ? divide(total, count) : FIG_UNKNOWN;
}

struct spread fig_over(const int64_t *mode, const int64_t *base, size_t n)
{
	int64_t d[MOST];
	size_t i;

	n = n < MOST ? n : MOST;
	for (i = 0; i < n; i++)
		d[i] = mode[i] - base[i];
	return fig_spread(d, n);
}

struct spread fig_ratio(const int64_t *mode, const int64_t *base, size_t n)
{
	int64_t d[MOST];
	size_t i, good = 0;

	n = n < MOST ? n : MOST;
	for (i = 0; i < n; i++)
		if (base[i] > 0)
			d[good++] = divide((mode[i] - base[i]) * 100000, base[i]);
	return fig_spread(d, good);
}

int64_t fig_left(const int64_t *left, const int64_t *on, const int64_t *base, const int64_t *once,
		 const int64_t *again, size_t n)
{
	struct spread cost = fig_over(on, base, n), rest = fig_over(left, base, n);
	struct spread noise = fig_over(again, once, n);
	int64_t stray;

	if (!n)
		return FIG_UNKNOWN;
	stray = -noise.p25 > noise.p75 ? -noise.p25 : noise.p75;
	if (cost.median <= stray) /* which is never below 0 */
		return FIG_UNKNOWN;
	return divide(rest.median * 1000, cost.median);
}

struct duty fig_duty(const int64_t *truth, const int64_t *meter, size_t n)
{
	struct duty d = { 0, FIG_UNKNOWN, FIG_UNKNOWN, n };
	double x = 0, y = 0, xx = 0, xy = 0, spread;
	size_t i;

	for (i = 0; i < n; i++) {
		int64_t off = meter[i] > truth[i] ? meter[i] - truth[i] : truth[i] - meter[i];

		d.worst = off > d.worst ? off : d.worst;
		x += (double)truth[i];
		y += (double)meter[i];
		xx += (double)truth[i] * (double)truth[i];
		xy += (double)truth[i] * (double)meter[i];
	}
	spread = (double)n * xx - x * x;
	if (n < 2 || spread <= 0)
		return d;
	d.slope = (int64_t)(1000 * ((double)n * xy - x * y) / spread);
	d.base = (int64_t)((y - (double)d.slope / 1000 * x) / (double)n);
	return d;
}

const char *fig_meaning(const struct duty *d)
{
	if (d->slope == FIG_UNKNOWN)
		return "nothing: too few points";
	if (d->worst <= 5000)
		return "the duty cycle";
	if (d->slope >= 900 && d->slope <= 1100)
		return "the duty cycle, with an offset";
	if (d->slope <= 100 && d->slope >= -100 && d->base >= 90000)
		return "that a context is resident";
	if (d->slope <= 100 && d->slope >= -100)
		return "not how long kernels run";
	return "a part of the duty cycle";
}

struct spread fig_refresh(const int64_t *times, const int64_t *values, size_t n)
{
	int64_t d[MOST];
	size_t i, last = 0, count = 0;

	for (i = 1; i < n && count < MOST; i++) {
		if (values[i] == values[i - 1])
			continue;
		if (last)
			d[count++] = times[i] - times[last];
		last = i;
	}
	return fig_spread(d, count);
}

struct spread fig_gaps(const int64_t *times, size_t n)
{
	int64_t d[MOST];
	size_t i;

	n = n < MOST ? n : MOST;
	for (i = 1; i < n; i++)
		d[i - 1] = times[i] - times[i - 1];
	return fig_spread(d, n ? n - 1 : 0);
}
