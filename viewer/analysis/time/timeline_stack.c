/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nested rows to disjoint stretches, as they come.
 */
#include "timeline_stack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/archive.h"

#define ROWS_MAX (UINT32_C(1) << 16) /* that run at once, in a thread or in all threads of a GPU */
#define STRETCHES_MAX (UINT32_C(1) << 22) /* 100 MB */
#define FIRST_ROOM 2u /* of either */

/*
 * Makes room for one more stretch: forgets what nobody will look at, and moves the rest to the
 * front if half of the array is dead.
 */
static int line_room(struct ana_timeline_stack *l, int64_t floor)
{
	struct ana_stretch *s;
	uint32_t room;

	while (l->head < l->tail && l->stretch[l->head].end <= floor)
		l->head++;
	if (l->tail - l->head >= STRETCHES_MAX)
		l->head = l->tail - STRETCHES_MAX / 4;
	if (l->head > l->room / 2) {
		memmove(l->stretch, l->stretch + l->head, (l->tail - l->head) * sizeof(*s));
		l->tail -= l->head;
		l->cursor = l->cursor > l->head ? l->cursor - l->head : 0;
		l->head = 0;
		return 0;
	}
	room = l->room ? l->room * 2 : FIRST_ROOM;
	s = reallocarray(l->stretch, room, sizeof(*s));
	if (!s)
		return -ENOMEM;
	l->stretch = s;
	l->room = room;
	return 0;
}

static int push(struct ana_timeline_stack *l, int64_t start, int64_t end, uint32_t value,
		int64_t floor)
{
	struct ana_stretch *last = l->head < l->tail ? &l->stretch[l->tail - 1] : NULL;
	int err;

	l->total += end - start;
	if (last && last->end == start && last->value == value) {
		last->end = end;
		return 0;
	}
	if (end <= floor)
		return 0;
	if (l->tail == l->room) {
		err = line_room(l, floor);
		if (err)
			return err;
	}
	l->stretch[l->tail++] = (struct ana_stretch){ start, end, value };
	return 0;
}

/* Both having begun, @a is inside of @b. */
static bool inside(const struct ana_row *a, const struct ana_row *b)
{
	if (a->start != b->start)
		return a->start > b->start;
	if (a->end != b->end)
		return a->end < b->end;
	return (int32_t)(a->turn - b->turn) > 0;
}

static int row_room(struct ana_timeline_stack *l)
{
	uint32_t room = l->row_room ? l->row_room * 2 : FIRST_ROOM;
	struct ana_row *more = reallocarray(l->row, room, sizeof(*more));

	if (!more)
		return -ENOMEM;
	l->row = more;
	l->row_room = room;
	return 0;
}

/* A heap and not a sorted array: any number of rows may begin at one instant. */
static int insert(struct ana_timeline_stack *l, struct ana_row row)
{
	size_t at;

	if (l->rows == ROWS_MAX) {
		l->left_out++;
		return 0;
	}
	if (l->rows == l->row_room && row_room(l))
		return -ENOMEM;
	row.turn = l->turn++;
	for (at = l->rows++; at > 0 && inside(&row, &l->row[(at - 1) / 2]); at = (at - 1) / 2)
		l->row[at] = l->row[(at - 1) / 2];
	l->row[at] = row;
	return 0;
}

/* The innermost row is over. */
static void drop(struct ana_timeline_stack *l)
{
	const struct ana_row last = l->row[--l->rows];
	size_t at = 0, child;

	for (; (child = 2 * at + 1) < l->rows; at = child) {
		if (child + 1 < l->rows && inside(&l->row[child + 1], &l->row[child]))
			child++;
		if (!inside(&l->row[child], &last))
			break;
		l->row[at] = l->row[child];
	}
	l->row[at] = last;
}

int ana_timeline_stack_upto(struct ana_timeline_stack *l, int64_t t, int64_t floor)
{
	while (l->rows && l->done < t) {
		const struct ana_row *top = l->row;
		int64_t end = top->end < t ? top->end : t;
		int err;

		if (end > l->done) {
			err = push(l, l->done, end, top->value, floor);
			if (err)
				return err;
			l->done = end;
		}
		if (top->end <= l->done)
			drop(l);
	}
	if (l->done < t)
		l->done = t;
	return 0;
}

