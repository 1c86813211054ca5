/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events and pieces in order, and which GPU and process they belong to.
 */
#include "export.h"

#include <errno.h>
#include <stdlib.h>

#define CONTEXTS_MAX 65536u /* remembered per process */
#define SHOW_EVERY 16384u /* events between two looks at the clock and at signals */

/* --- what is known before --- */

/* Numbers of processes must differ; on several hosts they may not. */
static void tell_apart(struct view_export *x)
{
	struct ana_map taken = { 0 };
	size_t i;

	for (i = 0; i < x->plan.sources; i++) {
		int64_t pid = x->plan.source[i].pid;

		while (ana_map_get(&taken, (uint64_t)pid) != ANA_MAP_NONE &&
		       pid < INT64_MAX - 10000000)
			pid += 10000000; /* above what Linux gives out */
		if (ana_map_put(&taken, (uint64_t)pid, (uint32_t)i))
			break; /* no memory: numbers may repeat */
		x->source[i].pid = pid;
	}
	ana_map_fini(&taken);
}

static int map_gpus(struct view_export *x)
{
	size_t d, u;
	int err = 0;

	for (d = 0; d < x->plan.devices; d++)
		for (u = 0; u < x->plan.device[d].uses && !err; u++) {
			const struct ana_use *use = &x->plan.device[d].use[u];
			struct ana_map *m = &x->source[use->source].gpu_of;

			if (ana_map_get(m, use->ordinal) == ANA_MAP_NONE)
				err = ana_map_put(m, use->ordinal, (uint32_t)d);
		}
	return err;
}

int view_export_init(struct view_export *x)
{
	struct ana_options o = { .window = x->summary->window };
	size_t i;
	int err = ana_plan_make(&x->plan, x->trace, &o);

	if (err)
		return err;
	x->source = calloc(x->plan.sources + 1, sizeof(*x->source));
	x->scratch = wire_scratch_new();
	if (!x->source || !x->scratch)
		return -ENOMEM;
	for (i = 0; i < x->plan.sources; i++) {
		x->source[i].s = &x->plan.source[i];
		x->source[i].pid = x->plan.source[i].pid;
		x->source[i].last_gpu = ANA_MAP_NONE;
		x->source[i].last_context = UINT32_MAX;
		x->expected += x->plan.source[i].events;
	}
	tell_apart(x);
	return map_gpus(x);
}

void view_export_fini(struct view_export *x)
{
	size_t i;

	for (i = 0; x->source && i < x->plan.sources; i++) {
		ana_map_fini(&x->source[i].gpu_of);
		ana_map_fini(&x->source[i].ordinal_of);
	}
	free(x->source);
	wire_scratch_free(x->scratch);
	ana_plan_fini(&x->plan);
}

uint32_t view_export_gpu(struct view_export_source *s, uint32_t ordinal)
{
	if (s->last_gpu == ANA_MAP_NONE || s->last_ordinal != ordinal) {
		s->last_ordinal = ordinal;
		s->last_gpu = ana_map_get(&s->gpu_of, ordinal);
	}
	return s->last_gpu;
}

uint32_t view_export_gpu_number(const struct view_export *x, size_t gpu)
{
	const struct ana_result *r = x->summary->result;
	size_t i, k;

	for (i = 0; i < r->gpus; i++)
		for (k = 0; k < i; k++)
			if (r->gpu[i].index == r->gpu[k].index)
				return (uint32_t)gpu;
	return r->gpu[gpu].index;
}

const char *view_export_name(const struct view_export_source *s, uint32_t name, size_t *len)
{
	return wire_strtab_get(s->s->s->strings, name, len);
}

uint64_t view_export_flow(size_t source, uint64_t corr)
{
	/* Correlation ids count launches: what is above 48 bits is an odd id of an import. */
	return (corr & UINT64_C(0xffffffffffff)) ^ (corr >> 63) << 47 ^
	       (uint64_t)(source & 0xffff) << 48;
}

/* --- events --- */

static int advance(struct view_export *x, uint64_t n)
{
	x->seen += n;
	if (x->stop && *x->stop)
		return -EINTR;
	if (x->progress && x->expected)
		x->progress(x->progress_arg, (double)x->seen / (double)x->expected);
	return 0;
}

static void learn_context(struct view_export_source *s, const struct wire_event *e)
{
	if (e->context == s->last_context || s->ordinal_of.count >= CONTEXTS_MAX)
		return;
	s->last_context = e->context;
	/* Without memory a record of this context is shown on the first device. */
	if (ana_map_get(&s->ordinal_of, e->context) == ANA_MAP_NONE)
		ana_map_put(&s->ordinal_of, e->context, e->device);
}

uint32_t view_export_sync_device(const struct view_export_source *s, const struct wire_event *e)
{
	uint32_t known = ana_map_get(&s->ordinal_of, e->context);

	return s->s->imported || known == ANA_MAP_NONE ? e->device : known;
}

