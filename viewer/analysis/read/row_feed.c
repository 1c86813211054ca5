/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames of evidence to one sorted sequence.
 */
#include "row_feed.h"

#include <errno.h>
#include <stdlib.h>
#include "analysis/archive.h"
#include "base/vec.h"
#include "due.h"

/*
 * Of the frames that are open besides the first: what a capture writes overlaps a little, and only
 * a made-up file has frames without end at one time. Those that do not fit count as unreadable.
 */
#define OPEN_ROWS_MAX (UINT32_C(1) << 19)

struct ana_row_feed_block {
	struct wire_sample *sample; /* one of the two */
	struct wire_batch *batch;
	size_t room, count, pos;
	uint64_t seq;
	size_t due; /* which of those due it is */
};

int ana_row_feed_init(struct ana_row_feed *r, struct view_trace *t, const struct view_stream *s,
		      uint8_t kind, struct wire_scratch *scratch)
{
	*r = (struct ana_row_feed){ .trace = t, .scratch = scratch, .kind = kind };
	return ana_due_list(s->evidence, s->evidences, kind, &r->due, &r->dues);
}

static void block_free(struct ana_row_feed_block *b)
{
	if (!b)
		return;
	free(b->sample);
	free(b->batch);
	free(b);
}

void ana_row_feed_fini(struct ana_row_feed *r)
{
	size_t i;

	for (i = 0; i < r->opens; i++)
		block_free(r->open[i]);
	free(r->open);
	free(r->due);
	*r = (struct ana_row_feed){ 0 };
}

/* Leaves out what is no time. */
static void tidy(struct ana_row_feed *r, struct ana_row_feed_block *b)
{
	size_t i, n = 0;

	for (i = 0; i < b->count; i++) {
		bool keep = b->sample ? ana_stamp_good(b->sample[i].t_ns)
				      : ana_stamp_good(b->batch[i].start_ns) &&
						ana_stamp_good(b->batch[i].end_ns) &&
						b->batch[i].end_ns >= b->batch[i].start_ns;

		if (!keep)
			r->bad++;
		else if (b->sample)
			b->sample[n++] = b->sample[i];
		else
			b->batch[n++] = b->batch[i];
	}
	b->count = n;
}

static int64_t time_of(const struct ana_row_feed_block *b)
{
	return b->sample ? b->sample[b->pos].t_ns : b->batch[b->pos].start_ns;
}

static bool before(const struct ana_row_feed_block *a, const struct ana_row_feed_block *b)
{
	int64_t x = time_of(a), y = time_of(b);

	return x != y ? x < y : a->seq < b->seq;
}

static void sift_down(struct ana_row_feed *r)
{
	struct ana_row_feed_block *b = r->open[0];
	size_t i = 0;

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= r->opens)
			break;
		if (child + 1 < r->opens && before(r->open[child + 1], r->open[child]))
			child++;
		if (!before(r->open[child], b))
			break;
		r->open[i] = r->open[child];
		i = child;
	}
	r->open[i] = b;
}

static int push(struct ana_row_feed *r, struct ana_row_feed_block *b)
{
	size_t i;

	if (!base_vec_more(r->open, r->opens, r->open_room))
		return -ENOMEM;
	for (i = r->opens++; i > 0 && before(b, r->open[(i - 1) / 2]); i = (i - 1) / 2)
		r->open[i] = r->open[(i - 1) / 2];
	r->open[i] = b;
	r->held += b->count;
	return 0;
}

static int decode(struct ana_row_feed *r, struct ana_row_feed_block *b)
{
	const struct view_block *due = r->due[b->due];
	int err;

	b->seq = due->entry.frame.seq;
	if (r->kind == WIRE_KIND_SAMPLE)
		err = view_trace_samples(r->trace, due, r->scratch, &b->sample, &b->room,
					 &b->count);
	else
		err = view_trace_batches(r->trace, due, r->scratch, &b->batch, &b->room, &b->count);
	if (!err)
		tidy(r, b);
	return err;
}

