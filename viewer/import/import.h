/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces of other tools become runs of ours: Kineto/Chrome JSON and nsys SQLite exports, plain or
 * gzip, told apart by content. One wire stream per (file, process); records whose process the
 * file does not tell go to its only process that has API records with a correlation id, else to
 * one more stream that says so (Import.process_unknown).
 *
 * In the streams: Hello.level and Hello.clock are "import"; Import.window and Import.rows are of
 * the file and the same in all its streams, Import.bad_ops is of the stream. A bad op (it ends
 * before it starts, or has no end) is no event but a LossSpan of reason BAD_STAMP with device,
 * stream, context and correlation, start_ns = end_ns = its start. Sync events name their device.
 * A copy is asynchronous unless the call that made it is known and is not.
 * Events of one kind are in order of start; equal starts keep the file's order. Between streams
 * that order is lost: operations of two processes that begin at the same nanosecond on streams of
 * the same number.
 */
#ifndef VIEW_IMPORT_H
#define VIEW_IMPORT_H

#include <signal.h>
#include <stdint.h>
#include "input.h"
#include "records.h"

struct view_import_stats {
	uint64_t files, streams, ops, api, ranges, rows, skipped, bad_ops, bytes;
	uint32_t devices;
};

struct view_import_options {
	/* Called now and then; @done is 0 to 1, or -1 if not known. May be NULL. */
	void (*progress)(void *arg, const char *file, double done, uint64_t rows);
	/* Called for what was left out of a file, one clause. May be NULL. */
	void (*note)(void *arg, const char *file, const char *text);
	void *arg;
	const volatile sig_atomic_t *stop; /* when it becomes non-zero: give up; may be NULL */
	/* For tests; 0: as many as there are processors. 1: none beside the caller's. */
	unsigned int threads;
	size_t piece_bytes; /* for tests; how much one thread reads at a time, 0: as is best */
};

struct view_import_error {
	const char *file; /* the one that could not be used; borrowed from the arguments */
	char why[400]; /* why; what to do */
};

/*
 * Writes @files as the run directory @out (".gst" is the caller's to add), which must not exist.
 * 0, or a negative errno and *error: nothing is left behind then.
 */
int view_import_files(char *const files[], size_t n, const char *out,
		      const struct view_import_options *options, struct view_import_stats *stats,
		      struct view_import_error *error);

/* --- within the importer --- */

/* One file as it is read. */
struct view_import_job {
	const char *path;
	uint32_t file_index;
	const struct view_import_options *options;
	struct view_import_error *error;
	uint64_t rows_shown;
};

/* Sets the error's text and returns @err. */
int view_import_fail(struct view_import_job *job, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Tells how far the reading is. 0, or -EINTR (and the error is set): the user wants no more. */
int view_import_progress(struct view_import_job *job, double done, uint64_t rows);

/* Reads one file into @t. 0, or negative and the job's error is set. */
int view_import_kineto(struct view_import_job *job, struct view_import_input *in,
		       struct view_import_trace *t);
int view_import_nsys(struct view_import_job *job, struct view_import_input *in,
		     struct view_import_trace *t);

/* Writes a resolved trace as streams into the directory @dirfd. 0 or -errno. */
int view_import_write(struct view_import_job *job, const struct view_import_trace *t, int dirfd,
		      struct view_import_stats *stats);

#endif
