/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks to one sorted sequence.
 */
#include "event_feed.h"

#include <errno.h>
#include <stdlib.h>
#include "analysis/archive.h"
#include "due.h"

struct ana_feed_block {
	struct wire_event *ev;
	size_t room, count, pos;
	bool more; /* it was opened besides others */
	uint64_t seq;
	size_t due; /* which of those due it is */
	struct ana_feed_block *next; /* among the spare ones */
};

int ana_feed_init(struct ana_feed *f, struct view_trace *t, const struct view_stream *s,
		  uint8_t kind, struct wire_scratch *scratch)
{
	*f = (struct ana_feed){ .trace = t, .scratch = scratch, .own.most = ANA_FEED_EVENTS };
	return ana_due_list(s->block, s->blocks, kind, &f->due, &f->dues);
}

static void block_free(struct ana_feed_block *b)
{
	free(b->ev);
	free(b);
}

void ana_feed_fini(struct ana_feed *f)
{
	struct ana_feed_block *b;
	size_t i;

	for (i = 0; i < f->opens; i++)
		block_free(f->open[i]);
	while ((b = f->spare)) {
		f->spare = b->next;
		block_free(b);
	}
	free(f->open);
	free(f->due);
	*f = (struct ana_feed){ 0 };
}

/* An end before its start is another matter, and harmless. */
static bool good_stamps(const struct wire_event *e)
{
	return ana_stamp_good(e->start_ns) && e->end_ns < ANA_STAMP_MAX;
}

/* Drops what is no time at all; a head tells whether there may be any. */
static void tidy(struct ana_feed *f, struct ana_feed_block *b, const struct wire_block_head *h)
{
	size_t i, n = 0;

	if (h->t0_ns > -ANA_STAMP_MAX && h->last_start_ns < ANA_STAMP_MAX &&
	    h->t1_ns < ANA_STAMP_MAX)
		return;
	for (i = 0; i < b->count; i++) {
		if (!good_stamps(&b->ev[i]))
			f->bad++;
		else
			b->ev[n++] = b->ev[i];
	}
	b->count = n;
}

static bool before(const struct ana_feed_block *a, const struct ana_feed_block *b)
{
	const struct wire_event *x = &a->ev[a->pos], *y = &b->ev[b->pos];

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns;
	if (x->kind == WIRE_KIND_OP) {
		if (ana_op_before(x, y))
			return true;
		if (ana_op_before(y, x))
			return false;
	}
	return a->seq < b->seq;
}

static void sift_down(struct ana_feed *f, size_t i)
{
	struct ana_feed_block *b = f->open[i];

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= f->opens)
			break;
		if (child + 1 < f->opens && before(f->open[child + 1], f->open[child]))
			child++;
		if (!before(f->open[child], b))
			break;
		f->open[i] = f->open[child];
		i = child;
	}
	f->open[i] = b;
}

