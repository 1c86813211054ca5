/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pieces of a GPU's time whose class was decided after later things had been written to its log.
 * Of use is only how much time of each class lies between two moments of the log, so pieces between
 * the same two are put together as one, which begins at the first moment. 16 bytes each.
 */
#ifndef ANALYSIS_LATE_PIECES_H
#define ANALYSIS_LATE_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

struct ana_late_pieces {
	struct ana_late_piece *at;
	size_t count, room;
};

/* False: it is full. [start, end) is not empty. */
bool ana_late_pieces_add(struct ana_late_pieces *l, int c, int64_t start, int64_t end);

int ana_late_pieces_grow(struct ana_late_pieces *l); /* by half; 0 or -ENOMEM */

/* By start; of equal ones the shorter first. */
void ana_late_pieces_sort(struct ana_late_pieces *l);

/*
 * Puts together what lies between two moments. @next gives the moments in order, false at their
 * end. Sorts. Pieces across a moment, or behind the last one, stay as they are. Pieces that were
 * added are disjoint; sums up to each moment do not change.
 */
void ana_late_pieces_fold(struct ana_late_pieces *l, bool (*next)(void *arg, int64_t *moment),
			  void *arg);

/* No more will come: gives back the room that is left. */
void ana_late_pieces_trim(struct ana_late_pieces *l);

void ana_late_pieces_fini(struct ana_late_pieces *l);

#endif
