/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Per GPU: its timeline and its longest gaps.
 */
#include <string.h>
#include "base/arena.h"
#include "base/units.h"
#include "data_priv.h"

struct coarseness {
	size_t merge; /* so many buckets become one */
	size_t gpus, gaps; /* at most */
	size_t fine; /* so many buckets of a closer window become one; 0: no windows */
};

static const struct coarseness levels[DATA_GPUS_LEVELS] = {
	{ 1, SIZE_MAX, SIZE_MAX, 1 },
	{ 2, SIZE_MAX, 8, 1 },
	{ 4, SIZE_MAX, 8, 1 },
	{ 8, SIZE_MAX, 4, 2 },
	{ 8, 256, 4, 2 },
	{ 8, 64, 4, 2 },
	{ 16, 64, 4, 4 },
	{ 16, 64, 2, 0 },
	{ 24, 64, 1, 0 },
	{ 16, 16, 4, 8 },
	{ 32, 8, 1, 0 },
};

static void put_parts(struct data *d, const struct ana_bucket *b, size_t count)
{
	data_open(&d->out, NULL, '[');
	for (int c = 0; c < ANA_CLASSES; c++) {
		int64_t ns = 0;
		for (size_t i = 0; i < count; i++)
			ns += b[i].classes[c];
		if (!ns)
			continue;
		data_int(&d->out, NULL, c);
		data_int(&d->out, NULL, ns);
	}
	data_close(&d->out, ']');
}

static void put_longest(struct data *d, const int64_t *longest, size_t count, size_t merge)
{
	if (!longest) {
		data_null(&d->out, "longest_ns");
		return;
	}
	data_open(&d->out, "longest_ns", '[');
	for (size_t i = 0; i < count; i += merge) {
		int64_t most = 0;
		for (size_t k = i; k < count && k < i + merge; k++)
			most = longest[k] > most ? longest[k] : most;
		data_int(&d->out, NULL, most);
	}
	data_close(&d->out, ']');
}

static void put_strip(struct data *d, const char *key, const struct ana_timeline *t,
		      const int64_t *longest, size_t merge)
{
	int64_t start, end;

	if (!t || !t->count) {
		data_null(&d->out, key);
		return;
	}
	start = t->bucket[0].start_ns;
	end = t->bucket[t->count - 1].end_ns;
	data_open(&d->out, key, '{');
	data_int(&d->out, "start_ns", start - d->axis_start);
	data_int(&d->out, "width_ns",
		 base_div_even((__int128)(t->bucket[0].end_ns - start) * (__int128)merge, 1));
	data_int(&d->out, "end_ns", end - d->axis_start);
	data_open(&d->out, "parts", '[');
	for (size_t i = 0; i < t->count; i += merge)
		put_parts(d, &t->bucket[i], t->count - i < merge ? t->count - i : merge);
	data_close(&d->out, ']');
	put_longest(d, longest, t->count, merge);
	data_close(&d->out, '}');
}

static void put_fine(struct data *d, size_t g, size_t merge)
{
	data_open(&d->out, "fine", '[');
	for (size_t i = 0; merge && i < d->series->zooms; i++)
		if (d->series->zoom[i].gpu == g)
			put_strip(d, NULL, &d->series->zoom[i].line, NULL, merge);
	data_close(&d->out, ']');
}

/* This GPU's own longest. */
static void put_gaps(struct data *d, size_t g, size_t most)
{
	const struct ana_gpu_series *s = &d->series->gpu[g];

	data_open(&d->out, "gaps", '[');
	for (size_t i = 0; i < s->gaps && i < most; i++) {
		const struct ana_gap *k = &s->gap[i];
		data_open(&d->out, NULL, '{');
		data_int(&d->out, "start_ns", k->start_ns - d->axis_start);
		data_int(&d->out, "end_ns", k->end_ns - d->axis_start);
		data_int(&d->out, "empty_ns", k->empty_ns);
		data_int(&d->out, "class", k->major);
		data_int(&d->out, "class_ns", k->class_ns);
		data_close(&d->out, '}');
	}
	data_close(&d->out, ']');
}

static void put_gpu(struct data *d, size_t g, const struct coarseness *k)
{
	const struct ana_gpu *gpu = &d->r->gpu[g];
	bool held = gpu->held_end_ns > gpu->held_start_ns;
	struct base_arena mem = { 0 };

	data_open(&d->out, NULL, '{');
	data_uint(&d->out, "gpu", g);
	data_text(&d->out, "label",
		  base_arena_printf(&mem, "GPU %u%s%s", gpu->index, gpu->host[0] ? " on " : "",
				    gpu->host),
		  false);
	data_int(&d->out, "start_ns", held ? gpu->held_start_ns - d->axis_start : 0);
	data_int(&d->out, "end_ns", held ? gpu->held_end_ns - d->axis_start : 0);
	put_strip(d, "timeline", d->r->timeline ? &d->r->timeline[g] : NULL,
		  d->series->gpu[g].longest_ns, k->merge);
	put_fine(d, g, k->fine);
	put_gaps(d, g, k->gaps);
	data_close(&d->out, '}');
	base_arena_fini(&mem);
}

void data_gpus(struct data *d, unsigned int level)
{
	const struct coarseness *k = &levels[level];
	size_t shown = d->r->gpus < k->gpus ? d->r->gpus : k->gpus;

	data_open(&d->out, "gpus", '[');
	for (size_t g = 0; g < shown; g++)
		put_gpu(d, g, k);
	data_close(&d->out, ']');
	data_uint(&d->out, "gpus_left_out", d->r->gpus - shown);
}
