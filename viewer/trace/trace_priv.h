/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of trace/ share. Private to them.
 */
#ifndef VIEW_TRACE_PRIV_H
#define VIEW_TRACE_PRIV_H

#include "trace.h"
#include "base/arena.h"
#include "remote.h"

struct trace_frame { /* a frame as the scan found it */
	struct wire_entry entry;
	uint32_t file;
	struct wire_block_head *head; /* Block, Ranges, Samples, Workers only; of the arena */
};

struct trace_file {
	char *name; /* within the run directory, for notes */
	uint32_t part;
	struct wire_file *file;
};

struct trace_priv {
	struct trace_file *file;
	size_t files, file_room;
	struct trace_frame *frame; /* gone once the streams are built */
	size_t frames, frame_room;
	size_t note_room;
	uint64_t bytes; /* of all files */
	struct base_arena arena;
	struct view_remote *remote; /* NULL: it lies on disk */
};

struct trace_mark { /* what a pulse says, for holes */
	uint64_t seq;
	int64_t t_ns, complete_ns;
};

struct trace_stream { /* view_stream.priv */
	struct trace_mark *mark;
	size_t marks;
	Wire__Loss **loss_msg;
	size_t loss_msgs;
	Wire__Clock **clock_msg;
	size_t clock_msgs;
	uint64_t unreadable; /* frames whose body could not be read */
	uint64_t missing; /* sequence numbers in holes that end */
};

/* Grows *p, which holds @n elements of @each bytes, so that one more fits. 0 or -ENOMEM. */
int view_grow(void *p, size_t *room, size_t n, size_t each);

/* Adds a line to the trace's notes; without memory the line is lost. */
void view_trace_note(struct view_trace *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* part_prices.c: notes which prices its parts were given, where these are several. */
void view_trace_note_prices(struct view_trace *t);

/* trace_scan.c: adds a part's frames to priv->frame; 0 or negative errno. */
int view_trace_scan(struct view_trace *t, uint32_t part, const char *path, const char **why);
/* The same of the segments of a run in an object store. */
int view_trace_scan_remote(struct view_trace *t, uint32_t part, struct view_remote *r,
			   const char **why);
/* Whether all parts together hold any frame: 0, -ENODATA or -EBADMSG. */
int view_trace_scanned(const struct view_trace *t, const char **why);

/*
 * trace_stream.c: builds the stream out of its frames, which are in order of sequence and without
 * duplicates. 0 or -ENOMEM; what cannot be read is noted.
 */
int view_stream_build(struct view_trace *t, struct view_stream *s, const struct trace_frame *frame,
		      size_t n, struct wire_scratch *scratch);
void view_stream_fini(struct view_stream *s);

/* trace_hole.c: fills s->hole. 0 or -ENOMEM. */
int view_stream_holes(struct view_stream *s, const struct trace_frame *frame, size_t n);
/* Ends the open hole of a stream without Bye, once run.json is known. */
void view_stream_close_hole(const struct view_trace *t, struct view_stream *s);

/* trace_info.c: reads run.json and exit-*.json of a part; what is wrong is noted. 0 or -ENOMEM. */
int view_trace_info(struct view_trace *t, struct view_run_part *part);
/* Of a job, once all parts are read: what holds for all of them. */
void view_trace_sum_parts(struct view_trace *t);

/* trace/clocks.c: notes how far apart the nodes' clocks were, where forwarding collectors tell. */
void view_trace_clocks(struct view_trace *t, const char *dir);

#endif
