/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of a run that a store told of (live/row.h): of each key the one that holds. What is said
 * of the run is made of them anew when others came, so that it does not matter in which order they
 * did: who has the same rows says the same. One thread.
 */
#ifndef COLL_KEPT_ROWS_H
#define COLL_KEPT_ROWS_H

#include "live/row.h"

struct coll_kept_row {
	struct live_row row; /* first; its digits are ours */
	int64_t heard_ns; /* monotonic: when the store got it */
};

struct coll_kept_rows { /* zero-initialise it; coll_kept_rows_fini */
	struct coll_kept_row *row;
	size_t rows, room;
	bool fresh; /* some came since coll_kept_rows_make */
};

/* One more, which is copied. 0 or -ENOMEM. */
int coll_kept_rows_add(struct coll_kept_rows *k, const struct live_row *r, int64_t now_ns);

/*
 * The run as they tell it, in place of what was there: its price stays. What cannot be read is left
 * out; how many were.
 */
size_t coll_kept_rows_make(struct coll_kept_rows *k, struct live_run *run, struct live_reader *d,
			   const struct live_when *when);

void coll_kept_rows_fini(struct coll_kept_rows *k);

#endif
