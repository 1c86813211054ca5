/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a step in their order: GPUs, the main process, who makes batches. */
#include "picture_make.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "picture_seen.h"
#include "picture_thread.h"
#include "picture_usual.h"

struct drawing {
	struct ana_picture_reading r;
	struct ana_picture_paint paint;
	struct ana_pystacks stacks;
	struct ana_picture_step *to;
};

static struct ana_picture_row *one_more(struct drawing *d)
{
	return &d->to->row[d->to->rows++];
}

static int draw_gpus(struct drawing *d, struct ana_spans *awaits)
{
	int err = 0;

	for (size_t g = 0; g < d->r.gpus && !err; g++) {
		struct ana_picture_row *row = one_more(d);

		*row = (struct ana_picture_row){ .kind = ANA_ROW_GPU, .number = d->r.gpu[g] };
		ana_paint_begin(&d->paint, row, &d->r.step);
		err = ana_paint_layer(&d->paint, ANA_DOES_BUSY, &d->r.ops[g]);
		if (!err)
			err = ana_paint_layer(&d->paint, ANA_DOES_STARVED, awaits);
		ana_paint_end(&d->paint, ANA_DOES_IDLE);
	}
	d->to->gpus_left_out = d->r.gpus_left_out;
	return err;
}

/* Time in which it was seen at its work, or waiting for what that needs. */
static int64_t worked(const struct ana_picture_row *row)
{
	return row->ns[ANA_DOES_CPU] + row->ns[ANA_DOES_IO] + row->ns[ANA_DOES_ASLEEP] +
	       row->ns[ANA_DOES_RUNNABLE] + row->ns[ANA_DOES_LOCK] + row->ns[ANA_DOES_OTHER] +
	       row->ns[ANA_DOES_MAKING];
}

static int by_number(const void *x, const void *y)
{
	const struct ana_picture_row *a = x, *b = y;

	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return a->tid < b->tid ? -1 : a->tid > b->tid;
}

/* Keeps those that worked most. */
static void keep(struct drawing *d, size_t first, const struct ana_picture_row *row)
{
	struct ana_picture_row *least = &d->to->row[first];

	if (d->to->rows - first < ANA_PICTURE_WORKERS) {
		*one_more(d) = *row;
		return;
	}
	for (size_t i = first; i < d->to->rows; i++)
		if (worked(&d->to->row[i]) < worked(least))
			least = &d->to->row[i];
	d->to->workers_left_out++;
	struct ana_picture_row out = *row;
	if (worked(row) > worked(least)) {
		out = *least;
		*least = *row;
	}
	ana_picture_row_fini(&out);
}

static int draw_workers(struct drawing *d, const struct ana_picture_thread *main)
{
	size_t at_sample = 0, at_batch = 0, first = d->to->rows;
	struct ana_picture_thread t;
	int err = 0;

	while (!err && ana_picture_next(&d->r, &at_sample, &at_batch, &t)) {
		struct ana_picture_row row;

		if ((t.pid == main->pid && t.tid == main->tid) || !ana_picture_makes(&d->r, &t))
			continue;
		err = ana_picture_paint_thread(&d->r, &d->stacks, &t, &d->paint, &row, NULL);
		keep(d, first, &row);
	}
	qsort(&d->to->row[first], d->to->rows - first, sizeof(*d->to->row), by_number);
	return err;
}

static int draw_rows(struct drawing *d)
{
	struct ana_picture_thread main = ana_picture_main(&d->r);
	struct ana_spans awaits = { 0 };
	struct ana_picture_row row;
	int err = ana_picture_paint_thread(&d->r, &d->stacks, &main, &d->paint, &row, &awaits);

	for (size_t i = 0; i < d->r.waits && !err; i++) /* of other threads of the process, too */
		err = ana_spans_add(&awaits, d->r.wait[i].start, d->r.wait[i].end);
	if (!err)
		err = draw_gpus(d, &awaits);
	ana_spans_fini(&awaits);
	*one_more(d) = row;
	return err ? err : draw_workers(d, &main);
}

