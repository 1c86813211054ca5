/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine.c - intervals on an engine's line: fit, take, close, purge.
 */
#include "engine.h"

#include <stdbool.h>
#include <string.h>

#include "clock.h"

uint64_t sim_line_fit(const struct sim_line *line, uint64_t ready, uint64_t length)
{
	uint64_t t = ready;
	uint32_t i;

	if (!line->n || t >= line->seg[line->n - 1].end)
		return t;
	for (i = 0; i < line->n; i++) {
		const struct sim_seg *s = &line->seg[i];

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

	if (!line->n || t >= line->seg[line->n - 1].end)
		return t;
	for (i = 0; i < line->n; i++) {
		const struct sim_seg *s = &line->seg[i];

		if (s->owner == owner || s->end <= t)
			continue;
		if (s->start >= t + length)
			break;
		t = s->end;
	}
	return t;
}

static void drop(struct sim_line *line, uint32_t at, uint32_t count)
{
	memmove(&line->seg[at], &line->seg[at + count],
		(line->n - at - count) * sizeof line->seg[0]);
	line->n -= count;
}

static void forget_past(struct sim_line *line, uint64_t now)
{
	uint32_t n = 0;

	while (n < line->n && line->seg[n].end < now)
		n++;
	if (n)
		drop(line, 0, n);
}

static bool mergeable(const struct sim_seg *a, const struct sim_seg *b, uint64_t hole)
{
	return a->owner == b->owner && a->end != SIM_NEVER && b->end != SIM_NEVER &&
	       b->start <= a->end + hole;
}

/* Joins b into a, its left neighbour. */
static void join(struct sim_line *line, uint32_t a)
{
	line->seg[a].end = sim_max(line->seg[a].end, line->seg[a + 1].end);
	drop(line, a + 1, 1);
}

/*
 * A full line gives up its smallest hole: nothing that is taken becomes free. Between intervals of
 * different owners the result belongs to nobody and stands in everybody's way.
 */
static void make_room(struct sim_line *line)
{
	uint64_t best = SIM_NEVER;
	uint32_t i, at = 0;

	for (i = 0; i + 1 < line->n; i++) {
		const struct sim_seg *a = &line->seg[i], *b = a + 1;
		uint64_t hole = b->start > a->end ? b->start - a->end : 0;

		if (a->end != SIM_NEVER && b->end != SIM_NEVER && hole < best)
			best = hole, at = i;
	}
	if (line->seg[at].owner != line->seg[at + 1].owner)
		line->seg[at].owner = SIM_NOBODY;
	join(line, at);
}

void sim_line_take(struct sim_line *line, uint64_t now, uint64_t start, uint64_t end, int32_t owner)
{
	struct sim_seg new = { start, end, owner, 0 };
	uint32_t i = line->n;

	if (end <= start)
		return;
	if (i && start >= line->seg[i - 1].start &&
	    mergeable(&line->seg[i - 1], &new, SIM_MERGE_NS)) {
		line->seg[i - 1].end = sim_max(line->seg[i - 1].end, end);
		return;
	}
	forget_past(line, now);
	if (line->n == SIM_SEGS)
		make_room(line);
	for (i = line->n; i && line->seg[i - 1].start > start; i--)
		line->seg[i] = line->seg[i - 1];
	line->seg[i] = new;
	line->n++;
	while (i + 1 < line->n && mergeable(&line->seg[i], &line->seg[i + 1], SIM_MERGE_NS))
		join(line, i);
	if (i && mergeable(&line->seg[i - 1], &line->seg[i], SIM_MERGE_NS))
		join(line, i - 1);
}

void sim_line_close(struct sim_line *line, uint64_t start, uint64_t end, int32_t owner)
{
	uint32_t i;

	for (i = 0; i < line->n; i++) {
		struct sim_seg *s = &line->seg[i];

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
		struct sim_seg *s = &line->seg[i];

		if (s->owner == owner && s->end > now) {
			if (s->start >= now) {
				drop(line, i, 1);
				continue;
			}
			s->end = now;
		}
		i++;
	}
}
