/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine.c - intervals on an engine's line: fit, take, close, purge.
 */
#include "engine.h"

#include <stdbool.h>
#include <string.h>

#include "clock.h"

static const struct sim_seg *at(const struct sim_line *line, uint32_t i)
{
	return &line->seg[line->first + i];
}

/* The first interval that ends after t: near the end of the line, mostly. */
static uint32_t first_after(const struct sim_line *line, uint64_t t)
{
	uint32_t i = line->n;

	while (i && at(line, i - 1)->end > t)
		i--;
	return i;
}

uint64_t sim_line_fit(const struct sim_line *line, uint64_t ready, uint64_t length)
{
	uint64_t t = ready;
	uint32_t i;

	for (i = first_after(line, ready); i < line->n; i++) {
		const struct sim_seg *s = at(line, i);

		if (s->end <= t)
			continue;
		if (s->start >= t + length)
			break;
		t = s->end;
		if (t == SIM_NEVER)
			break;
	}
	return t;
}

uint64_t sim_line_fit_owner(const struct sim_line *line, uint64_t ready, uint64_t length,
			    int32_t owner)
{
	uint64_t t = ready;
	uint32_t i;

	for (i = first_after(line, ready); i < line->n; i++) {
		const struct sim_seg *s = at(line, i);

		if (s->owner == owner || s->end <= t)
			continue;
		if (s->start >= t + length)
			break;
		t = s->end;
	}
	return t;
}

int32_t sim_line_holder(const struct sim_line *line, uint64_t t, int32_t owner)
{
	uint32_t i;

	for (i = line->n; i && at(line, i - 1)->end > t; i--)
		if (at(line, i - 1)->owner >= 0 && at(line, i - 1)->owner != owner)
			return at(line, i - 1)->owner;
	return -1;
}

static void drop_one(struct sim_line *line, uint32_t i)
{
	struct sim_seg *s = &line->seg[line->first];

	if (!i)
		line->first++;
	else
		memmove(&s[i], &s[i + 1], (line->n - i - 1) * sizeof *s);
	line->n--;
}

static void forget_past(struct sim_line *line, uint64_t now)
{
	while (line->n && at(line, 0)->end + SIM_HISTORY_NS < now)
		drop_one(line, 0);
}

static bool mergeable(const struct sim_seg *a, const struct sim_seg *b)
{
	return a->owner == b->owner && a->end != SIM_NEVER && b->end != SIM_NEVER &&
	       b->start <= a->end + SIM_MERGE_NS;
}

/* Joins interval i + 1 into i; of two owners the result belongs to nobody, and so blocks all. */
static void join(struct sim_line *line, uint32_t i)
{
	struct sim_seg *a = &line->seg[line->first + i], *b = a + 1;

	b->start = a->start;
	b->end = sim_max(a->end, b->end);
	if (a->owner != b->owner)
		b->owner = SIM_NOBODY;
	drop_one(line, i);
}

static uint32_t smallest_hole(const struct sim_line *line)
{
	uint64_t best = SIM_NEVER;
	uint32_t i, found = 0;

	for (i = 0; i + 1 < line->n; i++) {
		const struct sim_seg *a = at(line, i), *b = at(line, i + 1);
		uint64_t hole = b->start > a->end ? b->start - a->end : 0;

		if (a->end != SIM_NEVER && b->end != SIM_NEVER && hole < best)
			best = hole, found = i;
	}
	return found;
}

/* A full line gives up a hole, the oldest if it lies in the past: nothing taken becomes free. */
static void make_room(struct sim_line *line, uint64_t now)
{
	bool past = at(line, 0)->end < now && at(line, 1)->end < now;

	join(line, past ? 0 : smallest_hole(line));
}

static void insert(struct sim_line *line, uint32_t i, const struct sim_seg *new)
{
	struct sim_seg *s;

	if (line->first + line->n == 2 * SIM_SEGS) {
		memmove(line->seg, &line->seg[line->first], line->n * sizeof *line->seg);
		line->first = 0;
	}
	s = &line->seg[line->first];
	memmove(&s[i + 1], &s[i], (line->n - i) * sizeof *s);
	s[i] = *new;
	line->n++;
}

void sim_line_take(struct sim_line *line, uint64_t now, uint64_t start, uint64_t end, int32_t owner)
{
	struct sim_seg new = { start, end, owner, 0 }, *last;
	uint32_t i;

	if (end <= start)
		return;
	last = &line->seg[line->first + line->n - 1];
	if (line->n && start >= last->start && mergeable(last, &new)) {
		last->end = sim_max(last->end, end);
		return;
	}
	forget_past(line, now);
	if (line->n == SIM_SEGS)
		make_room(line, now);
	for (i = line->n; i && at(line, i - 1)->start > start; i--)
		;
	insert(line, i, &new);
	while (i + 1 < line->n && mergeable(at(line, i), at(line, i + 1)))
		join(line, i);
	if (i && mergeable(at(line, i - 1), at(line, i)))
		join(line, i - 1);
}

void sim_line_close(struct sim_line *line, uint64_t start, uint64_t end, int32_t owner)
{
	uint32_t i;

	for (i = 0; i < line->n; i++) {
		struct sim_seg *s = &line->seg[line->first + i];

		if (s->owner == owner && s->start == start && s->end == SIM_NEVER) {
			s->end = end;
			return;
		}
	}
}

void sim_line_purge(struct sim_line *line, uint64_t now, int32_t owner)
{
	uint32_t i = 0;

	while (i < line->n) {
		struct sim_seg *s = &line->seg[line->first + i];

		if (s->owner == owner && s->end > now) {
			if (s->start >= now) {
				drop_one(line, i);
				continue;
			}
			s->end = now;
		}
		i++;
	}
}
