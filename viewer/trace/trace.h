/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run on disk, opened: which streams it has, what they say of themselves, and where their
 * blocks lie. Merges <stream>.gst and <stream>.<n>.spool by sequence number, drops duplicates,
 * notes holes and damage. No event and no row of evidence is decoded until asked for. Every byte
 * read is hostile.
 */
#ifndef VIEW_TRACE_H
#define VIEW_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "counts.h"
#include "job/find.h"
#include "wire/block.h"
#include "wire/clock.h"
#include "wire/evidence.h"
#include "wire/reader.h"
#include "wire/session.pb-c.h"
#include "wire/strtab.h"

struct view_block { /* one Block, Ranges, Samples or Workers frame */
	uint32_t file;
	struct wire_entry entry;
	struct wire_block_head *head; /* trimmed copy, owned by the stream */
};

struct view_hole { /* a run of missing sequence numbers, or a stream's end without Bye */
	uint64_t first_seq, last_seq; /* last 0: open end */
	int64_t start_ns, end_ns; /* from what was complete before, to what is known after */
};

struct view_meter { /* how busy NVML said a device was, whoever worked on it */
	uint32_t ordinal;
	bool gpm; /* else the driver's samples */
	int64_t start_ns, end_ns;
	/* hundredths of a percent of that time, 10000 at most */
	uint32_t busy;
	uint32_t sm, tensor, dram; /* ... where they are known */
	bool has_sm, has_tensor, has_dram;
};

/* What pulses say of windows of full recording, each time it changes (wire/windows.h). */
struct view_full_window {
	uint64_t seed;
	int64_t since_ns, begin_ns;
	int64_t told_ns; /* the pulse's time */
	uint32_t number; /* begun so far; 0: none yet */
	bool stepped; /* the governor has kernels on, whatever was drawn; else ... */
	bool full; /* ... they are recorded though it gave them up */
};

struct view_stream {
	uint8_t id[WIRE_STREAM_ID_BYTES];
	Wire__Hello *hello; /* the last one; NULL: none survived */
	struct wire_strtab *strings;
	struct view_block *block; /* Block and Ranges: all kinds, in order of sequence */
	size_t blocks;
	struct view_block *evidence; /* Samples and Workers, by head->kind, in order of sequence */
	size_t evidences;
	Wire__LossSpan **loss; /* borrowed from loss_msg */
	size_t losses;
	struct wire_clock_point *clock;
	size_t clocks;
	Wire__Pulse *last_pulse; /* NULL: none */
	int64_t complete_ns; /* greatest 'complete up to', INT64_MIN: none */
	struct view_meter *meter; /* in order of sequence */
	size_t meters;
	struct view_full_window *window; /* in order of sequence */
	size_t windows;
	Wire__Bye *bye; /* NULL: the stream was cut */
	struct view_hole *hole;
	size_t holes;
	Wire__Facts **facts;
	size_t fact_count;
	uint64_t frames, bytes;
	uint32_t part; /* of the trace: which run directory it lies in */
	void *priv;
};

#define VIEW_SEVERAL "several" /* in place of a text: not the same in all parts */

struct view_run_part { /* one of the run directories that a trace is made of */
	const char *path;
	const char *id; /* of its run.json; NULL: not told */
	int64_t start_unix_ns, wall_ns; /* of its run.json; 0: not told */
	int first_status; /* of the wrapper whose run.json it is; 0: not told */
	bool over; /* a wrapper of it has said how it ended */
	bool has_exit_status; /* run_end.h */
	int exit_status;
};

