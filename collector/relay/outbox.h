/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is to be forwarded, and how far that is done. The run directories themselves are the outbox:
 * nothing is copied, nothing encoded again. Of each run that came in here, its streams' files, spool
 * files beside them and small side files are forwarded, and RUN.gst/.upstream holds what the centre
 * has acknowledged of each (the cursor): replaced as a whole, synced, and never ahead of the truth.
 * It may be behind: then some frames go twice, and the centre drops them.
 *
 * A run directory without a cursor is left alone: it was recorded before there was an upstream (but
 * see unsent_runs.h). A cursor of another upstream begins anew.
 *
 * Bounded, on request: what the centre does not have may take `max` bytes. Beyond, the outbox is full:
 * intake then drops what is bulky (coll_outbox_drops), acknowledges it to its client all the same, so
 * that no job ever waits, and counts it; the numbers that are missing show in the run as lost frames.
 * And runs that are forwarded and over are removed, oldest first, while all that is known here takes
 * more than `max`; or all of them, with `remove`.
 *
 * The outbox owns runs and files; they live until it ends, or until the run is forgotten. One thread.
 */
#ifndef COLL_OUTBOX_H
#define COLL_OUTBOX_H

#include <stdbool.h>
#include <stdint.h>
#include "store/side.h"
#include "store/store.h"

#define COLL_CURSOR_FILE ".upstream"
#define COLL_CLOCK_PREFIX "clock-"
#define COLL_CURSOR_MAX (4u << 20)
#define COLL_OUTBOX_QUIET_S 60 /* a run that says nothing for so long may be over */
#define COLL_OUTBOX_GIVEN_UP_S 86400 /* so is one after so long that does not say that it is */

enum coll_out_kind {
	COLL_OUT_FRAMES, /* a stream's file: up to what is durable */
	COLL_OUT_SPOOL,
	COLL_OUT_SIDE,
};

struct coll_out_file {
	struct coll_out_file *next;
	enum coll_out_kind kind;
	char *name;
	uint8_t stream[WIRE_STREAM_ID_BYTES]; /* frames and spools */
	uint64_t at; /* acknowledged bytes */
	uint64_t size; /* as last seen; of a stream's file: what is durable */
	uint64_t stuck; /* behind at nothing whole begins, as long as the size is this */
	unsigned int begun_again; /* how often the centre did not know the stream */
	bool bye; /* the last frame that was read of it says goodbye */
	uint64_t damaged_at; /* where the frame begins that came damaged to the centre last, ... */
	unsigned int damaged; /* ... so many times in a row */

	/* Of side files. */
	int64_t mtime_ns, sent_mtime_ns;
	uint64_t sent_size;
	char tag[COLL_SIDE_TAG_BYTES]; /* of what the centre has; "": nothing, as far as is known */
	unsigned int told; /* so often in a row it had another than that */
};

/* The centre could not take it: others go first until then, longer each time. */
struct coll_out_hold {
	int64_t until_ns; /* monotonic; 0: none */
	unsigned int times;
};

struct coll_out_run {
	struct coll_out_run *next;
	char *dir; /* path */
	char *name; /* run id: the directory's name without .gst */
	struct coll_out_file *files;
	bool changed; /* the cursor is not written yet */
	bool forwarded; /* the centre has all that is here, and nobody writes any more */
	int64_t mtime_ns; /* of its newest file */
	uint64_t bytes; /* of frames in it */
	int64_t changed_ns; /* monotonic: when something new was last seen */
	struct coll_out_hold frames, sides;
	uint64_t clocks; /* version of clock readings that stands here, see clock_offset.h */
};

struct coll_outbox {
	struct coll_store *store;
	const char *to; /* URL of the upstream */
	struct coll_out_run *runs;
	uint64_t pending; /* bytes of frames that the centre does not have */
	size_t pending_files; /* side files to be sent */
	uint64_t stored; /* bytes of frames in all runs */
	uint64_t max; /* 0: no bound */
	bool remove; /* runs that are forwarded go */
	bool full;
};

/*
 * Takes up the runs below the store's base that have a cursor; o->max and o->remove are set before.
 * 0 or -errno.
 */
int coll_outbox_init(struct coll_outbox *o, struct coll_store *store, const char *to);
void coll_outbox_fini(struct coll_outbox *o);

/* A stream was opened in @dir: its run is to be forwarded from now on. */
void coll_outbox_note(struct coll_outbox *o, const char *dir);

/* Looks what there is now: new files, sizes, side files that changed. About once a second. */
void coll_outbox_look(struct coll_outbox *o, int64_t now_ns);

/* Puts who came first last, runs and the files of each, so that all get their turn. */
void coll_outbox_turn(struct coll_outbox *o);

/* Writes cursors that moved. */
void coll_outbox_save(struct coll_outbox *o);

/* Bytes of @f that could be sent now; 0: none. Side files: 1 if it is to be sent. */
uint64_t coll_out_file_pending(const struct coll_out_file *f);

/* The centre has the file up to @to, or as it was seen. */
void coll_out_file_sent(struct coll_out_run *run, struct coll_out_file *f, uint64_t to);

/* A full outbox does not take frames of @type: all but Hello, Strings, Loss and Bye. */
bool coll_outbox_drops(const struct coll_outbox *o, uint16_t type);

/*
 * Removes and forgets runs that are forwarded, as far as that was asked for. How many went. None goes
 * unseen: what was written to it since it was forwarded is forwarded first.
 */
size_t coll_outbox_retire(struct coll_outbox *o);

/* Forgets a run; its directory stays. */
void coll_outbox_forget(struct coll_outbox *o, struct coll_out_run *run);

#endif
