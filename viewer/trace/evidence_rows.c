/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes samples and batches, and brings them into order of time.
 */
#include "trace_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Both kinds of row begin with their time. */
_Static_assert(offsetof(struct wire_sample, t_ns) == 0 &&
		       offsetof(struct wire_batch, start_ns) == 0,
	       "a row begins with its time");

struct place {
	int64_t t;
	size_t at;
};

static int by_time(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->t != y->t)
		return x->t < y->t ? -1 : 1;
	return x->at < y->at ? -1 : 1;
}

static int64_t time_of(const uint8_t *row)
{
	int64_t t;

	memcpy(&t, row, sizeof(t));
	return t;
}

static bool in_order(const uint8_t *rows, size_t n, size_t each)
{
	size_t i;

	for (i = 1; i < n; i++)
		if (time_of(rows + i * each) < time_of(rows + (i - 1) * each))
			return false;
	return true;
}

/* Stably; threads come one after the other, so rows may be far from their places. */
static int sort_rows(void *rows, size_t n, size_t each)
{
	struct place *place;
	uint8_t *copy;
	int err = -ENOMEM;
	size_t i;

	if (in_order(rows, n, each))
		return 0;
	place = malloc(n * sizeof(*place));
	copy = malloc(n * each);
	if (!place || !copy)
		goto out;
	memcpy(copy, rows, n * each);
	for (i = 0; i < n; i++)
		place[i] = (struct place){ time_of(copy + i * each), i };
	qsort(place, n, sizeof(*place), by_time);
	for (i = 0; i < n; i++)
		memcpy((uint8_t *)rows + i * each, copy + place[i].at * each, each);
	err = 0;
out:
	free(copy);
	free(place);
	return err;
}

static struct wire_file *file_of(const struct view_trace *t, const struct view_block *b)
{
	const struct trace_priv *p = t->priv;

	return b->file < p->files ? p->file[b->file].file : NULL;
}

/* Rows that were decoded, if @err is 0, in order of time; then *count are there. */
static int put_in_order(int err, const struct wire_block_head *head, void *rows, size_t each,
			size_t *count)
{
	if (!err)
		err = sort_rows(rows, head->count, each);
	*count = err ? 0 : head->count;
	return err;
}

int view_trace_samples(struct view_trace *t, const struct view_block *b,
		       struct wire_scratch *scratch, struct wire_sample **rows, size_t *room,
		       size_t *count)
{
	struct wire_file *f = file_of(t, b);
	struct wire_block_head head;
	int err = f ? wire_file_samples(f, scratch, &b->entry, &head, rows, room) : -EINVAL;

	return put_in_order(err, &head, *rows, sizeof(**rows), count);
}

int view_trace_batches(struct view_trace *t, const struct view_block *b,
		       struct wire_scratch *scratch, struct wire_batch **rows, size_t *room,
		       size_t *count)
{
	struct wire_file *f = file_of(t, b);
	struct wire_block_head head;
	int err = f ? wire_file_batches(f, scratch, &b->entry, &head, rows, room) : -EINVAL;

	return put_in_order(err, &head, *rows, sizeof(**rows), count);
}
