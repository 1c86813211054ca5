/* SPDX-License-Identifier: Apache-2.0 */
#include "minutes.h"

#include <errno.h>
#include <stdlib.h>
#include "analysis/archive.h"

#define MINUTE_NS 60000000000LL
#define MINUTES_MAX (2 * 366 * 24 * 60)

int ana_minutes_init(struct ana_minutes *m, int64_t start, int64_t end)
{
	int64_t count;

	*m = (struct ana_minutes){ .start = start };
	if (__builtin_sub_overflow(end, start, &count) || count < MINUTE_NS)
		return 0;
	count /= MINUTE_NS;
	if (count > MINUTES_MAX)
		return 0;
	m->busy_ns = calloc((size_t)count + 1, sizeof(*m->busy_ns));
	m->count = (size_t)count;
	return m->busy_ns ? 0 : -ENOMEM;
}

void ana_minutes_fini(struct ana_minutes *m)
{
	free(m->busy_ns);
	*m = (struct ana_minutes){ 0 };
}

int64_t ana_minutes_go(struct ana_minutes *m, int64_t t)
{
	int64_t end = m->start + (int64_t)m->count * MINUTE_NS;

	if (!m->busy_ns || t >= end) {
		m->at = m->count;
		return INT64_MAX;
	}
	m->at = t > m->start ? (size_t)((t - m->start) / MINUTE_NS) : 0;
	return m->start + (int64_t)(m->at + 1) * MINUTE_NS;
}

static enum ana_band band_of(int64_t busy_ns)
{
	static const int above[ANA_BANDS] = { 0, 5, 20, 40, 60, 80 };
	int b = ANA_BANDS - 1;

	while (b > 0 && busy_ns * 100 < above[b] * MINUTE_NS)
		b--;
	return (enum ana_band)b;
}

void ana_minutes_count(const struct ana_minutes *m, struct ana_spans *held, struct ana_spans *lost,
		       struct ana_spans *unobserved, int64_t band[ANA_BANDS])
{
	for (size_t i = 0; i < m->count; i++) {
		int64_t from = m->start + (int64_t)i * MINUTE_NS, to = from + MINUTE_NS;

		if (held->count && ana_spans_within(held, from, to) != MINUTE_NS)
			continue;
		if (ana_spans_within(lost, from, to) || ana_spans_within(unobserved, from, to))
			continue;
		band[band_of(m->busy_ns[i])]++;
	}
}

void ana_minutes_archive(struct ana_minutes *m, struct ana_archive *a)
{
	m->at = ana_archive_number(a, m->at, m->count);
	for (size_t i = 0; m->busy_ns && i <= m->count; i++)
		ana_archive_time(a, &m->busy_ns[i]);
}
