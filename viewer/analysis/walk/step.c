/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps from ranges.
 */
#include "step.h"

#include <errno.h>
#include <stdlib.h>
#include "analysis/archive.h"
#include "analysis/observer.h"
#include "analysis/window.h"

#define OPEN_MAX 65536u /* steps that have begun and may still be exposed */

static bool is_recorded(const struct ana_steps *s, const struct ana_step *t)
{
	return !s->unrecorded || !s->unrecorded->count ||
	       !ana_spans_within(s->unrecorded, t->start_ns, t->end_ns);
}

/*
 * What kernels of which some were not recorded begin and end may be many steps; and what of one was
 * exposed is not known then.
 */
static int done(struct ana_steps *s, const struct ana_step *t)
{
	int64_t ns = t->end_ns - t->start_ns;
	bool recorded = is_recorded(s, t);
	int err;

	if (!recorded && s->source >= ANA_STEPS_PERIOD) {
		s->skipped++;
		return 0;
	}
	s->count++;
	if (s->on_step)
		s->on_step(s->arg, t);
	err = ana_durations_add(&s->durations, ns);
	if (!err && s->observer)
		err = s->observer->step(s->observer->arg, t);
	if (!err && recorded) /* several GPUs may be exposed at once */
		err = ana_durations_add(&s->fed, t->exposed_ns < ns ? ns - t->exposed_ns : 0);
	return err;
}

/* One above the nearest step before @i that ends later; s->head: there is none. */
static size_t longer_before(const struct ana_steps *s, size_t i)
{
	uint32_t back = s->open[i].back;

	return back && back <= i - s->head ? i - back + 1 : s->head;
}

/* Gives the last step its end, and its place among those before it. */
static void close_last(struct ana_steps *s, int64_t end)
{
	size_t last = s->tail - 1, i = last;

	s->open[last].step.end_ns = end;
	while (i > s->head && s->open[i - 1].step.end_ns <= end)
		i = longer_before(s, i - 1);
	s->open[last].back = i > s->head ? (uint32_t)(last - i + 1) : 0;
}

static int append(struct ana_steps *s, int64_t start, int64_t end)
{
	if (s->tail - s->head == OPEN_MAX && done(s, &s->open[s->head++].step))
		return -ENOMEM;
	if (ana_window_room(&s->open, &s->head, &s->tail, &s->room, sizeof(*s->open)))
		return -ENOMEM;
	s->open[s->tail++].step =
		(struct ana_step){ .start_ns = start, .end_ns = INT64_MAX, .process = s->process };
	close_last(s, end);
	return 0;
}

int ana_steps_begin(struct ana_steps *s, int64_t start)
{
	if (s->source != ANA_STEPS_OPTIMIZER || s->tail > s->head || s->count)
		return 0;
	return append(s, start, INT64_MAX);
}

int ana_steps_boundary(struct ana_steps *s, int64_t t)
{
	if (s->source != ANA_STEPS_PERIOD)
		return 0;
	if (s->tail > s->head)
		close_last(s, t);
	return append(s, t, INT64_MAX);
}

int ana_steps_batch(struct ana_steps *s, int64_t t, bool first)
{
	if (s->source != ANA_STEPS_BATCHES)
		return 0;
	if (s->tail > s->head && first)
		s->tail--; /* it never ended, so no other one knows of it */
	else if (s->tail > s->head)
		close_last(s, t);
	return append(s, t, INT64_MAX);
}

int ana_steps_range(struct ana_steps *s, int64_t start, int64_t end)
{
	if (end < start) /* stamps that cannot be */
		end = start;
	if (s->source == ANA_STEPS_RANGE)
		return append(s, start, end);
	if (s->source != ANA_STEPS_OPTIMIZER)
		return 0;
	if (s->tail > s->head && s->open[s->tail - 1].step.start_ns >= end)
		return 0; /* inside the one before it */
	if (s->tail > s->head)
		close_last(s, end);
	else
		s->skipped++; /* nobody knows where it began */
	return append(s, end, INT64_MAX);
}

/* The first step that begins at @t or later. */
static size_t first_from(const struct ana_steps *s, int64_t t)
{
	size_t low = s->head, high = s->tail;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->open[mid].step.start_ns < t)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/*
 * Adds what of [start, end) lies in each step to its wait for input, or to what of it is exposed.
 * Backwards from the last that can be meant: another GPU may be far behind, so that many steps are
 * open that ended long before.
 */
static void add_within(struct ana_steps *s, int64_t start, int64_t end, bool input)
{
	size_t i = first_from(s, end);

	while (i > s->head) {
		struct ana_step *t = &s->open[i - 1].step;
		int64_t a = start > t->start_ns ? start : t->start_ns;
		int64_t b = end < t->end_ns ? end : t->end_ns;

		if (a < b && input)
			t->input_ns += b - a;
		else if (a < b)
			t->exposed_ns += b - a;
		if (t->end_ns > start)
			i--;
		else
			i = longer_before(s, i - 1);
	}
}

void ana_steps_expose(struct ana_steps *s, int64_t start, int64_t end)
{
	add_within(s, start, end, false);
}

void ana_steps_input(struct ana_steps *s, int64_t start, int64_t end)
{
	add_within(s, start, end, true);
}

int ana_steps_upto(struct ana_steps *s, int64_t t)
{
	int err = 0;

	while (!err && s->head < s->tail && s->open[s->head].step.end_ns <= t)
		err = done(s, &s->open[s->head++].step);
	return err;
}

/* What has no end by now is not a step. */
int ana_steps_finish(struct ana_steps *s)
{
	int err = 0;

	for (; s->head < s->tail && !err; s->head++) {
		if (s->open[s->head].step.end_ns == INT64_MAX)
			continue;
		err = done(s, &s->open[s->head].step);
	}
	return err;
}

uint64_t ana_steps_taken(const struct ana_steps *s)
{
	return s->count + (s->source == ANA_STEPS_OPTIMIZER ? s->skipped : 0);
}

int ana_steps_median(const struct ana_steps *s, int64_t *ns)
{
	struct ana_durations all = { 0 };
	int err = ana_durations_merge(&all, &s->durations);
	size_t i;

	for (i = s->head; i < s->tail && !err; i++)
		if (s->open[i].step.end_ns != INT64_MAX)
			err = ana_durations_add(&all,
						s->open[i].step.end_ns - s->open[i].step.start_ns);
	*ns = err ? -1 : ana_durations_rank(&all, 500);
	ana_durations_fini(&all);
	return err;
}

void ana_steps_fini(struct ana_steps *s)
{
	free(s->open);
	ana_durations_fini(&s->durations);
	ana_durations_fini(&s->fed);
	*s = (struct ana_steps){ 0 };
}

static void archive_step(struct ana_open_step *o, struct ana_archive *a)
{
	ana_archive_time(a, &o->step.start_ns);
	ana_archive_stamp(a, &o->step.end_ns);
	ana_archive_check(a, o->step.end_ns != INT64_MIN);
	ana_archive_time(a, &o->step.exposed_ns);
	ana_archive_time(a, &o->step.input_ns);
	ana_archive_field(a, o->back);
}

void ana_steps_archive(struct ana_steps *s, struct ana_archive *a)
{
	ana_archive_window(a, s->open, s->head, s->tail, s->room, OPEN_MAX);
	for (size_t i = s->head; i < s->tail; i++) {
		s->open[i].step.process = s->process;
		archive_step(&s->open[i], a);
	}
	ana_archive_field(a, s->count);
	ana_archive_field(a, s->skipped);
	ana_durations_archive(&s->durations, a);
	ana_durations_archive(&s->fed, a);
}
