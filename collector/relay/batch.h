/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames of several files one after another in memory: the body of one request. They are copied as
 * they lie in the files, each after its checksums were verified; what is no frame is skipped and
 * counted. One thread.
 */
#ifndef COLL_BATCH_H
#define COLL_BATCH_H

#include "out_run.h"
#include "wire/buf.h"

#define COLL_BATCH_BYTES (2u << 20) /* or one frame, if that is longer */
#define COLL_BATCH_LEAST (64u << 10)
#define COLL_BATCH_PARTS 256

struct coll_batch_part {
	struct coll_out_run *run;
	struct coll_out_file *file;
	uint64_t from; /* in the file: where the part begins, damage before it included, ... */
	uint64_t to; /* ... and ends; before it, in the body as in the file, */
	size_t body_from, body_to; /* stands this piece of the body */
};

struct coll_batch {
	struct wire_buf body;
	struct coll_batch_part part[COLL_BATCH_PARTS];
	size_t parts;
	size_t usual; /* bytes of one; 0: COLL_BATCH_BYTES */
	size_t most; /* so many at most go through; 0: any */
	uint64_t damaged; /* bytes passed over */
};

void coll_batch_clear(struct coll_batch *b);
void coll_batch_fini(struct coll_batch *b);
bool coll_batch_full(const struct coll_batch *b);

/*
 * Adds what there is room for of @f's pending frames. 0, also where nothing whole is there (then
 * f->stuck is set); -errno of reading or no memory.
 */
int coll_batch_add(struct coll_batch *b, struct coll_out_run *run, struct coll_out_file *f);

/* Something on the way takes no body as long as this one. False: it is a single frame. */
bool coll_batch_shrink(struct coll_batch *b);

/* Whether a frame of the body begins at @at, or the body ends there. */
bool coll_batch_is_between(const struct coll_batch *b, uint64_t at);

/* What a centre says of a stream that was in the body. */
struct coll_ack {
	uint64_t top; /* it has all numbers up to this one */
	bool extents; /* it says how long the stream is there: */
	uint64_t had, has; /* before the body came, and now */
};

/* Of the stream; coll_batch_is_acked was true. False: it says nothing of it. */
bool coll_batch_ack_of(const uint8_t *answer, size_t len, const uint8_t *stream,
		       struct coll_ack *ack);

/*
 * Whether @answer is what a collector says that has all of the body: an Ack frame per stream, in
 * the order in which they come. What a stranger answers is not.
 */
bool coll_batch_is_acked(const struct coll_batch *b, const uint8_t *answer, size_t len);

/*
 * The centre has the body's first @stored bytes, all frames among them: moves the files' cursors.
 * *next: the file whose frame comes next, and where it is in the file; NULL: there is none.
 */
void coll_batch_stored(struct coll_batch *b, uint64_t stored, struct coll_batch_part **next,
		       uint64_t *at);

#endif
