/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of streams that were closed, so that a client that loses its connection and comes
 * back (as they all do while a disk is full) does not cost reading its whole file again. Only for
 * files that are exactly as they were left. Bounded: the oldest is forgotten. One thread.
 */
#ifndef COLL_STREAM_CACHE_H
#define COLL_STREAM_CACHE_H

#include <stdbool.h>

struct coll_stream_cache;
struct coll_stream;

struct coll_stream_cache *coll_stream_cache_new(void); /* NULL: no memory */
void coll_stream_cache_free(struct coll_stream_cache *k);

/* Remembers a stream whose file is open and all synced. */
void coll_stream_cache_add(struct coll_stream_cache *k, const struct coll_stream *s);

/* True: the open file is as it was left, and the stream is filled as it was. */
bool coll_stream_cache_restore(struct coll_stream_cache *k, struct coll_stream *s);

#endif
