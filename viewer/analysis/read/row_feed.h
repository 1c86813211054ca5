/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of evidence of one stream, samples or batches, in order of time (a batch: of its start);
 * of equals, in the order written. Frames overlap in time, so several may be open; one is opened
 * when its first row is due. One thread at a time.
 */
#ifndef ANALYSIS_ROW_FEED_H
#define ANALYSIS_ROW_FEED_H

#include <stddef.h>
#include <stdint.h>
#include "trace/trace.h"

struct ana_row_feed_block;

struct ana_row_feed {
	struct view_trace *trace;
	struct wire_scratch *scratch; /* borrowed */
	uint8_t kind;
	const struct view_block **due; /* by time, then sequence */
	size_t dues, next;
	struct ana_row_feed_block **open; /* a heap by next row */
	size_t opens, open_room;
	size_t held; /* rows of the open frames */
	uint64_t bad; /* rows left out: stamps beyond what the axis can hold */
	uint64_t unreadable; /* frames that did not decode */
	int err; /* first failure: memory */
};

/* @kind: WIRE_KIND_SAMPLE or WIRE_KIND_BATCH. 0 or -ENOMEM. */
int ana_row_feed_init(struct ana_row_feed *r, struct view_trace *t, const struct view_stream *s,
		      uint8_t kind, struct wire_scratch *scratch);
void ana_row_feed_fini(struct ana_row_feed *r);

struct ana_archive; /* archive.h */
/* Where it stands. Read into one that has begun, of the same stream: its frames are opened anew. */
void ana_row_feed_archive(struct ana_row_feed *r, struct ana_archive *a);

/*
 * The next row if its time is at most @upto, and goes past it; NULL: there is none, or an error.
 * Valid until the next call.
 */
const struct wire_sample *ana_row_feed_sample(struct ana_row_feed *r, int64_t upto);
const struct wire_batch *ana_row_feed_batch(struct ana_row_feed *r, int64_t upto);
/* Until then there is no row that was not given out, after there was none up to some time. */
int64_t ana_row_feed_next(const struct ana_row_feed *r);

#endif
