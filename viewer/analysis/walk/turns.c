/* SPDX-License-Identifier: Apache-2.0 */
#include "turns.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include "analysis/archive.h"

int ana_turns_init(struct ana_turns *t, uint32_t processes)
{
	*t = (struct ana_turns){ .turn = calloc((size_t)processes + 1, sizeof(*t->turn)) };
	if (!t->turn)
		return -ENOMEM;
	for (; t->count < processes; t->count++)
		t->turn[t->count] = (struct ana_turn){ .at = INT64_MIN, .process = t->count };
	return 0;
}

void ana_turns_fini(struct ana_turns *t)
{
	free(t->turn);
	*t = (struct ana_turns){ 0 };
}

static bool before(const struct ana_turn *a, const struct ana_turn *b)
{
	if (a->at != b->at)
		return a->at < b->at;
	return a->then != b->then ? a->then < b->then : a->process < b->process;
}

void ana_turns_sort_first(struct ana_turns *t)
{
	const struct ana_turn turn = t->turn[0];
	uint32_t i = 0, child;

	for (; (child = 2 * i + 1) < t->count; i = child) {
		t->moved++;
		if (child + 1 < t->count && before(&t->turn[child + 1], &t->turn[child]))
			child++;
		if (!before(&t->turn[child], &turn))
			break;
		t->turn[i] = t->turn[child];
	}
	t->turn[i] = turn;
}

void ana_turns_end(struct ana_turns *t)
{
	t->turn[0] = t->turn[--t->count];
	if (t->count)
		ana_turns_sort_first(t);
}

void ana_turns_archive(struct ana_turns *t, uint32_t processes, struct ana_archive *a)
{
	t->count = ana_archive_small(a, t->count, processes);
	for (uint32_t i = 0; i < t->count; i++) {
		struct ana_turn *x = &t->turn[i];

		ana_archive_stamp(a, &x->at);
		ana_archive_field(a, x->then);
		x->process = ana_archive_small(a, x->process, processes - 1);
	}
}
