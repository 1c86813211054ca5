/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pieces of a GPU's time whose class was decided after later things had been written to its log.
 * Of use is only how much time of each class lies between two moments of the log, so pieces between
 * the same two are put together as one, which begins at the first moment. 16 bytes each; those that
 * there is no room for go to a file in sorted runs.
 */
#ifndef ANALYSIS_LATE_PIECES_H
#define ANALYSIS_LATE_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "spill.h"

#define ANA_LATE_PIECE_NS_MAX (((int64_t)1 << 56) - 1) /* two years; what is longer is cut */

struct ana_late_piece {
	int64_t start;
	uint64_t ns_and_class; /* ns << 8 | class */
};

static inline int64_t ana_late_piece_ns(const struct ana_late_piece *l)
{
	return (int64_t)(l->ns_and_class >> 8);
}

static inline int ana_late_piece_class(const struct ana_late_piece *l)
{
	return (int)(l->ns_and_class & 0xff);
}

static inline int64_t ana_late_piece_end(const struct ana_late_piece *l)
{
	return l->start + ana_late_piece_ns(l);
}

struct ana_late_run { /* pieces in the file, by start */
	uint64_t offset;
	uint32_t bytes, count;
	int64_t first; /* start of the first */
};

struct ana_late_pieces {
	struct ana_late_piece *at;
	size_t count, room;
	struct ana_late_run *run;
	uint32_t runs, run_room;
	uint64_t spilled; /* pieces in the runs */
};

/* False: it is full. [start, end) is not empty. */
bool ana_late_pieces_add(struct ana_late_pieces *l, int c, int64_t start, int64_t end);

int ana_late_pieces_grow(struct ana_late_pieces *l, size_t most); /* by half; 0 or -ENOMEM */

/*
 * The older three quarters, which are sorted, become a run. 0 or negative errno: all is as before.
 * *kept_from: where what is left begins.
 */
int ana_late_pieces_spill(struct ana_late_pieces *l, struct ana_spill *s, int64_t *kept_from);

/* Pieces by start, of equal ones the shorter first; runs by their first pieces. */
void ana_late_pieces_sort(struct ana_late_pieces *l);

/*
 * Puts together what lies between two moments. @next gives the moments from @since on in order,
 * false at their end. Sorts. Pieces that begin before @since, lie across a moment, or behind the
 * last one, stay as they are. Pieces that were added are disjoint; sums up to each moment do not
 * change.
 */
void ana_late_pieces_fold(struct ana_late_pieces *l, int64_t since,
			  bool (*next)(void *arg, int64_t *moment), void *arg);

/* No more will come: gives back the room that is left. */
void ana_late_pieces_trim(struct ana_late_pieces *l);

void ana_late_pieces_fini(struct ana_late_pieces *l);

struct ana_late_open; /* a run that is being read */

struct ana_late_reader { /* of sorted ones */
	const struct ana_late_pieces *of;
	const struct ana_spill *spill;
	size_t pos; /* in memory */
	struct ana_late_open *open;
	uint32_t opens, open_room, runs; /* runs: that were opened */
	int err; /* nothing is read any more */
};

void ana_late_reader_init(struct ana_late_reader *r, const struct ana_late_pieces *l,
			  const struct ana_spill *s);
void ana_late_reader_fini(struct ana_late_reader *r);

/* The next by start; NULL: there is none. Its own until the next call. */
const struct ana_late_piece *ana_late_reader_peek(struct ana_late_reader *r);
void ana_late_reader_take(struct ana_late_reader *r); /* what was peeked at */

#endif
