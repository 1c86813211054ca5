/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When: the lives of processes, how long a device was held, and in which of that time records were
 * lost or nobody watched.
 */
#include "plan_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "wire/life.h"

/* Life of a process: what it and others say, widened to what it did. */
void ana_plan_life(const struct view_trace *t, struct ana_source *s)
{
	const struct view_stream *v = s->s;
	int64_t first = INT64_MAX, last = INT64_MIN, seen = view_trace_end(t, s->s);
	size_t i;

	for (i = 0; i < v->blocks; i++) {
		const struct wire_block_head *h = v->block[i].head;

		if (h->kind == WIRE_KIND_OP)
			first = base_min(first, h->t0_ns);
		last = base_max(last, h->t1_ns);
	}
	s->start_ns = INT64_MAX;
	if (s->hello && s->hello->process_start_ns)
		s->start_ns = wire_life_begin(s->hello);
	else if (s->hello && s->hello->armed_ns)
		s->start_ns = s->hello->armed_ns;
	s->start_ns = base_min(s->start_ns, first);
	s->end_ns = last;
	if (v->last_pulse)
		s->end_ns = base_max(s->end_ns, v->last_pulse->t_ns);
	if (v->bye)
		s->end_ns = base_max(s->end_ns, v->bye->t_ns);
	s->end_ns = base_max(s->end_ns, seen);
	if (s->start_ns == INT64_MAX || s->end_ns < s->start_ns)
		s->start_ns = s->end_ns = s->end_ns == INT64_MIN ? 0 : s->end_ns;
	s->start_ns = ana_clamp_time(s->start_ns);
	s->end_ns = ana_clamp_time(s->end_ns);
	s->ended = v->bye ? "exit" : seen != INT64_MIN || view_trace_over(t) ? "lost" : "running";
}

/* Imports: the window of the file, which holds all its events unless the file lies. */
static int hold_window(struct ana_plan *p, struct ana_device *d)
{
	const Wire__Import *im = p->source[d->source].hello->import;
	int64_t start = ana_clamp_time(im->window_start), end = ana_clamp_time(im->window_end);

	return ana_spans_add(&d->held, base_min(start, d->first_ns), base_max(end, d->last_ns));
}

static int hold(struct ana_plan *p, struct ana_device *d)
{
	size_t i;
	int err = 0;

	if (d->imported)
		return hold_window(p, d);
	for (i = 0; i < d->uses && !err; i++) {
		const struct ana_source *s = &p->source[d->use[i].source];

		err = ana_spans_add(&d->held, s->start_ns, s->end_ns);
	}
	ana_spans_merge(&d->held);
	return err;
}

/* From the first to the last stamp of the blocks that hold the device's operations. */
static void find_extent(struct ana_plan *p, struct ana_device *d)
{
	size_t u, i;

	d->first_ns = INT64_MAX;
	d->last_ns = INT64_MIN;
	for (u = 0; u < d->uses; u++) {
		const struct view_stream *s = p->source[d->use[u].source].s;

		for (i = 0; i < s->blocks; i++) {
			const struct wire_block_head *h = s->block[i].head;

			if (h->kind != WIRE_KIND_OP)
				continue;
			d->first_ns = base_min(d->first_ns, ana_clamp_time(h->t0_ns));
			d->last_ns = base_max(d->last_ns, ana_clamp_time(h->t1_ns));
		}
	}
}

static bool unobserved_reason(Wire__LossReason r)
{
	switch (r) {
	case WIRE__LOSS_REASON__LOSS_FOREIGN:
	case WIRE__LOSS_REASON__LOSS_SUSPENDED:
	case WIRE__LOSS_REASON__LOSS_CLOCK_STEP:
	case WIRE__LOSS_REASON__LOSS_GOVERNOR:
	case WIRE__LOSS_REASON__LOSS_DETACHED:
	case WIRE__LOSS_REASON__LOSS_FRAMES:
		return true;
	default:
		return false;
	}
}

static int add_time(struct ana_spans *s, int64_t start, int64_t end)
{
	return ana_spans_add(s, ana_clamp_time(start), ana_clamp_time(end));
}

static bool unrecorded_reason(Wire__LossReason r)
{
	return r == WIRE__LOSS_REASON__LOSS_GOVERNOR || r == WIRE__LOSS_REASON__LOSS_FOREIGN;
}

int ana_plan_unrecorded(const struct ana_source *s, struct ana_spans *to)
{
	int err = 0;

	for (size_t i = 0; i < s->s->losses && !err; i++)
		if (unrecorded_reason(s->s->loss[i]->reason))
			err = add_time(to, s->s->loss[i]->start_ns, s->s->loss[i]->end_ns);
	ana_spans_merge(to);
	return err;
}

static int add_losses(struct ana_device *d, const struct ana_source *s, uint32_t ordinal)
{
	size_t i;
	int err = 0;

	for (i = 0; i < s->s->losses && !err; i++) {
		const Wire__LossSpan *l = s->s->loss[i];

		if (l->has_device && l->device != ordinal)
			continue;
		if (unobserved_reason(l->reason))
			err = add_time(&d->unobserved, l->start_ns, l->end_ns);
		else if (l->reason != WIRE__LOSS_REASON__LOSS_BAD_STAMP)
			err = add_time(&d->lost, l->start_ns, l->end_ns);
		if (!err && l->reason == WIRE__LOSS_REASON__LOSS_GOVERNOR)
			err = add_time(&d->stepped_down, l->start_ns, l->end_ns);
		if (!err && unrecorded_reason(l->reason))
			err = add_time(&d->unrecorded, l->start_ns, l->end_ns);
	}
	for (i = 0; i < s->s->holes && !err; i++)
		err = add_time(&d->unobserved, s->s->hole[i].start_ns, s->s->hole[i].end_ns);
	if (!err && s->s->bye && !strcmp(s->s->bye->reason, "off"))
		err = add_time(&d->unobserved, s->s->bye->t_ns, s->end_ns);
	return err;
}