static int draw(struct ana_picture_step *to, const struct ana_plan *plan,
		const struct ana_result *result, const struct ana_step *step)
{
	struct drawing *d = calloc(1, sizeof(*d));
	int err = d ? 0 : -ENOMEM;

	if (err)
		return err;
	*to = (struct ana_picture_step){ .step = *step };
	d->to = to;
	d->r.plan = plan;
	d->r.result = result;
	d->r.source = &plan->source[step->process];
	d->r.step = *step;
	d->r.scratch = wire_scratch_new();
	ana_pystacks_init(&d->stacks, d->r.source->s->strings);
	err = d->r.scratch ? ana_picture_read(&d->r) : -ENOMEM;
	if (!err)
		err = draw_rows(d);
	ana_pystacks_fini(&d->stacks);
	ana_picture_read_fini(&d->r);
	wire_scratch_free(d->r.scratch);
	free(d);
	return err;
}

/* ---- the usual step -------------------------------------------------------------------------- */

static void drop_rows(struct ana_picture_step *s)
{
	for (size_t i = 0; i < s->rows; i++)
		ana_picture_row_fini(&s->row[i]);
	*s = (struct ana_picture_step){ 0 };
}

struct candidates {
	struct ana_picture_step at[ANA_PICTURE_CANDIDATES];
	size_t n;
};

/* All but the one at @keep, which is the caller's; SIZE_MAX: all. */
static void drop(struct candidates *c, size_t keep)
{
	for (size_t i = 0; i < c->n; i++)
		if (i != keep)
			drop_rows(&c->at[i]);
	c->n = 0;
}

/* The first of @n steps, those of which @only is true; NULL: of any. */
static int draw_first(struct candidates *c, const struct ana_plan *plan,
		      const struct ana_result *result, const struct ana_step *step, size_t n,
		      const bool *only)
{
	int err = 0;

	for (size_t i = 0; i < n && c->n < ANA_PICTURE_CANDIDATES && !err; i++)
		if (!only || only[i])
			err = draw(&c->at[c->n++], plan, result, &step[i]);
	return err;
}

/* Of a run whose steps are short most show nothing of who was to give the GPU work. */
static int draw_seen(struct candidates *c, const struct ana_plan *plan,
		     const struct ana_result *result, const struct ana_step *step, size_t n)
{
	bool seen[ANA_PICTURE_NEARBY] = { false }, any = false;
	int err = ana_picture_seen(plan, step, n, seen);

	for (size_t i = 0; i < n; i++)
		any |= seen[i];
	if (err || !any)
		return err;
	drop(c, SIZE_MAX);
	return draw_first(c, plan, result, step, n, seen);
}

/*
 * A single step, of a sample or two, may show what is rare: of several about as long as the median
 * the one most like the others.
 */
static int draw_median(struct ana_picture_step *to, const struct ana_plan *plan,
		       const struct ana_result *result, const struct ana_picture_pick *pick)
{
	struct candidates *c = calloc(1, sizeof(*c));
	struct ana_step *step = calloc(ANA_PICTURE_NEARBY, sizeof(*step));
	size_t n = 0, usual = SIZE_MAX;
	int err = c && step ? 0 : -ENOMEM;

	while (!err && n < ANA_PICTURE_NEARBY &&
	       ana_picture_pick_near(pick, result->step_median_ns, n, &step[n]))
		n++;
	if (!err)
		err = draw_first(c, plan, result, step, n, NULL);
	if (!err && !ana_picture_any_looked_at(c->at, c->n))
		err = draw_seen(c, plan, result, step, n);
	if (!err && c->n) {
		usual = ana_picture_usual(c->at, c->n);
		*to = c->at[usual];
	}
	if (c)
		drop(c, usual);
	free(step);
	free(c);
	return err;
}

int ana_picture_make(struct ana_picture **out, const struct ana_plan *plan,
		     const struct ana_result *result, const struct ana_picture_pick *pick)
{
	struct ana_picture *p = calloc(1, sizeof(*p));
	struct ana_step median, worst;
	int err = 0;

	if (!p)
		return -ENOMEM;
	if (!ana_picture_pick_near(pick, result->step_median_ns, 0, &median) ||
	    !ana_picture_pick_worst(pick, &worst)) {
		p->absent = ANA_PICTURE_NO_STEPS;
	} else if (!result->quality.samples) {
		p->absent = ANA_PICTURE_NO_SAMPLES;
	} else {
		err = draw_median(&p->at[ANA_PICTURE_MEDIAN], plan, result, pick);
		if (!err)
			err = draw(&p->at[ANA_PICTURE_WORST], plan, result, &worst);
		if (err == -E2BIG)
			p->absent = ANA_PICTURE_TOO_MANY;
	}
	if (err && err != -E2BIG) {
		ana_picture_free(p);
		return err;
	}
	*out = p;
	return 0;
}