/* Decodes the next due frame and puts it on the heap. */
static int open_next(struct ana_row_feed *r)
{
	const struct view_block *due = r->due[r->next++];
	struct ana_row_feed_block *b = calloc(1, sizeof(*b));
	int err;

	if (!b)
		return -ENOMEM;
	if (r->opens && r->held + due->head->count > OPEN_ROWS_MAX) {
		r->unreadable++;
		block_free(b);
		return 0;
	}
	b->due = r->next - 1;
	err = decode(r, b);
	view_trace_was_read(r->trace, due);
	r->unreadable += err != 0;
	if (!err && b->count)
		err = push(r, b);
	if (err || !b->count)
		block_free(b);
	return err == -ENOMEM ? err : 0;
}

/* The block with the next row, if that is at most @upto; the row is taken from it. */
static struct ana_row_feed_block *take(struct ana_row_feed *r, int64_t upto, size_t *at)
{
	struct ana_row_feed_block *b = r->opens ? r->open[0] : NULL;

	if (b && b->pos == b->count) { /* its last row was given out */
		r->open[0] = r->open[--r->opens];
		r->held -= b->count;
		block_free(b);
		if (r->opens)
			sift_down(r);
	} else if (b) {
		sift_down(r);
	}
	while (!r->err && r->next < r->dues && r->due[r->next]->head->t0_ns <= upto &&
	       (!r->opens || r->due[r->next]->head->t0_ns <= time_of(r->open[0])))
		r->err = open_next(r);
	if (r->err || !r->opens || time_of(r->open[0]) > upto)
		return NULL;
	b = r->open[0];
	*at = b->pos++;
	return b;
}

int64_t ana_row_feed_next(const struct ana_row_feed *r)
{
	int64_t t = r->opens ? time_of(r->open[0]) : INT64_MAX;

	if (r->next < r->dues && r->due[r->next]->head->t0_ns < t)
		t = r->due[r->next]->head->t0_ns;
	return t;
}

const struct wire_sample *ana_row_feed_sample(struct ana_row_feed *r, int64_t upto)
{
	size_t at;
	struct ana_row_feed_block *b = take(r, upto, &at);

	return b ? &b->sample[at] : NULL;
}

const struct wire_batch *ana_row_feed_batch(struct ana_row_feed *r, int64_t upto)
{
	size_t at;
	struct ana_row_feed_block *b = take(r, upto, &at);

	return b ? &b->batch[at] : NULL;
}

/* The frame that was open there, where it stood. */
static void open_again(struct ana_row_feed *r, struct ana_archive *a)
{
	size_t due = ana_archive_number(a, 0, r->next - 1);
	struct ana_row_feed_block *b = NULL;
	int err;

	if (!a->err)
		b = calloc(1, sizeof(*b));
	if (!b || !base_vec_more(r->open, r->opens, r->open_room)) {
		free(b);
		a->err = a->err ? a->err : -ENOMEM;
		return;
	}
	r->open[r->opens++] = b;
	b->due = due;
	err = decode(r, b);
	if (err) {
		a->err = err == -ENOMEM ? err : -EBADMSG;
		return;
	}
	b->pos = ana_archive_number(a, 0, b->count);
	ana_archive_check(a, b->count && (b->pos < b->count || r->opens == 1));
	r->held += b->count;
	ana_archive_check(a, r->opens == 1 || r->held <= 2 * (size_t)OPEN_ROWS_MAX);
}

void ana_row_feed_archive(struct ana_row_feed *r, struct ana_archive *a)
{
	size_t n, i;

	r->next = ana_archive_number(a, r->next, r->dues);
	n = ana_archive_number(a, r->opens, r->next);
	for (i = 0; i < n && !a->err; i++) {
		if (a->reading) {
			open_again(r, a);
			continue;
		}
		ana_archive_number(a, r->open[i]->due, 0);
		ana_archive_number(a, r->open[i]->pos, 0);
	}
	ana_archive_field(a, r->bad); /* some of it was counted again */
	ana_archive_field(a, r->unreadable);
}
