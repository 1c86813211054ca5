/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The body of a request of frames, whole in memory: which streams are in it, and their frames where
 * they lie. Every byte is hostile. A refused frame ends what is taken of it; the frames before it
 * count. One thread at a time.
 */
#ifndef COLL_BODY_H
#define COLL_BODY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "ingest/feed.h"
#include "store/run_name.h"
#include "wire/buf.h"
#include "wire/found.h"
#include "wire/keyed_hash.h"

#define COLL_BODY_STREAMS 4096 /* of one body; with more it is to be sent in halves */

struct coll_body_stream {
	uint8_t id[WIRE_STREAM_ID_BYTES];
	char hex[COLL_HEX_BYTES];
	struct wire_entry *entry; /* offsets count from the body's beginning */
	size_t entries, room;
	bool begins; /* its Hello is here, which says ... */
	char run[COLL_RUN_BYTES]; /* ... of which run it is; "": not known yet */
};

struct coll_body {
	struct wire_buf bytes; /* filled by who owns it, before coll_body_read */
	struct coll_body_stream *stream; /* in the order in which they come */
	size_t streams, room;
	uint32_t *at; /* by id: number of a stream and one, 0: free */
	size_t slots; /* a power of two, or 0 */
	struct wire_secret secret;
	struct coll_refused refused;
};

/* Finds the frames, once. 0; -E2BIG: too many streams; -ENOMEM. A refused frame is no error. */
int coll_body_read(struct coll_body *b);

/*
 * Only frames before byte @at count from now on. Where none of a stream is left it has no entries.
 */
void coll_body_cut(struct coll_body *b, uint64_t at);

void coll_body_fini(struct coll_body *b);

#endif