#define STEPS_MAX 1024u

/* Whether the device was held at @t. */
static bool held_at(struct ana_device *d, int64_t t)
{
	int64_t until;

	return ana_spans_at(&d->held, t, &until);
}

/*
 * Steps of the clock: nobody can tell what happened in the flush interval around one, and the
 * length of the axis is not that of time there. All processes of a host see the same steps, so
 * those of one are enough.
 */
static int add_clock_steps(struct ana_device *d, const struct ana_source *s)
{
	struct wire_clock_step step[STEPS_MAX];
	size_t i, n = wire_clock_steps(s->s->clock, s->s->clocks, step, STEPS_MAX);
	bool counted = d->clock_ns != 0;
	int err = 0;

	for (i = 0; i < n && i < STEPS_MAX && !err; i++) {
		int64_t before = ana_clamp_time(step[i].before_ns);
		int64_t after = ana_clamp_time(step[i].after_ns);
		int64_t jump = ana_clamp_time(step[i].step_ns), real = after - before - jump;

		err = ana_spans_add(&d->unobserved, base_min(before, after),
				    base_max(after, before + real));
		if (!counted && held_at(d, before))
			d->clock_ns = ana_clamp_time(d->clock_ns + jump);
	}
	return err;
}

/* a process is on the device for NVML before and after its word */
#define COMES_OR_GOES_NS INT64_C(1000000000)

/* Of those of the run, whether it was on the device at @t. */
static bool on_device(const struct ana_plan *p, const struct ana_use *u, int64_t t)
{
	const struct ana_source *s = &p->source[u->source];
	int64_t from = s->start_ns;
	size_t i;

	for (i = 0; s->hello && i < s->hello->n_devices; i++)
		if (s->hello->devices[i]->ordinal == u->ordinal && s->hello->devices[i]->context_ns)
			from = ana_clamp_time(s->hello->devices[i]->context_ns);
	return from - COMES_OR_GOES_NS <= t && t <= s->end_ns + COMES_OR_GOES_NS;
}

uint32_t ana_plan_strangers(const struct ana_plan *p, const struct ana_device *d,
			    const struct ana_use *teller, int64_t t, uint32_t others)
{
	size_t i;

	for (i = 0; i < d->uses && others; i++)
		others -= d->use[i].source != teller->source &&
			  on_device(p, &d->use[i], ana_clamp_time(t));
	return others;
}

struct look { /* at what ran on the device */
	int64_t t;
	bool strangers;
};

static int by_time(const void *a, const void *b)
{
	const struct look *x = a, *y = b;

	return (x->t > y->t) - (x->t < y->t);
}

static size_t take_looks(const struct ana_plan *p, const struct ana_device *d,
			 const struct ana_use *u, struct look *look)
{
	const struct view_stream *s = p->source[u->source].s;
	size_t i, k, n = 0;

	for (i = 0; i < s->fact_count; i++) {
		const Wire__Facts *f = s->facts[i];

		for (k = 0; k < f->n_devices; k++)
			if (f->devices[k]->ordinal == u->ordinal)
				break;
		if (k < f->n_devices)
			look[n++] =
				(struct look){ ana_clamp_time(f->t_ns),
					       ana_plan_strangers(p, d, u, f->t_ns,
								  f->devices[k]->other_processes) >
						       0 };
	}
	return n;
}

/*
 * Times at which processes of other jobs were on the device: from one look to the next, whoever of
 * the run looked.
 */
static int add_contention(const struct ana_plan *p, struct ana_device *d)
{
	size_t i, n = 0, room = 0;
	int64_t last = INT64_MIN;
	struct look *look;
	int err = 0;

	for (i = 0; i < d->uses; i++) {
		const struct ana_source *s = &p->source[d->use[i].source];

		room += s->s->fact_count;
		last = base_max(last, s->end_ns);
	}
	look = room ? calloc(room, sizeof(*look)) : NULL;
	if (room && !look)
		return -ENOMEM;
	for (i = 0; room && i < d->uses; i++)
		n += take_looks(p, d, &d->use[i], look + n);
	if (n)
		qsort(look, n, sizeof(*look), by_time);
	for (i = 0; i < n && !err; i++)
		if (look[i].strangers)
			err = ana_spans_add(&d->contended, look[i].t,
					    i + 1 < n ? look[i + 1].t : base_max(last, look[i].t));
	free(look);
	return err;
}

int ana_plan_times(struct ana_plan *p, struct ana_device *d, const struct ana_options *o)
{
	size_t i;
	int err;

	find_extent(p, d);
	err = o->window == ANA_WINDOW_JOB ? hold(p, d) : 0;
	for (i = 0; i < d->uses && !err; i++)
		err = add_losses(d, &p->source[d->use[i].source], d->use[i].ordinal);
	for (i = 0; i < d->uses && !err && !d->imported; i++)
		err = add_clock_steps(d, &p->source[d->use[i].source]);
	if (!err && !d->imported)
		err = add_contention(p, d);
	ana_spans_merge(&d->contended);
	ana_spans_merge(&d->lost);
	ana_spans_merge(&d->unobserved);
	ana_spans_merge(&d->stepped_down);
	ana_spans_merge(&d->unrecorded);
	return err;
}