/* The usual case: one row was running, and it ended before the next one begins. */
static int follow(struct ana_timeline_stack *l, struct ana_row row, int64_t floor)
{
	int err = 0;

	if (l->row->end > l->done)
		err = push(l, l->done, l->row->end, l->row->value, floor);
	l->done = row.start;
	*l->row = row;
	return err;
}

int ana_timeline_stack_add(struct ana_timeline_stack *l, int64_t start, int64_t end, uint32_t value,
			   int64_t floor)
{
	struct ana_row row = { start, end, value, 0 };
	int err;

	if (end <= start)
		return 0;
	if (!l->begun) {
		l->begun = true;
		l->done = start;
		l->latest = end;
	}
	if (end > l->latest)
		l->latest = end;
	if (l->rows == 1 && l->row->end <= start)
		return follow(l, row, floor);
	err = l->rows ? ana_timeline_stack_upto(l, start, floor) : 0;
	if (err)
		return err;
	if (l->done < start)
		l->done = start;
	return insert(l, row);
}

void ana_timeline_stack_fini(struct ana_timeline_stack *l)
{
	free(l->stretch);
	free(l->row);
	*l = (struct ana_timeline_stack){ 0 };
}

bool ana_timeline_stack_find(struct ana_timeline_stack *l, int64_t t, uint32_t *value,
			     int64_t *until)
{
	uint32_t i = l->cursor;

	if (i < l->head || i >= l->tail)
		i = l->head;
	while (i > l->head && l->stretch[i - 1].end > t)
		i--;
	while (i < l->tail && l->stretch[i].end <= t)
		i++;
	l->cursor = i;
	if (i == l->tail) {
		*until = INT64_MAX;
		return false;
	}
	if (l->stretch[i].start > t) {
		*until = l->stretch[i].start;
		return false;
	}
	*value = l->stretch[i].value;
	*until = l->stretch[i].end;
	return true;
}

static void archive_stretch(struct ana_stretch *s, uint32_t most, struct ana_archive *a)
{
	ana_archive_time(a, &s->start);
	ana_archive_time(a, &s->end);
	s->value = ana_archive_small(a, s->value, most);
}

static void archive_row(struct ana_row *r, uint32_t most, struct ana_archive *a)
{
	ana_archive_time(a, &r->start);
	ana_archive_time(a, &r->end);
	r->value = ana_archive_small(a, r->value, most);
	ana_archive_field(a, r->turn);
}

/* Where the array is full is where millions are forgotten: it has its very room. */
static void archive_line(struct ana_timeline_stack *l, uint32_t most, struct ana_archive *a)
{
	l->room = ana_archive_small(a, l->room, 2 * STRETCHES_MAX);
	l->tail = ana_archive_small(a, l->tail, l->room);
	l->head = ana_archive_small(a, l->head, l->tail);
	ana_archive_check(a, !a->reading || l->tail - l->head <= a->len - a->pos);
	if (a->reading) {
		l->stretch = a->err ? NULL : calloc(l->room + 1u, sizeof(*l->stretch));
		if (!a->err && !l->stretch)
			a->err = -ENOMEM;
		if (a->err)
			l->head = l->tail = l->room = 0;
	}
	for (uint32_t i = l->head; i < l->tail; i++)
		archive_stretch(&l->stretch[i], most, a);
}

void ana_timeline_stack_archive(struct ana_timeline_stack *l, uint32_t most, struct ana_archive *a)
{
	archive_line(l, most, a);
	ana_archive_vec(a, l->row, l->rows, ROWS_MAX);
	if (a->reading)
		l->row_room = l->rows;
	for (size_t i = 0; i < l->rows; i++)
		archive_row(&l->row[i], most, a);
	ana_archive_field(a, l->turn);
	ana_archive_field(a, l->left_out);
	ana_archive_bool(a, &l->begun);
	ana_archive_stamp(a, &l->done);
	ana_archive_time(a, &l->total);
	ana_archive_stamp(a, &l->latest);
}
