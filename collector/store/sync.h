/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream made durable, in three steps, so that what waits for the disk (work) can be done in
 * another thread while the stream is appended to. begin and end are the store's thread's. From the
 * one to the other the stream stays open: nobody closes it (stream->syncing).
 *
 * What end makes durable is what begin found: bytes, numbers, records of the index, what `.known`
 * tells. Whatever was appended since waits for the next one.
 */
#ifndef COLL_SYNC_H
#define COLL_SYNC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "core/counters.h"
#include "stream.h"

/* Where a store is; all is the store's. */
struct coll_sync_place {
	const char *base; /* the folder of runs' */
	int fd; /* of it */
	dev_t dev; /* its file system */
	struct coll_counters *count;
};

struct coll_sync {
	const struct coll_sync_place *place;
	struct coll_stream *stream;
	int fd; /* the stream's */
	uint64_t from; /* so much of it is durable already */
	bool entry_new; /* and then its name is to be durable, too; after: it is not */
	int err; /* after */
	bool removed; /* after: somebody has removed the file, what is durable has no name */
	int64_t took_ns; /* after */
};

void coll_sync_begin(struct coll_sync *y, const struct coll_sync_place *place,
		     struct coll_stream *s);

/* Any thread: starts writing out, without waiting for that, what work will wait for. */
void coll_sync_push(const struct coll_sync *y);

/*
 * Any thread. @whole: all that was written to the store's file system has been made durable since
 * begin. Then the file itself is asked for errors alone: before Linux 5.8 syncfs tells of none, and
 * of each only once.
 */
void coll_sync_work(struct coll_sync *y, bool whole);

/*
 * Moves synced and acked. On an error the file is taken back to what was durable before, and the
 * stream must be closed: what the disk holds is not known any more. A file that somebody removed is
 * written anew here and now, all of it.
 */
int coll_sync_end(struct coll_sync *y);

#endif
