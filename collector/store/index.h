/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `<stream>.idx`: where the blocks of a stream lie and what time they span, so that a reader can
 * go to a time without reading every header. docs/FORMAT.md gives its bytes. It can be made again
 * from the stream at any time, so nothing waits for it and nothing fails with it: on trouble the
 * file is removed. It names only frames that are synced. One thread.
 */
#ifndef COLL_INDEX_H
#define COLL_INDEX_H

#include <stdbool.h>
#include "wire/buf.h"
#include "wire/frame.h"

#define COLL_INDEX_MAGIC "GSTI"
#define COLL_INDEX_VERSION 1
#define COLL_INDEX_HEADER_BYTES 32
#define COLL_INDEX_RECORD_BYTES 48

struct coll_index {
	int fd; /* -1: none */
	char *path;
	struct wire_buf waiting; /* records of frames that are not synced yet */
};

/* Begins a new, empty index at @path, taking the place of an old one. Always usable after. */
void coll_index_open(struct coll_index *x, const char *path,
		     const uint8_t stream[WIRE_STREAM_ID_BYTES]);

/* Goes on with the index that coll_index_close has left. Always usable after. */
void coll_index_resume(struct coll_index *x, const char *path);

/*
 * Goes on with its first @bytes, and forgets what follows them; with 0 there is none. False: it is
 * shorter than that, or not there.
 */
bool coll_index_resume_at(struct coll_index *x, const char *path, uint64_t bytes);

/* Remembers a frame if it is a Block or Ranges frame. @head: its head_len bytes, checked. */
void coll_index_add(struct coll_index *x, const struct wire_frame *f, const uint8_t *head,
		    uint64_t offset);

/* What was added is durable now: write it, all or the first @bytes of what waits. */
void coll_index_flush(struct coll_index *x);
void coll_index_flush_some(struct coll_index *x, size_t bytes);

/* Forgets what was added since the last flush, down to @keep waiting bytes. */
void coll_index_forget(struct coll_index *x, size_t keep);

void coll_index_close(struct coll_index *x);

#endif
