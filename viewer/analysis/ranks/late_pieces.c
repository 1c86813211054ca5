/* SPDX-License-Identifier: Apache-2.0 */
#include "late_pieces.h"

#include <errno.h>
#include <stdlib.h>
#include "analysis/class.h"

static uint64_t pack(int64_t ns, int c)
{
	if (ns > ANA_LATE_PIECE_NS_MAX)
		ns = ANA_LATE_PIECE_NS_MAX;
	return (uint64_t)ns << 8 | (uint64_t)c;
}

bool ana_late_pieces_add(struct ana_late_pieces *l, int c, int64_t start, int64_t end)
{
	struct ana_late_piece *last = l->count ? &l->at[l->count - 1] : NULL;

	if (last && ana_late_piece_class(last) == c && ana_late_piece_end(last) == start) {
		last->ns_and_class = pack(end - last->start, c);
		return true;
	}
	if (l->count == l->room)
		return false;
	l->at[l->count++] = (struct ana_late_piece){ start, pack(end - start, c) };
	return true;
}

int ana_late_pieces_grow(struct ana_late_pieces *l)
{
	size_t room = l->room ? l->room + l->room / 2 : 64;
	struct ana_late_piece *p = reallocarray(l->at, room, sizeof(*p));

	if (!p)
		return -ENOMEM;
	l->at = p;
	l->room = room;
	return 0;
}

static int in_order(const void *a, const void *b)
{
	const struct ana_late_piece *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return ana_late_piece_ns(x) < ana_late_piece_ns(y)
		       ? -1
		       : ana_late_piece_ns(x) > ana_late_piece_ns(y);
}

void ana_late_pieces_sort(struct ana_late_pieces *l)
{
	if (l->count > 1)
		qsort(l->at, l->count, sizeof(*l->at), in_order);
}

struct fold {
	struct ana_late_piece *at;
	size_t out;
	int64_t from; /* where the sums below are put */
	int64_t sum[ANA_CLASSES];
	bool any;
};

/*
 * There are no more of them than of the pieces they came from, so that nothing unread is
 * overwritten.
 */
static void write_sums(struct fold *f)
{
	for (int c = 0; c < ANA_CLASSES && f->any; c++) {
		if (f->sum[c])
			f->at[f->out++] = (struct ana_late_piece){ f->from, pack(f->sum[c], c) };
		f->sum[c] = 0;
	}
	f->any = false;
}

static void sum_up(struct fold *f, const struct ana_late_piece *l)
{
	f->sum[ana_late_piece_class(l)] += ana_late_piece_ns(l);
	f->any = true;
}

void ana_late_pieces_fold(struct ana_late_pieces *l, bool (*next)(void *arg, int64_t *moment),
			  void *arg)
{
	struct fold f = { .at = l->at };
	int64_t moment;
	size_t i = 0;

	ana_late_pieces_sort(l);
	if (l->count)
		f.from = l->at[0].start;
	while (i < l->count && next(arg, &moment)) {
		struct ana_late_piece across = { 0 };
		for (; i < l->count && l->at[i].start < moment && !across.ns_and_class; i++) {
			if (ana_late_piece_end(&l->at[i]) <= moment)
				sum_up(&f, &l->at[i]);
			else
				across = l->at[i];
		}
		write_sums(&f);
		if (across.ns_and_class)
			f.at[f.out++] = across;
		f.from = moment > f.from ? moment : f.from;
	}
	while (i < l->count)
		f.at[f.out++] = l->at[i++];
	l->count = f.out;
}

void ana_late_pieces_trim(struct ana_late_pieces *l)
{
	struct ana_late_piece *p = l->count ? reallocarray(l->at, l->count, sizeof(*p)) : NULL;

	if (!p)
		return;
	l->at = p;
	l->room = l->count;
}

void ana_late_pieces_fini(struct ana_late_pieces *l)
{
	free(l->at);
	*l = (struct ana_late_pieces){ 0 };
}
