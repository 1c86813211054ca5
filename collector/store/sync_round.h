/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams that are made durable together, by the worker (core/worker.h): many at a time, for each
 * round waits for the disk once or more. An owner has one round, and begins the next one when it is
 * over. All but the waiting is the loop's.
 */
#ifndef COLL_SYNC_ROUND_H
#define COLL_SYNC_ROUND_H

#include "core/worker.h"
#include "sync.h"

struct coll_sync_one {
	struct coll_sync sync;
	bool whole; /* with all that was written to the file system of its place */
};

struct coll_sync_round {
	struct coll_job job; /* first */
	/* The owner's to set. synced: as coll_sync_end has said, of each; it may close streams. */
	void (*synced)(struct coll_sync_round *round, struct coll_stream *s, int err);
	void (*over)(struct coll_sync_round *round); /* NULL: nobody is told */
	bool busy; /* on its way */
	struct coll_sync_one *one;
	size_t count, room;
};

/* The stream takes part. @whole: with all of its place. 0 or -ENOMEM. Not while it is busy. */
int coll_sync_round_add(struct coll_sync_round *round, const struct coll_sync_place *place,
			struct coll_stream *s, bool whole);

/* Begins, with those that were added. Without any it is over at once. */
void coll_sync_round_begin(struct coll_sync_round *round, struct coll_worker *w);

void coll_sync_round_fini(struct coll_sync_round *round);

#endif
