/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is to be forwarded, and how far that is done. The run directories themselves are the outbox:
 * nothing is copied, nothing encoded again. Of each run that came in here, its streams' files,
 * spool files beside them and small side files are forwarded, and RUN.gst/.upstream holds what the
 * centre has acknowledged of each (the cursor): replaced as a whole, synced, and never ahead of the
 * truth. It may be behind: then some frames go twice, and the centre drops them.
 *
 * A run directory without a cursor is left alone: it was recorded before there was an upstream (but
 * see unsent_runs.h). A cursor of another upstream begins anew.
 *
 * Bounded, on request: what the centre does not have may take `max` bytes. Beyond, the outbox is
 * full: intake then drops what is bulky (coll_outbox_drops), acknowledges it to its client all the
 * same, so that no job ever waits, and counts it; the numbers that are missing show in the run as
 * lost frames. And runs that are forwarded and over are removed, oldest first, while all that is
 * known here takes more than `max`; or all of them, with `remove`.
 *
 * The outbox owns runs and files; they live until it ends, or until the run is forgotten. One
 * thread.
 */
#ifndef COLL_OUTBOX_H
#define COLL_OUTBOX_H

#include <stdbool.h>
#include <stdint.h>
#include "centre.h"
#include "out_run.h"
#include "store/store.h"

#define COLL_OUTBOX_QUIET_S 60 /* a run that says nothing for so long may be over */
#define COLL_OUTBOX_GIVEN_UP_S 86400 /* so is one after so long that does not say that it is */

struct coll_outbox {
	struct coll_store *store;
	const char *to; /* URL of the upstream */
	struct coll_centre centre; /* the store that it has, as it said last */
	struct coll_out_run *runs;
	uint64_t longest; /* bytes of the file of which the centre lacks most */
	uint64_t pending; /* bytes of frames that the centre does not have */
	size_t pending_files; /* side files to be sent */
	size_t unchecked; /* runs that the centre is to be asked about */
	uint64_t stored; /* bytes of frames in all runs */
	uint64_t max; /* 0: no bound */
	uint64_t coming; /* bytes that were not durable at the last look, or came since */
	bool remove; /* runs that are forwarded go */
	uint64_t looks; /* how often coll_outbox_scan looked */
	bool full;
};

/*
 * Takes up the runs below the store's base that have a cursor; o->max and o->remove are set before.
 * 0 or -errno.
 */
int coll_outbox_init(struct coll_outbox *o, struct coll_store *store, const char *to);
void coll_outbox_fini(struct coll_outbox *o);

/* A stream was opened in @dir: its run is to be forwarded from now on. */
void coll_outbox_follow(struct coll_outbox *o, const char *dir);

/* Looks what there is now: new files, sizes, side files that changed. About once a second. */
void coll_outbox_scan(struct coll_outbox *o, int64_t now_ns);

/*
 * The centre may lack frames of the run that were here when @f, a side file, was last seen to have
 * changed.
 */
bool coll_outbox_frames_left(const struct coll_outbox *o, const struct coll_out_run *run,
			     const struct coll_out_file *f);

/* Puts who came first last, runs and the files of each, so that all get their turn. */
void coll_outbox_rotate(struct coll_outbox *o);

/* Writes cursors that moved. */
void coll_outbox_save(struct coll_outbox *o);

/*
 * Whether a frame of @type and so many bytes is not taken, for it would not fit: never Hello,
 * Strings, Loss and Bye. One that is taken is counted, so that what comes between two looks is
 * bounded, too.
 */
bool coll_outbox_drops(struct coll_outbox *o, uint16_t type, uint64_t bytes);

/*
 * Removes and forgets runs that are forwarded, as far as that was asked for. How many went. None
 * goes unseen: what was written to it since it was forwarded is forwarded first.
 */
size_t coll_outbox_retire(struct coll_outbox *o);

/* Forgets a run; its directory stays. */
void coll_outbox_forget(struct coll_outbox *o, struct coll_out_run *run);

#endif
