/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one GPU did, as far as its collectives, sends and receives care: when each began and ended,
 * and how much time of each class lies between these moments. Some 150 bytes each, most of them for
 * what was decided late. What is beyond its room goes to a file that all logs share; where there is
 * none, or it is full, a log takes no more, and says from when on.
 *
 * Written by the walk of its GPU, on one thread; read any number of times after
 * ana_collective_log_finish.
 */
#ifndef ANALYSIS_COLLECTIVE_LOG_H
#define ANALYSIS_COLLECTIVE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "analysis/class.h"
#include "facts/kernel.h"
#include "late_pieces.h"
#include "spill.h"

#define ANA_LOG_OPEN_MAX 16u /* collectives of one GPU under way at once */
#define ANA_LOG_LANES_MAX 256u

/*
 * Kernels of one name on one stream of one process: what one communicator's collectives look like.
 * Where NCCL itself said of which one they are, of that one.
 */
struct ana_lane {
	uint64_t comm; /* the communicator's id, the same on all ranks; 0: not told */
	uint32_t source; /* of the plan */
	uint32_t stream, name; /* name: id in the source's table */
	const char *text; /* borrowed from there */
	uint64_t hash; /* of the text: the same on all ranks */
	uint64_t count;
	bool guessed; /* some of it was of a communicator that is not known */
	enum facts_meeting meeting; /* where it meets nobody it is counted, not on the log */
};

struct ana_log_chunk { /* of marks */
	uint8_t *byte; /* NULL: in the file */
	uint64_t offset;
	uint32_t len;
};

struct ana_log_place { /* among the marks */
	uint32_t chunk, pos;
	int64_t at; /* end of what lies before it */
};

struct ana_collective_log {
	/* what it holds */
	struct ana_lane *lane;
	uint32_t lanes, lane_room;
	uint64_t collectives, sends; /* on it; sends: and receives */
	uint64_t p2p; /* all communication but collectives, on it or not */
	uint64_t left_out; /* collectives: too many lanes, too many at once, or after full_ns */
	bool full;
	int64_t full_ns; /* nothing that begins here or later is on it */
	int64_t last_ns; /* latest end of what is on it */
	uint32_t last_lane;
	struct ana_log_chunk *chunk; /* the last one is being written */
	uint32_t chunks, chunk_room;
	struct ana_late_pieces late;
	struct ana_spill *spill; /* borrowed; NULL: none */
	size_t room, used; /* bytes of memory */
	int spill_err; /* why the file takes no more */
	int err;
	/* while it is written */
	struct ana_log_place folded; /* late pieces that begin before it are not put together */
	int64_t at; /* of the last mark */
	int64_t seen; /* all marks to come but ends of those under way lie here or later */
	int64_t next; /* the earliest end of those under way, INT64_MAX: none */
	int64_t sum[ANA_CLASSES];
	int64_t comm_start, comm_end; /* exposed, not written yet; empty: start == end */
	int64_t open[ANA_LOG_OPEN_MAX]; /* ends, ascending */
	uint32_t opens;
};

/* @room: bytes of memory that it may use; a chunk of marks it needs. NULL: no memory. */
struct ana_collective_log *ana_collective_log_new(size_t room, struct ana_spill *spill);
void ana_collective_log_free(struct ana_collective_log *t);

/* ana_collective_log_add where a collective ends within the piece, or the piece is one's. */
void ana_collective_log_split(struct ana_collective_log *t, int c, int64_t start, int64_t end);

/* [start, end) is of class @c; in order of time, and no later than the next collective's start. */
static inline void ana_collective_log_add(struct ana_collective_log *t, int c, int64_t start,
					  int64_t end)
{
	t->seen = end;
	if (end <= t->next && c != ANA_COMM)
		t->sum[c] += end - start;
	else
		ana_collective_log_split(t, c, start, end);
}

/* ana_collective_log_add for what is decided later: in any order, disjoint. */
void ana_collective_log_add_late(struct ana_collective_log *t, int c, int64_t start, int64_t end);

/*
 * A collective, send or receive begins; all pieces before it have come. @comm: see ana_lane. @text
 * lives as long as the log.
 */
void ana_collective_log_begin(struct ana_collective_log *t, uint64_t comm, uint32_t source,
			      uint32_t stream, uint32_t name, const char *text, int64_t start,
			      int64_t end);

/*
 * No more will come: what it does not need of its room goes back. 0 or -ENOMEM, also for what went
 * wrong before.
 */
int ana_collective_log_finish(struct ana_collective_log *t);

/*
 * A finished one, read into a new one. @text: the text of a name of a source, NULL if there is no
 * such source; it lives as long as the log.
 */
struct ana_archive; /* archive.h */
void ana_collective_log_archive(struct ana_collective_log *t, struct ana_archive *a,
				const char *(*text)(const void *arg, uint32_t source,
						    uint32_t name),
				const void *arg);

enum ana_log_mark_kind {
	ANA_MARK_PIECE, /* exposed collective time: [t, end) */
	ANA_MARK_BEGIN, /* of a collective, send or receive: [t, end) */
	ANA_MARK_END,
	ANA_MARK_TICK, /* nothing; what was decided late before it can be put together */
};

struct ana_log_mark {
	enum ana_log_mark_kind kind;
	int64_t t, end;
	uint32_t lane;
	uint64_t number; /* among all of these; BEGIN and END */
};

struct ana_log_cursor {
	const struct ana_collective_log *log;
	struct ana_log_place place;
	struct ana_late_reader late;
	uint8_t *room; /* for a chunk that is in the file */
	uint32_t loaded; /* which one it has; UINT32_MAX: none */
	int err; /* the log could not be read any further */
	bool moments; /* set by the reader: pieces are passed over, and @cum tells nothing */
	int64_t cum[ANA_CLASSES]; /* by class, of all before the mark */
	uint64_t number;
	struct {
		int64_t end;
		uint32_t lane;
		uint64_t number;
	} open[ANA_LOG_OPEN_MAX];
	uint32_t opens;
};

void ana_log_cursor_init(struct ana_log_cursor *c, const struct ana_collective_log *t);
void ana_log_cursor_fini(struct ana_log_cursor *c);

/* In order of time, without ticks; false: end, or an error. */
bool ana_log_cursor_next(struct ana_log_cursor *c, struct ana_log_mark *m);

#endif
