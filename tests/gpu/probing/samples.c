/* SPDX-License-Identifier: Apache-2.0 */
/*
 * samples.c - means and sums over samples.
 */
#include "samples.h"

#include "figures.h"

#define ANY 0 /* as an interval: every sample is of the right length */

static int64_t length_of(const struct pm_sample *s)
{
	return (int64_t)(s->end - s->start);
}

static int is_odd(const struct pm_sample *s, int64_t interval)
{
	int64_t off = length_of(s) - interval;

	return interval != ANY && (off > interval / 2 || off < -interval / 2);
}

struct samples_odd samples_odd(const struct pm_sample *list, size_t n, int64_t interval)
{
	struct samples_odd odd = { 0, 0, n ? length_of(&list[0]) : 0, 0 };
	size_t i;

	for (i = 0; i < n; i++) {
		if (is_odd(&list[i], interval)) {
			odd.n++;
			odd.ns += length_of(&list[i]);
		} else {
			odd.dark += list[i].value[PM_HERTZ] < 1;
		}
	}
	return odd;
}

int64_t samples_mean(const struct pm_sample *list, size_t n, int64_t interval, int metric)
{
	double sum = 0, length = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		double l = (double)length_of(&list[i]);

		if (is_odd(&list[i], interval))
			continue;
		sum += list[i].value[metric] * l;
		length += l;
	}
	return length > 0 ? (int64_t)(1000 * sum / length) : FIG_UNKNOWN;
}

int64_t samples_mean_of_all(const struct pm_sample *list, size_t n, int metric)
{
	return samples_mean(list, n, ANY, metric);
}

int64_t samples_total(const struct pm_sample *list, size_t n, int metric)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < n; i++)
		sum += list[i].value[metric];
	return (int64_t)sum;
}
