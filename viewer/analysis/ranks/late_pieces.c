/* SPDX-License-Identifier: Apache-2.0 */
#include "late_pieces.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/class.h"
#include "base/minmax.h"
#include "base/vec.h"
#include "wire/bytes.h"

#define PIECE_BYTES_MAX (2 * WIRE_VARINT_MAX)
#define READ_BYTES 512u /* of a run at once */

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

int ana_late_pieces_grow(struct ana_late_pieces *l, size_t most)
{
	size_t room = l->room ? l->room + l->room / 2 : 64;
	struct ana_late_piece *p;

	room = l->room < most && room > most ? most : room;
	p = reallocarray(l->at, room, sizeof(*p));

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

static int by_first(const void *a, const void *b)
{
	const struct ana_late_run *x = a, *y = b;

	return x->first != y->first ? (x->first < y->first ? -1 : 1) : 0;
}

void ana_late_pieces_sort(struct ana_late_pieces *l)
{
	if (l->count > 1)
		qsort(l->at, l->count, sizeof(*l->at), in_order);
	if (l->runs > 1)
		qsort(l->run, l->runs, sizeof(*l->run), by_first);
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

void ana_late_pieces_fold(struct ana_late_pieces *l, int64_t since,
			  bool (*next)(void *arg, int64_t *moment), void *arg)
{
	struct fold f = { .at = l->at };
	int64_t moment;
	size_t i = 0;

	ana_late_pieces_sort(l);
	while (i < l->count && l->at[i].start < since)
		f.out = ++i;
	if (i < l->count)
		f.from = l->at[i].start;
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
	free(l->run);
	*l = (struct ana_late_pieces){ 0 };
}

/* --- in the file: of each piece the start after that of the one before, and ns and class --- */

int ana_late_pieces_spill(struct ana_late_pieces *l, struct ana_spill *s, int64_t *kept_from)
{
	size_t n = l->count - l->count / 4, i;
	uint8_t *byte, *p;
	struct ana_late_run run;
	int err;

	if (!n || n > UINT32_MAX / PIECE_BYTES_MAX)
		return -EINVAL;
	if (!base_vec_more(l->run, l->runs, l->run_room))
		return -ENOMEM;
	byte = p = malloc(n * PIECE_BYTES_MAX);
	if (!byte)
		return -ENOMEM;
	run = (struct ana_late_run){ .count = (uint32_t)n, .first = l->at[0].start };
	for (i = 0; i < n; i++) {
		int64_t before = i ? l->at[i - 1].start : run.first;

		p = wire_varint_put(p, (uint64_t)(l->at[i].start - before));
		p = wire_varint_put(p, l->at[i].ns_and_class);
	}
	run.bytes = (uint32_t)(p - byte);
	err = ana_spill_write(s, byte, run.bytes, &run.offset);
	free(byte);
	if (err)
		return err;
	l->run[l->runs++] = run;
	l->spilled += n;
	l->count -= n;
	memmove(l->at, l->at + n, l->count * sizeof(*l->at));
	*kept_from = l->count ? l->at[0].start : INT64_MAX;
	return 0;
}

struct ana_late_open {
	uint64_t offset; /* of what is not read yet */
	uint32_t bytes, count; /* of it */
	uint32_t pos, len; /* in the room */
	struct ana_late_piece piece; /* the next */
	uint8_t room[READ_BYTES];
};

void ana_late_reader_init(struct ana_late_reader *r, const struct ana_late_pieces *l,
			  const struct ana_spill *s)
{
	*r = (struct ana_late_reader){ .of = l, .spill = s };
}

void ana_late_reader_fini(struct ana_late_reader *r)
{
	free(r->open);
	r->open = NULL;
	r->opens = r->open_room = 0;
}

/* The room has a whole piece, if there is one. */
static int fill(struct ana_late_reader *r, struct ana_late_open *o)
{
	uint32_t left = o->len - o->pos;
	uint32_t more = (uint32_t)base_min(READ_BYTES - left, o->bytes);
	int err;

	if (left >= PIECE_BYTES_MAX || !o->bytes)
		return 0;
	memmove(o->room, o->room + o->pos, left);
	err = ana_spill_read(r->spill, o->room + left, more, o->offset);
	o->pos = 0;
	o->len = left + more;
	o->offset += more;
	o->bytes -= more;
	return err;
}

/* The next piece of a run; false: there is none, or an error. */
static bool advance(struct ana_late_reader *r, struct ana_late_open *o)
{
	const uint8_t *p, *end;
	uint64_t since = 0;

	if (!o->count)
		return false;
	r->err = fill(r, o);
	if (r->err)
		return false;
	p = o->room + o->pos;
	end = o->room + o->len;
	p = wire_varint_get(p, end, &since);
	p = p ? wire_varint_get(p, end, &o->piece.ns_and_class) : NULL;
	if (!p) {
		r->err = -EIO;
		return false;
	}
	o->piece.start += (int64_t)since;
	o->pos = (uint32_t)(p - o->room);
	o->count--;
	return true;
}

static void open_next(struct ana_late_reader *r)
{
	const struct ana_late_run *run = &r->of->run[r->runs++];
	struct ana_late_open *o;

	if (!base_vec_more(r->open, r->opens, r->open_room)) {
		r->err = -ENOMEM;
		return;
	}
	o = &r->open[r->opens];
	o->offset = run->offset;
	o->bytes = run->bytes;
	o->count = run->count;
	o->pos = o->len = 0;
	o->piece.start = run->first;
	r->opens += advance(r, o);
}

/* Which open run has the first piece; opens: that in memory is before it, or there is none. */
static uint32_t first_of(const struct ana_late_reader *r, const struct ana_late_piece **first)
{
	uint32_t best = r->opens, i;

	*first = r->pos < r->of->count ? &r->of->at[r->pos] : NULL;
	for (i = 0; i < r->opens; i++) {
		if (*first && in_order(&r->open[i].piece, *first) >= 0)
			continue;
		*first = &r->open[i].piece;
		best = i;
	}
	return best;
}

const struct ana_late_piece *ana_late_reader_peek(struct ana_late_reader *r)
{
	const struct ana_late_piece *first;

	first_of(r, &first);
	while (!r->err && r->runs < r->of->runs &&
	       (!first || r->of->run[r->runs].first <= first->start)) {
		open_next(r);
		first_of(r, &first);
	}
	return r->err ? NULL : first;
}

void ana_late_reader_take(struct ana_late_reader *r)
{
	const struct ana_late_piece *first;
	uint32_t i = first_of(r, &first);

	if (i == r->opens)
		r->pos++;
	else if (!advance(r, &r->open[i]))
		r->open[i] = r->open[--r->opens];
}
