/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which track of a timeline an event goes on: made when it is first needed, and told to the writer
 * then. A record per track stays in memory; when a hostile trace wants more than VIEW_TRACKS_MAX,
 * the rest shares one track per process or GPU.
 */
#ifndef EXPORT_TRACKS_H
#define EXPORT_TRACKS_H

#include "export.h"
#include "lanes.h"

#define VIEW_TRACKS_MAX 65536u
#define VIEW_TRACK_NAME 512

enum view_track_what {
	VIEW_TRACK_OTHER,
	VIEW_TRACK_GPU,
	VIEW_TRACK_IDLE, /* of a GPU: why it was idle */
	VIEW_TRACK_STREAM, /* of a GPU */
	VIEW_TRACK_WAITS, /* of a stream: synchronisation records */
	VIEW_TRACK_PROCESS,
	VIEW_TRACK_THREAD,
	VIEW_TRACK_CALLS, /* of a thread: the thread's own track */
	VIEW_TRACK_RANGES, /* of a thread */
	VIEW_TRACK_LOADER, /* of a thread: waits for a batch */
	VIEW_TRACK_SAMPLES, /* of a thread of the process or of a loader worker */
	VIEW_TRACK_BATCHES, /* of the same: what it did for batches */
};

struct view_track_facts {
	enum view_track_what what;
	uint64_t uuid, parent;
	const char *name, *description; /* name: any bytes; description: NULL or valid UTF-8 */
	int64_t pid, tid;
	int32_t rank; /* among its siblings */
};

struct view_track;

struct view_tracks {
	struct view_export *x;
	void (*tell)(void *arg, const struct view_track_facts *t);
	void *arg;
	struct view_track *track;
	uint32_t tracks, room;
	struct ana_map of; /* by hash of the key */
	uint32_t last; /* the one used last */
	uint64_t next_uuid;
};

void view_tracks_init(struct view_tracks *t, struct view_export *x,
		      void (*tell)(void *arg, const struct view_track_facts *t), void *arg);
void view_tracks_fini(struct view_tracks *t);
uint64_t view_tracks_uuid(struct view_tracks *t); /* a fresh one */

/* Tells the GPUs, so that they come first and in order. 0 or -ENOMEM, as all below. */
int view_tracks_gpus(struct view_tracks *t);

/* The track for an operation or synchronisation record on a GPU. */
int view_track_stream(struct view_tracks *t, uint32_t gpu, size_t source,
		      const struct wire_event *e, uint64_t *uuid);
/* The track for a call or range of a thread; @what: CALLS, RANGES or LOADER. */
int view_track_thread(struct view_tracks *t, size_t source, const struct wire_event *e,
		      enum view_track_what what, uint64_t *uuid);
/* The track for a sample, or for a row of batches, of the process or a worker below it. */
int view_track_sample(struct view_tracks *t, size_t source, const struct wire_sample *w,
		      uint64_t *uuid);
int view_track_batch(struct view_tracks *t, size_t source, const struct wire_batch *b,
		     uint64_t *uuid);
/* The track for a piece of idle time; late ones go on a lane of their own. */
int view_track_idle(struct view_tracks *t, const struct ana_piece *p, uint64_t *uuid);

#endif
