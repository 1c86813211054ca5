/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Per GPU: its timeline and its longest gaps.
 */
#include <string.h>
#include "base/arena.h"
#include "data_priv.h"

struct coarseness {
	size_t merge; /* so many buckets become one */
	size_t gpus, gaps; /* at most */
};

static const struct coarseness levels[DATA_GPUS_LEVELS] = {
	{ 1, SIZE_MAX, SIZE_MAX },
	{ 2, SIZE_MAX, SIZE_MAX },
	{ 4, SIZE_MAX, 8 },
	{ 8, SIZE_MAX, 8 },
	{ 8, 256, 4 },
	{ 8, 64, 4 },
	{ 16, 64, 4 },
	{ 16, 16, 4 },
	{ 32, 8, 1 },
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

static void put_strip(struct data *d, const char *key, const struct ana_timeline *t, size_t merge)
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
	data_int(&d->out, "width_ns", (t->bucket[0].end_ns - start) * (int64_t)merge);
	data_int(&d->out, "end_ns", end - d->axis_start);
	data_open(&d->out, "parts", '[');
	for (size_t i = 0; i < t->count; i += merge)
		put_parts(d, &t->bucket[i], t->count - i < merge ? t->count - i : merge);
	data_close(&d->out, ']');
	data_null(&d->out, "longest_ns");
	data_close(&d->out, '}');
}

static void put_gaps(struct data *d, size_t g, size_t most)
{
	data_open(&d->out, "gaps", '[');
	for (size_t i = 0; i < d->r->top_gaps && most; i++) {
		const struct ana_gap *k = &d->r->top_gap[i];
		if (k->gpu != g)
			continue;
		data_open(&d->out, NULL, '{');
		data_int(&d->out, "start_ns", k->start_ns - d->axis_start);
		data_int(&d->out, "end_ns", k->end_ns - d->axis_start);
		data_int(&d->out, "empty_ns", k->empty_ns);
		data_int(&d->out, "class", k->major);
		data_close(&d->out, '}');
		most--;
	}
	data_close(&d->out, ']');
}

static void put_gpu(struct data *d, size_t g, const struct coarseness *k)
{
	const struct ana_gpu *gpu = &d->r->gpu[g];
	struct view_arena mem = { 0 };

	data_open(&d->out, NULL, '{');
	data_uint(&d->out, "gpu", g);
	data_text(&d->out, "label",
		  view_arena_printf(&mem, "GPU %u%s%s", gpu->index, gpu->host[0] ? " on " : "",
				    gpu->host),
		  false);
	data_int(&d->out, "start_ns", gpu->held_start_ns - d->axis_start);
	data_int(&d->out, "end_ns", gpu->held_end_ns - d->axis_start);
	put_strip(d, "timeline", &d->r->timeline[g], k->merge);
	data_open(&d->out, "fine", '[');
	data_close(&d->out, ']');
	put_gaps(d, g, k->gaps);
	data_close(&d->out, '}');
	view_arena_fini(&mem);
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
