/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One line on a terminal about work that takes over two seconds: what, percent, rate. Redrawn in
 * place on standard error and taken away at the end. Nothing where that is no terminal, where
 * another job has the terminal, or for who asked for quiet.
 *
 * Caller-owned. view_progress_add may be called from any thread, the others from one.
 */
#ifndef VIEW_PROGRESS_H
#define VIEW_PROGRESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct view_progress {
	bool on;
	const char *what; /* "analysing", "importing"; the caller's */
	const char *name; /* of a file or run, may be foreign; NULL: none */
	const char *unit; /* of what is counted: "events", or NULL: bytes */
	uint64_t total; /* 0: not known */
	_Atomic uint64_t done;
	atomic_flag drawing;
	int64_t began_ns, told_ns;
	bool shown;
};

/* @quiet: nothing will be drawn. */
void view_progress_begin(struct view_progress *p, const char *what, bool quiet);

/* @n more are done. */
void view_progress_add(struct view_progress *p, uint64_t n);

/* @done of all so far, and 0 to 1 of the work, or below 0 where that is not known. */
void view_progress_set(struct view_progress *p, uint64_t done, double share);

/* Takes the line away. May be called again, and before anything else is said. */
void view_progress_end(struct view_progress *p);

/* The line, for tests: @columns of a terminal. Returns its length, 0: it is too early. */
int view_progress_line(const struct view_progress *p, int64_t elapsed_ns, int columns, char *out,
		       int room);

#endif
