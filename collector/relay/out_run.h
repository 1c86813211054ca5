/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run that is forwarded: its directory, the files in it that go to the centre, and how much of
 * each the centre has. The outbox (outbox.h) owns them; the cursor (cursor.h) writes them down. One
 * thread.
 */
#ifndef COLL_OUT_RUN_H
#define COLL_OUT_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include "centre.h"
#include "store/side.h"
#include "wire/frame.h"

#define COLL_OUT_UNKNOWN UINT64_MAX
#define COLL_CURSOR_FILE ".upstream"
#define COLL_CLOCK_PREFIX "clock-"

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
	uint64_t at; /* bytes that the present centre has acknowledged, ... */
	uint64_t extent; /* ... and how long its stream was then, at least; COLL_OUT_UNKNOWN */
	uint64_t unknown_since; /* the centre's start in which that came to be; 0: before */
	uint64_t sure; /* the centre's start in which it said that it still has that; 0: none */
	bool again; /* sent again from the beginning: frames that it says it has are left out */
	uint64_t size; /* as last seen; of a stream's file: what is durable */
	uint64_t tried; /* how far it was sent last, whatever came of it */
	uint64_t stuck; /* no whole frame begins at `at` while the size is this; 0: not so */
	unsigned int begun_again; /* how often the centre did not know the stream */
	bool bye; /* the last frame that was read of it says goodbye */
	uint64_t damaged_at; /* where the frame begins that came damaged to the centre last, ... */
	unsigned int damaged; /* ... so many times in a row */

	/* Of side files. */
	int64_t mtime_ns, sent_mtime_ns;
	uint64_t seen; /* the outbox's look at which it was found to have changed */
	uint64_t sent_size;
	char tag[COLL_SIDE_TAG_BYTES]; /* of what the centre has; "": nothing, as far as is known */
	unsigned int conflicts; /* answers in a row that it has another file than `tag` */
};

/* The centre could not take it: other runs go first until then, longer each time. */
struct coll_out_hold {
	int64_t until_ns; /* monotonic; 0: none */
	unsigned int times;
};

struct coll_out_run {
	struct coll_out_run *next;
	char *dir; /* path */
	char *name; /* run id: the directory's name without .gst */
	struct coll_out_file *files;
	char centre
		/* the store whose acknowledgements the files have, see cursor.h */
		[COLL_EPOCH_ID_BYTES];
	uint64_t start; /* of the centre, in which it was last asked about all of them */
	char *others; /* what is kept of other stores; NULL: nothing */
	/* what it has acknowledged was taken over from a centre that did not say */
	bool mute_before;
	bool changed; /* the cursor is not written yet */
	bool forwarded; /* the centre has all that is here, and nobody writes any more */
	int64_t mtime_ns; /* of its newest file */
	uint64_t bytes; /* of frames in it */
	int64_t changed_ns; /* monotonic: when something new was last seen */
	struct coll_out_hold frames, sides;
	uint64_t clocks; /* version of clock readings that stands here, see clock_offset.h */
};

/* What kind of file has that name, enum coll_out_kind; -1: none that is forwarded. */
int coll_out_kind_of(const char *name);

/* The run's file of that name, added if need be. NULL: not one to be forwarded, or no memory. */
struct coll_out_file *coll_out_file_named(struct coll_out_run *run, const char *name);
void coll_out_files_free(struct coll_out_run *run);

/* Bytes of @f that could be sent now; 0: none. Side files: 1 if it is to be sent. */
uint64_t coll_out_file_pending(const struct coll_out_file *f);

/* How long the centre's stream was when it acknowledged what is before f->at. */
void coll_out_file_extent(struct coll_out_file *f, uint64_t extent,
			  const struct coll_centre *centre);

/* The centre has acknowledged something of it. */
bool coll_out_file_is_claimed(const struct coll_out_file *f);

/*
 * Whether the centre was asked about the run; one of which it has acknowledged nothing needs no
 * question.
 */
bool coll_out_run_is_sure(struct coll_out_run *run, const struct coll_centre *centre);

/* The centre has the file up to @to, or as it was seen. */
void coll_out_file_sent(struct coll_out_run *run, struct coll_out_file *f, uint64_t to);

#endif
