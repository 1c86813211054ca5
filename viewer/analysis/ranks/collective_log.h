/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one GPU did, as far as its collectives care: when each began and ended, and how much time of
 * each class lies between these moments. Some 150 bytes per collective, most of them for what was decided late; beyond its room a tape takes
 * no more, and says from when on.
 *
 * Written by the walk of its GPU, on one thread; read any number of times after ana_tape_finish.
 */
#ifndef ANALYSIS_TAPE_H
#define ANALYSIS_TAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "analysis/class.h"
#include "late_pieces.h"

#define ANA_TAPE_OPEN 16u /* collectives of one GPU under way at once */
#define ANA_TAPE_LANES 256u

/* Kernels of one name on one stream of one process: what one communicator's collectives look like. */
struct ana_lane {
	uint32_t source; /* of the plan */
	uint32_t stream, name; /* name: id in the source's table */
	const char *text; /* borrowed from there */
	uint64_t hash; /* of the text: the same on all ranks */
	uint64_t count;
	bool p2p; /* sends and receives, which need not meet all: counted, not on the tape */
};

struct ana_tape_chunk;

struct ana_tape {
	/* what it holds */
	struct ana_lane *lane;
	uint32_t lanes, lane_room;
	uint64_t collectives, p2p,
		left_out; /* left out: too many lanes or at once, or after full_ns */
	bool full;
	int64_t full_ns; /* nothing that begins here or later is on it */
	int64_t last_ns; /* latest end of a collective */
	uint32_t last_lane;
	struct ana_tape_chunk *first, *chunk;
	struct ana_late_list late;
	size_t room, used; /* bytes */
	int err;
	/* while it is written */
	int64_t at; /* of the last mark */
	int64_t next; /* the earliest end of those under way, INT64_MAX: none */
	int64_t sum[ANA_CLASSES];
	int64_t comm_start, comm_end; /* exposed, not written yet; empty: start == end */
	int64_t open[ANA_TAPE_OPEN]; /* ends, ascending */
	uint32_t opens;
};

/* @room: bytes that it may use. 0 or -ENOMEM. */
struct ana_tape *ana_tape_new(size_t room); /* NULL: no memory */
void ana_tape_free(struct ana_tape *t);

void ana_tape_cut(struct ana_tape *t, int c, int64_t start, int64_t end);

/* [start, end) is of class @c; in order of time, and no later than the next collective's start. */
static inline void ana_tape_piece(struct ana_tape *t, int c, int64_t start, int64_t end)
{
	if (end <= t->next && c != ANA_COMM)
		t->sum[c] += end - start;
	else
		ana_tape_cut(t, c, start, end);
}

/* The same for what is decided later: in any order, disjoint. */
void ana_tape_late(struct ana_tape *t, int c, int64_t start, int64_t end);

/* A collective begins; all pieces before it have come. @text lives as long as the tape. */
void ana_tape_comm(struct ana_tape *t, uint32_t source, uint32_t stream, uint32_t name,
		   const char *text, int64_t start, int64_t end);

/* No more will come. 0 or -ENOMEM, also for what went wrong before. */
int ana_tape_finish(struct ana_tape *t);

enum ana_mark_kind {
	ANA_MARK_PIECE, /* exposed collective time: [t, end) */
	ANA_MARK_BEGIN, /* of a collective: [t, end) */
	ANA_MARK_END,
};

struct ana_mark {
	enum ana_mark_kind kind;
	int64_t t, end;
	uint32_t lane;
	uint64_t number; /* of the collective; BEGIN and END */
};

struct ana_cursor {
	const struct ana_tape *tape;
	const struct ana_tape_chunk *chunk;
	size_t pos, late;
	int64_t at;
	int64_t cum[ANA_CLASSES]; /* by class, of all before the mark */
	uint64_t number;
	struct {
		int64_t end;
		uint32_t lane;
		uint64_t number;
	} open[ANA_TAPE_OPEN];
	uint32_t opens;
};

void ana_cursor_init(struct ana_cursor *c, const struct ana_tape *t);
bool ana_cursor_next(struct ana_cursor *c, struct ana_mark *m); /* in order of time; false: end */

#endif