static void sift_up(struct ana_feed *f, size_t i)
{
	struct ana_feed_block *b = f->open[i];

	while (i > 0 && before(b, f->open[(i - 1) / 2])) {
		f->open[i] = f->open[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	f->open[i] = b;
}

static int heap_room(struct ana_feed *f)
{
	size_t room = f->open_room ? f->open_room * 2 : 4;
	struct ana_feed_block **open;

	if (f->opens < f->open_room)
		return 0;
	open = reallocarray(f->open, room, sizeof(*open));
	if (!open)
		return -ENOMEM;
	f->open = open;
	f->open_room = room;
	return 0;
}

static struct ana_feed_block *take_spare(struct ana_feed *f)
{
	struct ana_feed_block *b = f->spare;

	if (!b)
		return calloc(1, sizeof(*b));
	f->spare = b->next;
	return b;
}

static void give_spare(struct ana_feed *f, struct ana_feed_block *b)
{
	b->next = f->spare;
	f->spare = b;
}

static struct ana_feed_room *room_of(struct ana_feed *f)
{
	return f->room ? f->room : &f->own;
}

/*
 * Decodes the next due block and puts it on the heap. What a capture writes overlaps a little;
 * where blocks without end do, as only a made-up file's can, those that do not fit count as
 * unreadable.
 */
static int open_next(struct ana_feed *f)
{
	const struct view_block *due = f->due[f->next++];
	struct ana_feed_block *b;
	int err = heap_room(f);

	if (err)
		return err;
	if (f->opens && room_of(f)->held + due->head->count > room_of(f)->most) {
		f->unreadable++;
		return 0;
	}
	b = take_spare(f);
	if (!b)
		return -ENOMEM;
	b->pos = 0;
	b->seq = due->entry.frame.seq;
	b->due = f->next - 1;
	err = view_trace_block(f->trace, due, f->scratch, &b->ev, &b->room, &b->count);
	if (f->watched)
		view_trace_was_read(f->trace, due);
	if (err) {
		give_spare(f, b);
		f->unreadable++;
		return err == -ENOMEM ? err : 0;
	}
	tidy(f, b, due->head);
	if (!b->count) {
		give_spare(f, b);
		return 0;
	}
	b->more = f->opens != 0;
	room_of(f)->held += b->more ? b->count : 0;
	f->open[f->opens++] = b;
	sift_up(f, f->opens - 1);
	return 0;
}

/* The first block's cursor is moved to where the reader stands. */
static void store_position(struct ana_feed *f)
{
	struct ana_feed_block *b = f->opens ? f->open[0] : NULL;

	if (!b || !f->at)
		return;
	b->pos = (size_t)(f->at - b->ev);
	if (b->pos == b->count) {
		f->open[0] = f->open[--f->opens];
		room_of(f)->held -= b->more ? b->count : 0;
		give_spare(f, b);
	}
	if (f->opens)
		sift_down(f, 0);
}

/* The first event of the sorted [e, end) that starts at or after @limit. */
static const struct wire_event *first_from(const struct wire_event *e, const struct wire_event *end,
					   int64_t limit)
{
	while (e < end) {
		const struct wire_event *mid = e + (end - e) / 2;

		if (mid->start_ns < limit)
			e = mid + 1;
		else
			end = mid;
	}
	return e;
}

/* The events of the first block that come before any event of any other block; at least one. */
static const struct wire_event *safe_stop(const struct ana_feed *f)
{
	const struct ana_feed_block *b = f->open[0];
	const struct wire_event *end = b->ev + b->count;
	int64_t limit = f->next < f->dues ? f->due[f->next]->head->t0_ns : INT64_MAX;
	size_t i;

	for (i = 1; i <= 2 && i < f->opens; i++)
		if (f->open[i]->ev[f->open[i]->pos].start_ns < limit)
			limit = f->open[i]->ev[f->open[i]->pos].start_ns;
	return end[-1].start_ns < limit ? end : first_from(f->at + 1, end, limit);
}

const struct wire_event *ana_feed_more(struct ana_feed *f)
{
	store_position(f);
	f->at = f->stop = NULL;
	while (!f->err && f->next < f->dues &&
	       (!f->opens ||
		f->due[f->next]->head->t0_ns <= f->open[0]->ev[f->open[0]->pos].start_ns))
		f->err = open_next(f);
	if (f->err || !f->opens)
		return NULL;
	f->at = &f->open[0]->ev[f->open[0]->pos];
	f->stop = safe_stop(f);
	return f->at;
}

/* The block that was open there, where it stood. */
static void open_again(struct ana_feed *f, size_t at, struct ana_archive *a)
{
	size_t due = ana_archive_number(a, 0, f->next - 1), pos;
	struct ana_feed_block *b = a->err || heap_room(f) ? NULL : calloc(1, sizeof(*b));
	int err;

	if (!b) {
		a->err = a->err ? a->err : -ENOMEM;
		return;
	}
	f->open[f->opens++] = b;
	b->due = due;
	b->seq = f->due[due]->entry.frame.seq;
	err = view_trace_block(f->trace, f->due[due], f->scratch, &b->ev, &b->room, &b->count);
	if (err) {
		a->err = err == -ENOMEM ? err : -EBADMSG;
		b->count = 0;
		return;
	}
	tidy(f, b, f->due[due]->head);
	ana_archive_bool(a, &b->more);
	pos = ana_archive_number(a, 0, b->count);
	ana_archive_check(a, b->count && (pos < b->count || !at));
	b->pos = pos;
	room_of(f)->held += b->more ? b->count : 0;
	ana_archive_check(a, room_of(f)->held <= room_of(f)->most);
}

static void read_open(struct ana_feed *f, struct ana_archive *a)
{
	size_t n = ana_archive_number(a, 0, f->next), stop;

	while (f->opens < n && !a->err)
		open_again(f, f->opens, a);
	if (!n || a->err)
		return;
	stop = ana_archive_number(a, 0, f->open[0]->count);
	ana_archive_check(a, stop >= f->open[0]->pos);
	f->at = &f->open[0]->ev[f->open[0]->pos];
	f->stop = &f->open[0]->ev[stop];
}

static void write_open(struct ana_feed *f, struct ana_archive *a)
{
	ana_archive_number(a, f->opens, 0);
	for (size_t i = 0; i < f->opens; i++) {
		struct ana_feed_block *b = f->open[i];

		ana_archive_number(a, b->due, 0);
		ana_archive_bool(a, &b->more);
		ana_archive_number(a, i ? b->pos : (size_t)(f->at - b->ev), 0);
	}
	if (f->opens)
		ana_archive_number(a, (size_t)(f->stop - f->open[0]->ev), 0);
}

void ana_feed_archive(struct ana_feed *f, struct ana_archive *a)
{
	f->next = ana_archive_number(a, f->next, f->dues);
	if (a->reading)
		read_open(f, a);
	else
		write_open(f, a);
	ana_archive_field(a, f->bad); /* some of it was counted again */
	ana_archive_field(a, f->unreadable);
}
