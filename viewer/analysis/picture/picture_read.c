/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks that lie in a step, and what of them the picture needs. */
#include "picture_read.h"

#include <errno.h>
#include <stdlib.h>
#include "analysis/evidence/evidence.h"
#include "base/vec.h"

/* The device rows: those that the process used, in the order of the result. */
static void find_gpus(struct ana_picture_reading *r)
{
	for (size_t d = 0; d < r->plan->devices; d++)
		for (size_t u = 0; u < r->plan->device[d].uses; u++) {
			const struct ana_use *use = &r->plan->device[d].use[u];

			if (use->source != r->step.process || !use->ops)
				continue;
			if (r->gpus == ANA_PICTURE_GPUS) {
				r->gpus_left_out++;
				continue;
			}
			r->ordinal[r->gpus] = use->ordinal;
			r->gpu[r->gpus++] = (uint32_t)d;
		}
}

static int take_op(struct ana_picture_reading *r, const struct wire_event *e)
{
	size_t g = 0;
	int err;

	while (g < r->gpus && r->ordinal[g] != e->device)
		g++;
	if (g == r->gpus)
		return 0;
	err = ana_spans_add(&r->ops[g], base_max(e->start_ns, r->step.start_ns),
			    base_min(e->end_ns, r->step.end_ns));
	if (r->ops[g].count < ANA_PICTURE_READ_MAX)
		return err;
	ana_spans_merge(&r->ops[g]);
	return r->ops[g].count > ANA_PICTURE_READ_MAX / 2 ? -E2BIG : err;
}

static struct ana_picture_wait within(const struct ana_picture_reading *r,
				      const struct wire_event *e)
{
	return (struct ana_picture_wait){ base_max(e->start_ns, r->step.start_ns),
					  base_min(e->end_ns, r->step.end_ns), e->tid, false };
}

static int take_range(struct ana_picture_reading *r, const struct wire_event *e)
{
	if (e->op != WIRE_RANGE_LOADER)
		return 0;
	if (r->waits == ANA_PICTURE_READ_MAX)
		return -E2BIG;
	if (!base_vec_more(r->wait, r->waits, r->wait_room))
		return -ENOMEM;
	r->wait[r->waits++] = within(r, e);
	return 0;
}

static int take_call(struct ana_picture_reading *r, const struct wire_event *e)
{
	if (r->calls == ANA_PICTURE_READ_MAX)
		return -E2BIG;
	if (!base_vec_more(r->call, r->calls, r->call_room))
		return -ENOMEM;
	r->call[r->calls] = within(r, e);
	r->call[r->calls++].sync = ana_names_flags(&r->names, e->name) & ANA_NAME_SYNC;
	return 0;
}

static int take_event(struct ana_picture_reading *r, const struct wire_event *e)
{
	if (e->end_ns <= r->step.start_ns || e->start_ns >= r->step.end_ns)
		return 0;
	switch (e->kind) {
	case WIRE_KIND_OP:
		return take_op(r, e);
	case WIRE_KIND_RANGE:
		return take_range(r, e);
	case WIRE_KIND_API:
		return take_call(r, e);
	default:
		return 0;
	}
}

static bool lies_in(const struct view_block *b, int64_t start, int64_t end)
{
	return b->head->t1_ns >= start && b->head->t0_ns < end;
}

/* A block that does not decode was counted by the walk. */
static int read_events(struct ana_picture_reading *r)
{
	const struct view_stream *s = r->source->s;
	struct wire_event *ev = NULL;
	size_t room = 0, n;
	int err = 0;

	for (size_t i = 0; i < s->blocks && !err; i++) {
		if (s->block[i].head->kind == WIRE_KIND_SYNC ||
		    !lies_in(&s->block[i], r->step.start_ns, r->step.end_ns))
			continue;
		err = view_trace_block(r->plan->trace, &s->block[i], r->scratch, &ev, &room, &n);
		if (err)
			err = err == -ENOMEM ? err : 0;
		else
			for (size_t k = 0; k < n && !err; k++)
				err = take_event(r, &ev[k]);
	}
	free(ev);
	return err;
}

