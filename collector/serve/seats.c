/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A list by age for each team.
 */
#include "seats.h"

static void append(struct coll_seats *all, struct coll_seat_row *row, struct coll_seat *s)
{
	s->row = row;
	s->newer = NULL;
	s->older = row->newest;
	*(row->newest ? &row->newest->newer : &row->oldest) = s;
	row->newest = s;
	row->count++;
	all->count++;
}

void coll_seats_leave(struct coll_seats *all, struct coll_seat *s)
{
	struct coll_seat_row *row = s->row;

	if (!row)
		return;
	*(s->older ? &s->older->newer : &row->oldest) = s->newer;
	*(s->newer ? &s->newer->older : &row->newest) = s->older;
	row->count--;
	all->count--;
	s->row = NULL;
}

void coll_seats_touch(struct coll_seats *all, struct coll_seat *s)
{
	struct coll_seat_row *row = s->row;

	if (!row || row->newest == s)
		return;
	coll_seats_leave(all, s);
	append(all, row, s);
}

static struct coll_seat *displace(struct coll_seats *all, struct coll_seat_row **from)
{
	struct coll_seat_row *row, *most = all->rows;
	struct coll_seat *s;

	for (row = most->next; row; row = row->next)
		if (row->count > most->count)
			most = row;
	for (s = most->oldest; s && s->kept; s = s->newer)
		;
	if (s)
		coll_seats_leave(all, s);
	*from = most;
	return s;
}

struct coll_seat *coll_seats_take(struct coll_seats *all, struct coll_seat_row *row,
				  struct coll_seat *s, struct coll_seat_row **from)
{
	if (!row->known) {
		row->known = true;
		row->next = all->rows;
		all->rows = row;
	}
	coll_seats_leave(all, s);
	append(all, row, s);
	return all->count > COLL_SEATS_MAX ? displace(all, from) : NULL;
}
