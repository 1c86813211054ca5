/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events of one kind of one stream, in order: by start; operations that start together by
 * stream id, then by record. Blocks overlap in time, so several may be open; a block is opened
 * only when its first event is due. One thread at a time.
 */
#ifndef ANALYSIS_EVENT_FEED_H
#define ANALYSIS_EVENT_FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "trace/trace.h"

struct ana_feed_block;

/* 96 MB, a usual block for each of 96 threads. */
#define ANA_FEED_EVENTS ((size_t)3 << 19)

/* Events of blocks that are open besides the first of each feed; of all feeds that share it. */
struct ana_feed_room {
	size_t held, most;
};

struct ana_feed {
	struct view_trace *trace;
	struct wire_scratch *scratch; /* borrowed */
	const struct view_block **due; /* by time, then sequence */
	size_t dues, next;
	struct ana_feed_block **open; /* a heap by next event */
	size_t opens, open_room;
	struct ana_feed_room own, *room; /* room: borrowed; NULL: its own */
	struct ana_feed_block *spare;
	const struct wire_event *at, *stop; /* events that may be taken before looking again */
	uint64_t bad; /* events left out: stamps beyond what the axis can hold */
	uint64_t unreadable; /* blocks that did not decode */
	int err; /* first failure: memory */
	bool watched; /* the trace's on_read is told of each block */
};

int ana_feed_init(struct ana_feed *f, struct view_trace *t, const struct view_stream *s,
		  uint8_t kind, struct wire_scratch *scratch); /* 0 or -ENOMEM */
void ana_feed_fini(struct ana_feed *f);

struct ana_archive; /* archive.h */
/* Where it stands. Read into one that has begun, of the same stream: its blocks are opened anew. */
void ana_feed_archive(struct ana_feed *f, struct ana_archive *a);

const struct wire_event *ana_feed_more(struct ana_feed *f);

/* The next event, NULL at the end or after an error. */
static inline const struct wire_event *ana_feed_peek(struct ana_feed *f)
{
	return f->at < f->stop ? f->at : ana_feed_more(f);
}

static inline void ana_feed_pop(struct ana_feed *f)
{
	f->at++;
}

/* The order of operations that start together. */
static inline bool ana_op_before(const struct wire_event *a, const struct wire_event *b)
{
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns;
	return (int32_t)a->stream < (int32_t)b->stream;
}

#endif