static int take_sample(struct ana_picture_reading *r, const struct wire_sample *s)
{
	if (s->t_ns < r->step.start_ns - ANA_CELL_NS || s->t_ns >= r->step.end_ns)
		return 0;
	if (r->samples == ANA_PICTURE_READ_MAX)
		return -E2BIG;
	if (!base_vec_more(r->sample, r->samples, r->sample_room))
		return -ENOMEM;
	r->sample[r->samples++] = *s;
	return 0;
}

static int take_batch(struct ana_picture_reading *r, const struct wire_batch *b)
{
	if (b->what != WIRE_BATCH_FETCH || !b->worker || b->end_ns <= r->step.start_ns ||
	    b->start_ns >= r->step.end_ns)
		return 0;
	if (r->batches == ANA_PICTURE_READ_MAX)
		return -E2BIG;
	if (!base_vec_more(r->batch, r->batches, r->batch_room))
		return -ENOMEM;
	r->batch[r->batches++] = *b;
	return 0;
}

static int read_samples(struct ana_picture_reading *r, const struct view_block *b)
{
	struct wire_sample *row = NULL;
	size_t room = 0, n;
	int err = view_trace_samples(r->plan->trace, b, r->scratch, &row, &room, &n);

	if (err)
		err = err == -ENOMEM ? err : 0;
	else
		for (size_t i = 0; i < n && !err; i++)
			err = take_sample(r, &row[i]);
	free(row);
	return err;
}

static int read_batches(struct ana_picture_reading *r, const struct view_block *b)
{
	struct wire_batch *row = NULL;
	size_t room = 0, n;
	int err = view_trace_batches(r->plan->trace, b, r->scratch, &row, &room, &n);

	if (err)
		err = err == -ENOMEM ? err : 0;
	else
		for (size_t i = 0; i < n && !err; i++)
			err = take_batch(r, &row[i]);
	free(row);
	return err;
}

static int read_evidence(struct ana_picture_reading *r)
{
	const struct view_stream *s = r->source->s;
	int err = 0;

	for (size_t i = 0; i < s->evidences && !err; i++) {
		const struct view_block *b = &s->evidence[i];

		if (!lies_in(b, r->step.start_ns - ANA_CELL_NS, r->step.end_ns))
			continue;
		if (b->head->kind == WIRE_KIND_SAMPLE)
			err = read_samples(r, b);
		else if (b->head->kind == WIRE_KIND_BATCH)
			err = read_batches(r, b);
	}
	return err;
}

static int by_thread(uint32_t pid, uint32_t other_pid, uint32_t tid, uint32_t other_tid)
{
	if (pid != other_pid)
		return pid < other_pid ? -1 : 1;
	return tid < other_tid ? -1 : tid > other_tid;
}

/* All that a row shows of a sample comes last, so that the order of frames does not matter. */
static int sample_order(const void *x, const void *y)
{
	const struct wire_sample *a = x, *b = y;
	int by = by_thread(a->pid, b->pid, a->tid, b->tid);

	if (by || a->t_ns != b->t_ns)
		return by ? by : a->t_ns < b->t_ns ? -1 : 1;
	return a->stack < b->stack ? -1 : a->stack > b->stack;
}

static int batch_order(const void *x, const void *y)
{
	const struct wire_batch *a = x, *b = y;
	int by = by_thread(a->pid, b->pid, a->tid, b->tid);

	return by ? by : a->start_ns < b->start_ns ? -1 : a->start_ns > b->start_ns;
}

int ana_picture_read(struct ana_picture_reading *r)
{
	int err = ana_names_init(&r->names, r->source->s->strings);

	find_gpus(r);
	if (!err)
		err = read_events(r);
	if (!err)
		err = read_evidence(r);
	if (err)
		return err;
	for (size_t g = 0; g < r->gpus; g++)
		ana_spans_merge(&r->ops[g]);
	if (r->samples)
		qsort(r->sample, r->samples, sizeof(*r->sample), sample_order);
	if (r->batches)
		qsort(r->batch, r->batches, sizeof(*r->batch), batch_order);
	return 0;
}

void ana_picture_read_fini(struct ana_picture_reading *r)
{
	ana_names_fini(&r->names);
	for (size_t g = 0; g < ANA_PICTURE_GPUS; g++)
		ana_spans_fini(&r->ops[g]);
	free(r->wait);
	free(r->call);
	free(r->sample);
	free(r->batch);
}