struct view_run_info { /* run.json and what else the folder holds; may be all empty */
	char *id;
	char **command;
	size_t commands;
	int64_t start_unix_ns, wall_ns;
	bool over; /* as those of the part that ended last */
	bool has_exit_status;
	int exit_status;
	char **label_key, **label_value; /* VIEW_SEVERAL: not the same in all runs of the job */
	size_t labels;
	bool labelled; /* some run.json has said which there are */
	const char *user; /* NULL: not known; as the job's texts owned by the trace */
	struct view_job_identity job;
	struct view_exit {
		char *host;
		int64_t pid, start_ns, end_ns;
		uint32_t part; /* of the trace: whose run directory tells it */
		bool has_status; /* false: only that it ended is known */
		int status;
	} * exit;
	size_t exits; /* process ends as the wrapper saw them */
	struct view_unit unit[VIEW_UNITS_MAX]; /* as `gpustarve run --unit` was told */
	size_t units;
	struct view_counts counts; /* what the program counted */
};

struct view_trace {
	char *path;
	struct view_run_info run;
	struct view_stream *stream;
	size_t streams;
	struct view_run_part *part; /* one, unless runs of a job were joined */
	size_t parts;
	bool joined; /* it is a job's */
	const struct view_alloc *alloc; /* what the job was given, by node and restart */
	size_t allocs;
	uint64_t damage_bytes, damage_spans;
	char **note; /* what was damaged or missing: file, byte, consequence */
	size_t notes;
	/*
	 * For who shows progress: called by whoever reads the whole of it, once for each block,
	 * with its bytes; from any thread. NULL: nobody looks.
	 */
	void (*on_read)(void *arg, uint64_t bytes);
	void *on_read_arg;
	void *priv;
};

/* What all blocks take in the files: the sum of what on_read will be told. */
uint64_t view_trace_bytes(const struct view_trace *t);

static inline void view_trace_was_read(const struct view_trace *t, const struct view_block *b)
{
	if (t->on_read)
		t->on_read(t->on_read_arg, wire_frame_bytes(&b->entry.frame));
}

/*
 * Opens a run directory (or a single .gst/.spool file). 0; -ENOENT, -ENOTDIR, -EISDIR..., -ENODATA
 * when no frame of ours is in it, -EBADMSG when there is nothing but damage. *why gets one clear
 * clause for the user (static or owned by the trace), never NULL on error.
 */
int view_trace_open(struct view_trace **t, const char *path, const char **why);

/*
 * Opens all runs of a job as one trace, with what it was given; none of them needs to be there
 * if that is known. As above; nothing of @job is needed afterwards. view_trace_open does the same
 * for the folder of a job.
 */
int view_trace_open_job(struct view_trace **t, const struct view_job *job, const char **why);
void view_trace_close(struct view_trace *t);

/*
 * Why some of it could not be read, where it lies in an object store; NULL: it could, or lies on
 * disk. To be asked once all is read: then nothing of what was found is to be told.
 */
const char *view_trace_trouble(const struct view_trace *t);

/*
 * When the process of this stream ended, as far as others know: the wrapper, the collector, or the
 * stream that the same process began after it (execv). INT64_MIN: nobody does.
 */
int64_t view_trace_end(const struct view_trace *t, const struct view_stream *s);

/* Everything of the run or job has ended, as its wrapper or its scheduler saw. */
bool view_trace_over(const struct view_trace *t);

/*
 * Decodes one block, stably sorted by start, operations that start together by stream id as a
 * signed number. *ev grows as needed (free() it); thread-safe with one wire_scratch per thread.
 */
int view_trace_block(struct view_trace *t, const struct view_block *b, struct wire_scratch *scratch,
		     struct wire_event **ev, size_t *room, size_t *count);

/*
 * The same of the stream's evidence: rows of a block of kind WIRE_KIND_SAMPLE, stably sorted by
 * t_ns, or of WIRE_KIND_BATCH, by start_ns. At most WIRE_BLOCK_EVENTS_MAX rows a block; blocks may
 * overlap in time. -EINVAL: a block of the other kind. String ids are those of s->strings; an enum
 * may have values of later versions.
 */
int view_trace_samples(struct view_trace *t, const struct view_block *b,
		       struct wire_scratch *scratch, struct wire_sample **rows, size_t *room,
		       size_t *count);
int view_trace_batches(struct view_trace *t, const struct view_block *b,
		       struct wire_scratch *scratch, struct wire_batch **rows, size_t *room,
		       size_t *count);

#endif
