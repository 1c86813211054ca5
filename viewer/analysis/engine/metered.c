/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How busy GPUs were while not all was recorded, as NVML's meters tell.
 */
#include "result_make.h"

#include <errno.h>
#include <stdlib.h>
#include "used.h"

#define WHOLE 10000 /* of view_meter.busy */

static int64_t share_of(int64_t ns, uint32_t share)
{
	return (int64_t)((__int128)ns * share / WHOLE);
}

/*
 * Several processes may have asked about the same time: it counts once. Those of one process follow
 * each other but for roundings, of which what is left of a reading shows that it is its own.
 */
static void add(struct ana_device *d, const struct view_meter *m, size_t n, struct ana_metered *to)
{
	int64_t until = INT64_MIN;
	size_t i;

	for (i = 0; i < n; i++) {
		int64_t start = base_max(m[i].start_ns, until), ns = m[i].end_ns - start;

		if (ns <= 0 || ns < (m[i].end_ns - m[i].start_ns) / 10 * 9 ||
		    ana_spans_within(&d->unobserved, start, m[i].end_ns) < ns)
			continue;
		until = m[i].end_ns;
		ana_sum(&to->known_ns, ns);
		ana_sum(&to->busy_ns, share_of(ns, m[i].busy));
		if (m[i].gpm)
			ana_sum(&to->gpm_ns, ns);
	}
}

static int add_device(const struct ana_plan *p, struct ana_device *d, struct ana_result *r)
{
	struct view_meter *m;
	size_t n, i;
	int err = ana_plan_meters(p, d, &m, &n);

	if (err || !n)
		return err;
	add(d, m, n, &r->quality.metered);
	n = ana_used_pick(m, n, d->first_ns, d->last_ns);
	for (i = 0; i < n; i++)
		ana_used_add(&r->units, &m[i]);
	free(m);
	return 0;
}

int ana_result_metered(struct ana_plan *p, struct ana_result *r)
{
	size_t i;
	int err = 0;

	for (i = 0; i < p->devices && !err; i++)
		err = add_device(p, &p->device[i], r);
	return err;
}
