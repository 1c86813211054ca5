/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of a run that a store told of (live/row.h): of each key the one that holds. What is said
 * of the run is made of them anew when others came, so that it does not matter in which order they
 * did: who has the same rows says the same. A gateway has those of all that goes on: a row takes 64
 * bytes and its frame. One thread.
 */
#ifndef COLL_KEPT_ROWS_H
#define COLL_KEPT_ROWS_H

#include "live/row.h"

struct coll_kept_row {
	uint8_t stream[WIRE_STREAM_ID_BYTES];
	uint32_t slot, len;
	int64_t rank;
	int64_t heard_ns; /* monotonic: when the store got it */
	uint8_t *frame; /* ours */
};

struct coll_kept_rows { /* zero-initialise it; coll_kept_rows_fini */
	struct coll_kept_row *row;
	size_t rows, room;
	size_t bytes; /* of them, with their frames */
	bool fresh; /* some came since coll_kept_rows_make */
};

/* One more, which is copied. 0, -EBADMSG or -ENOMEM. */
int coll_kept_rows_add(struct coll_kept_rows *k, const struct live_row *r, int64_t now_ns);

/*
 * The run as they tell it, in place of what was there: its price stays. What cannot be read is left
 * out; how many were.
 */
size_t coll_kept_rows_make(struct coll_kept_rows *k, struct live_run *run, struct live_reader *d,
			   const struct live_when *when);

void coll_kept_rows_fini(struct coll_kept_rows *k);

#endif
