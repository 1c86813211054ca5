/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of streams that were closed, so that a client which loses its connection and comes
 * back (as they all do while a disk is full) does not cost a reading of its whole file. Only for
 * files that are exactly as they were left. Bounded: the oldest is forgotten. One thread.
 */
#ifndef COLL_KNOWN_H
#define COLL_KNOWN_H

#include <stdbool.h>

struct coll_known;
struct coll_stream;

struct coll_known *coll_known_new(void); /* NULL: no memory */
void coll_known_free(struct coll_known *k);

/* Remembers a stream whose file is open and all synced. */
void coll_known_put(struct coll_known *k, const struct coll_stream *s);

/* True: the open file is as it was left, and the stream is filled as it was. */
bool coll_known_take(struct coll_known *k, struct coll_stream *s);

#endif
