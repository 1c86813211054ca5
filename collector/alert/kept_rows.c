/* SPDX-License-Identifier: Apache-2.0 */
#include "kept_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/vec.h"

/* Of rows that live_row_get took. */
static int take(struct coll_kept_row *at, const struct live_row *r)
{
	const struct live_row stream = { .hex = r->stream, .digits = strlen(r->stream) };

	at->len = (uint32_t)(r->digits / 2);
	at->frame = malloc(at->len + 1);
	if (!at->frame)
		return -ENOMEM;
	if (stream.digits == 2 * sizeof(at->stream) && live_row_decode(&stream, at->stream) &&
	    live_row_decode(r, at->frame))
		return 0;
	free(at->frame);
	return -EBADMSG;
}

int coll_kept_rows_add(struct coll_kept_rows *k, const struct live_row *r, int64_t now_ns)
{
	struct coll_kept_row row = { .slot = r->slot,
				     .rank = r->rank,
				     .heard_ns = now_ns - r->age_s * LIVE_SECOND_NS };
	int err = take(&row, r);

	if (err)
		return err;
	if (!base_vec_more(k->row, k->rows, k->room)) {
		free(row.frame);
		return -ENOMEM;
	}
	k->row[k->rows++] = row;
	k->bytes += sizeof(row) + row.len;
	k->fresh = true;
	return 0;
}

static int stream_order(const struct coll_kept_row *x, const struct coll_kept_row *y)
{
	return memcmp(x->stream, y->stream, sizeof(x->stream));
}

static int by_key(const struct coll_kept_row *x, const struct coll_kept_row *y)
{
	int by = stream_order(x, y);

	return by ? by : (x->slot > y->slot) - (x->slot < y->slot);
}

/* The one that holds first, and of two of that the one that was heard of last. */
static int key_order(const void *a, const void *b)
{
	const struct coll_kept_row *x = a, *y = b;
	int by = by_key(x, y);

	by = by ? by : (x->rank < y->rank) - (x->rank > y->rank);
	return by ? by : (x->heard_ns < y->heard_ns) - (x->heard_ns > y->heard_ns);
}

/* The first of each key stays. */
static void thin(struct coll_kept_rows *k)
{
	size_t kept = 0;

	if (k->rows)
		qsort(k->row, k->rows, sizeof(*k->row), key_order);
	k->bytes = 0;
	for (size_t i = 0; i < k->rows; i++)
		if (!kept || by_key(&k->row[kept - 1], &k->row[i])) {
			k->bytes += sizeof(*k->row) + k->row[i].len;
			k->row[kept++] = k->row[i];
		} else {
			free(k->row[i].frame);
		}
	k->rows = kept;
}

static int frame_order(const void *a, const void *b)
{
	const struct coll_kept_row *x = a, *y = b;
	int by = stream_order(x, y);
	int64_t m = live_row_seq(x->slot, x->rank), n = live_row_seq(y->slot, y->rank);

	return by ? by : (m > n) - (m < n);
}

static int apply(const struct coll_kept_row *k, struct live_run *run, struct live_reader *d,
		 const struct live_when *when)
{
	struct live_row r = { .slot = k->slot,
			      .rank = k->rank,
			      .age_s = (when->now_ns - k->heard_ns) / LIVE_SECOND_NS };

	live_row_name_stream(&r, k->stream);
	return live_row_apply_bytes(run, d, &r, k->frame, k->len, when);
}

size_t coll_kept_rows_make(struct coll_kept_rows *k, struct live_run *run, struct live_reader *d,
			   const struct live_when *when)
{
	int64_t price = run->nano_usd_per_hour;
	size_t bad = 0;

	thin(k);
	if (k->rows)
		qsort(k->row, k->rows, sizeof(*k->row), frame_order);
	live_run_fini(run);
	live_run_init(run);
	run->nano_usd_per_hour = price;
	for (size_t i = 0; i < k->rows; i++)
		bad += apply(&k->row[i], run, d, when) != 0;
	k->fresh = false;
	return bad;
}

void coll_kept_rows_fini(struct coll_kept_rows *k)
{
	for (size_t i = 0; i < k->rows; i++)
		free(k->row[i].frame);
	free(k->row);
	*k = (struct coll_kept_rows){ .row = NULL };
}
