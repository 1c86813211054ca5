/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loader workers' states and batches over time.
 */
#include "analysis/time/span.h"
#include "data_priv.h"

static struct ana_spread joined(struct ana_spread a, const struct ana_spread *b)
{
	if (!b->count)
		return a;
	if (!a.count || b->min_ns < a.min_ns)
		a.min_ns = b->min_ns;
	if (!a.count || b->max_ns > a.max_ns)
		a.max_ns = b->max_ns;
	a.count += b->count;
	ana_sum(&a.sum_ns, b->sum_ns);
	return a;
}

static struct ana_spread spread_at(const struct ana_series *s, size_t at, size_t merge, bool take)
{
	struct ana_spread a = { 0 };

	for (size_t i = at; i < s->cells && i < at + merge; i++)
		a = joined(a, take ? &s->cell[i].take : &s->cell[i].fetch);
	return a;
}

static void put_spread(struct data *d, const char *key, size_t merge, bool take)
{
	static const char *const name[] = { "count", "min_ns", "max_ns", "sum_ns" };
	const struct ana_series *s = d->series;

	data_open(&d->out, key, '{');
	for (int k = 0; k < 4; k++) {
		data_open(&d->out, name[k], '[');
		for (size_t i = 0; i < s->cells; i += merge) {
			struct ana_spread a = spread_at(s, i, merge, take);
			data_int(&d->out, NULL,
				 k == 0	  ? (int64_t)a.count
				 : k == 1 ? a.min_ns
				 : k == 2 ? a.max_ns
					  : a.sum_ns);
		}
		data_close(&d->out, ']');
	}
	data_close(&d->out, '}');
}

static void put_states(struct data *d, size_t merge)
{
	const struct ana_series *s = d->series;

	if (!s->has_states) {
		data_null(&d->out, "states");
		return;
	}
	data_open(&d->out, "states", '{');
	for (int k = 0; k < ANA_WORKER_STATES; k++) {
		data_open(&d->out, ana_worker_state_names[k], '[');
		for (size_t i = 0; i < s->cells; i += merge) {
			int64_t ns = 0;
			for (size_t j = i; j < s->cells && j < i + merge; j++)
				ana_sum(&ns, s->cell[j].state_ns[k]);
			data_int(&d->out, NULL, ns);
		}
		data_close(&d->out, ']');
	}
	data_close(&d->out, '}');
}

static void put_depth(struct data *d, size_t merge)
{
	const struct ana_series *s = d->series;

	if (!s->has_ready) {
		data_null(&d->out, "depth");
		return;
	}
	data_open(&d->out, "depth", '[');
	for (size_t i = 0; i < s->cells; i += merge) {
		size_t last = i + merge <= s->cells ? i + merge - 1 : s->cells - 1;
		data_int(&d->out, NULL, s->cell[last].ready);
	}
	data_close(&d->out, ']');
}

void data_loader(struct data *d, unsigned int level)
{
	const struct ana_series *s = d->series;
	size_t merge = (size_t)1 << level;

	if (!s->cell) {
		data_null(&d->out, "loader");
		return;
	}
	data_open(&d->out, "loader", '{');
	data_int(&d->out, "cell_ns", s->cell_ns * (int64_t)merge);
	data_uint(&d->out, "cells", (s->cells + merge - 1) / merge);
	put_states(d, merge);
	put_spread(d, "batch", merge, false);
	put_spread(d, "take", merge, true);
	put_depth(d, merge);
	data_close(&d->out, '}');
}
