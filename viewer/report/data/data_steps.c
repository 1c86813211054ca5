/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps: their times, how these spread, the slowest.
 */
#include "analysis/time/span.h"
#include "data_priv.h"

#define SERIES_MAX 128u

/* So many buckets become one; the last levels show fewer processes. */
static size_t merge_of(unsigned int level)
{
	return (size_t)1 << (level < 8 ? level : 8);
}

static size_t series_of(unsigned int level)
{
	static const size_t less[] = { 64, 32, 16, 8 };

	return level < 8 ? SERIES_MAX : less[level - 8 < 4 ? level - 8 : 3];
}

static struct ana_step_bucket merged(const struct ana_step_series *l, size_t at, size_t merge)
{
	struct ana_step_bucket b = l->bucket[at];

	for (size_t i = at + 1; i < l->buckets && i < at + merge; i++) {
		const struct ana_step_bucket *k = &l->bucket[i];
		b.end_ns = k->end_ns > b.end_ns ? k->end_ns : b.end_ns;
		b.min_ns = k->min_ns < b.min_ns ? k->min_ns : b.min_ns;
		b.max_ns = k->max_ns > b.max_ns ? k->max_ns : b.max_ns;
		ana_sum(&b.sum_ns, k->sum_ns);
		ana_sum(&b.input_ns, k->input_ns);
		b.count += k->count;
	}
	return b;
}

static int64_t column(const struct ana_step_bucket *b, int which)
{
	switch (which) {
	case 0:
		return b->start_ns;
	case 1:
		return b->end_ns - b->start_ns;
	case 2:
		return b->min_ns;
	case 3:
		return b->max_ns;
	case 4:
		return b->sum_ns;
	case 5:
		return b->input_ns;
	default:
		return (int64_t)b->count;
	}
}

static void put_series(struct data *d, const struct ana_step_series *l, size_t merge)
{
	static const char *const name[] = { "start_ns", "end_ns",   "min_ns", "max_ns",
					    "sum_ns",	"input_ns", "count" };

	data_open(&d->out, NULL, '{');
	data_uint(&d->out, "process", data_process(d, l->process));
	data_uint(&d->out, "each", l->each * merge);
	for (int k = 0; k < 7; k++) {
		int64_t before = k ? 0 : d->axis_start;
		data_open(&d->out, name[k], '[');
		for (size_t i = 0; i < l->buckets; i += merge) {
			struct ana_step_bucket b = merged(l, i, merge);
			data_int(&d->out, NULL, column(&b, k) - before);
			before = k ? 0 : b.start_ns;
		}
		data_close(&d->out, ']');
	}
	data_close(&d->out, '}');
}

static void put_histogram(struct data *d)
{
	const uint64_t *n = d->series->histogram;
	unsigned int first = 0, end = ANA_HISTOGRAM_BINS;

	while (first < end && !n[first])
		first++;
	while (end > first && !n[end - 1])
		end--;
	data_open(&d->out, "histogram", '{');
	data_open(&d->out, "edges_ns", '[');
	for (unsigned int i = first; i <= end && first < end; i++)
		data_int(&d->out, NULL, ana_histogram_edge(i));
	data_close(&d->out, ']');
	data_open(&d->out, "count", '[');
	for (unsigned int i = first; i < end; i++)
		data_uint(&d->out, NULL, n[i]);
	data_close(&d->out, ']');
	data_close(&d->out, '}');
}

static void put_outliers(struct data *d)
{
	data_open(&d->out, "outliers", '[');
	for (size_t i = 0; i < d->series->outliers; i++) {
		const struct ana_step *s = &d->series->outlier[i];
		data_open(&d->out, NULL, '{');
		data_uint(&d->out, "process", data_process(d, s->process));
		data_int(&d->out, "start_ns", s->start_ns - d->axis_start);
		data_int(&d->out, "end_ns", s->end_ns - d->axis_start);
		data_int(&d->out, "input_ns", s->input_ns);
		data_close(&d->out, '}');
	}
	data_close(&d->out, ']');
}

void data_steps(struct data *d, unsigned int level)
{
	const struct ana_series *s = d->series;
	size_t shown;

	if (!s->step_series) {
		data_null(&d->out, "steps");
		return;
	}
	shown = s->step_series < series_of(level) ? s->step_series : series_of(level);
	data_open(&d->out, "steps", '{');
	data_uint(&d->out, "count",
		  d->r->unrecorded.ns ? d->r->unrecorded.steps_recorded : d->r->steps);
	data_uint(&d->out, "skipped", d->r->steps_skipped);
	data_int(&d->out, "median_ns", d->r->step_median_ns);
	data_int(&d->out, "p95_ns", d->r->step_p95_ns);
	data_open(&d->out, "series", '[');
	for (size_t i = 0; i < shown; i++)
		put_series(d, &s->steps[i], merge_of(level));
	data_close(&d->out, ']');
	data_uint(&d->out, "series_left_out", s->step_series - shown);
	put_histogram(d);
	put_outliers(d);
	data_close(&d->out, '}');
}