static bool left_out(struct view_export_source *s, const struct wire_event *e)
{
	return e->kind == WIRE_KIND_OP &&
	       (e->end_ns < e->start_ns || view_export_gpu(s, e->device) == ANA_MAP_NONE);
}

static int take_kind(struct view_export *x, size_t source, const struct view_export_kind *k,
		     void *arg)
{
	struct view_export_source *s = &x->source[source];
	const struct wire_event *e;
	struct ana_feed feed;
	uint32_t n = 0;
	int err = ana_feed_init(&feed, x->trace, s->s->s, k->kind, x->scratch);

	while (!err && (e = ana_feed_peek(&feed))) {
		if (!left_out(s, e)) {
			if (k->kind == WIRE_KIND_OP && !s->s->imported)
				learn_context(s, e);
			err = k->take(arg, e);
		}
		ana_feed_pop(&feed);
		if (++n == SHOW_EVERY && !err) {
			err = advance(x, n);
			n = 0;
		}
	}
	if (!err)
		err = feed.err ? feed.err : advance(x, n);
	ana_feed_fini(&feed);
	return err;
}

int view_export_events(struct view_export *x, size_t source, const struct view_export_kind *kind,
		       size_t kinds, void *arg)
{
	int err = 0;

	for (size_t i = 0; i < kinds && !err; i++)
		err = take_kind(x, source, &kind[i], arg);
	return err;
}

int view_export_evidence(struct view_export *x, size_t source,
			 int (*sample)(void *arg, const struct wire_sample *w),
			 int (*batch)(void *arg, const struct wire_batch *b), void *arg)
{
	struct view_export_source *s = &x->source[source];
	uint8_t kind = sample ? WIRE_KIND_SAMPLE : WIRE_KIND_BATCH;
	const struct wire_sample *w;
	const struct wire_batch *b;
	struct ana_row_feed rows;
	uint32_t n = 0;
	int err = ana_row_feed_init(&rows, x->trace, s->s->s, kind, x->scratch);

	while (!err && sample && (w = ana_row_feed_sample(&rows, INT64_MAX))) {
		err = sample(arg, w);
		if (!err && ++n % SHOW_EVERY == 0)
			err = advance(x, 0);
	}
	while (!err && !sample && (b = ana_row_feed_batch(&rows, INT64_MAX)))
		err = b->end_ns >= b->start_ns ? batch(arg, b) : 0;
	if (!err)
		err = rows.err;
	ana_row_feed_fini(&rows);
	return err;
}

/* --- pieces --- */

struct pieces {
	struct view_export *x;
	struct view_order order;
	int (*step)(void *arg, const struct ana_step *s);
	void *arg;
	uint32_t n;
	int err;
};

static void on_piece(void *arg, const struct ana_piece *p)
{
	struct pieces *to = arg;

	if (to->err)
		return;
	to->err = view_order_add(&to->order, p);
	if (++to->n == SHOW_EVERY && !to->err) {
		to->err = advance(to->x, to->n);
		to->n = 0;
	}
}

static void on_step(void *arg, const struct ana_step *s)
{
	struct pieces *to = arg;

	if (!to->err)
		to->err = to->step(to->arg, s);
}

int view_export_pieces(struct view_export *x, int (*take)(void *arg, const struct ana_piece *p),
		       int (*step)(void *arg, const struct ana_step *s), void *arg)
{
	struct pieces to = { .x = x, .step = step, .arg = arg };
	struct ana_options o = {
		.window = x->summary->window,
		.threads = 1, /* the same order each time; writing is what takes long */
		.on_piece = take ? on_piece : NULL,
		.on_step = step ? on_step : NULL,
		.arg = &to,
	};
	struct ana_result *r = NULL;
	int err = view_order_init(&to.order, x->summary->result->gpus, take, arg);

	if (!err)
		err = ana_run(x->trace, &o, &r);
	if (!err)
		err = to.err;
	if (!err)
		err = view_order_finish(&to.order);
	x->late_pieces = to.order.late;
	view_order_fini(&to.order);
	ana_result_free(r);
	return err;
}

/* --- samples --- */

struct sights {
	struct view_export *x;
	int (*take)(void *arg, const struct ana_hotspot_sample *s);
	void *arg;
	uint32_t n;
	int err;
};

static void on_hotspot_sample(void *arg, const struct ana_hotspot_sample *s)
{
	struct sights *to = arg;

	if (to->err || s->process >= to->x->plan.sources)
		return;
	to->err = to->take(to->arg, s);
	if (++to->n == SHOW_EVERY && !to->err) {
		to->err = advance(to->x, to->n);
		to->n = 0;
	}
}

int view_export_hotspots(struct view_export *x,
			 int (*take)(void *arg, const struct ana_hotspot_sample *s), void *arg)
{
	struct sights to = { .x = x, .take = take, .arg = arg };
	struct ana_options o = { .window = x->summary->window,
				 .threads = 1,
				 .on_hotspot_sample = on_hotspot_sample,
				 .arg = &to };
	struct ana_result *r = NULL;
	int err = ana_run(x->trace, &o, &r);

	ana_result_free(r);
	return err ? err : to.err;
}
