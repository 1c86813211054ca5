/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pieces of a gap in which no sample lies. They share the classes of their neighbours: pieces of
 * the same thread and the same kind (loader waits, or neither wait nor call) in which samples lie
 * and which begin no more than 2 s before or after. Neighbours are remembered for so long; the
 * pieces without samples wait until all of theirs are decided. One per thread and kind. One thread.
 *
 * A look hits a short piece so much more rarely than a long one, and what is left to share is the
 * many short ones that none hit: of those that were hit each speaks for the time that its looks
 * stand for.
 */
#ifndef ANALYSIS_UNSAMPLED_H
#define ANALYSIS_UNSAMPLED_H

#include "analysis/ledger.h"
#include "split.h"

#define ANA_NEIGHBOURS_NS INT64_C(2000000000)
#define ANA_NEIGHBOURS_MAX 65536u /* that are remembered: the oldest are forgotten */
/*
 * Evidence is not stretched over more than this: twenty times the time that it is of, and 200 ms
 * for each piece that has any, a twentieth of the four seconds in which it may speak for others.
 */
#define ANA_STRETCH 20
#define ANA_STRETCH_NS INT64_C(200000000)
#define ANA_NEIGHBOURS_MEDIUM 10u /* that show a class make it medium, fewer low */
#define ANA_STAND_NS INT64_C(10000000) /* that a look stands for which tells no period */
#define ANA_STAND_MAX_NS ANA_STRETCH_NS /* that a piece's looks stand for */
#define ANA_UNSAMPLED_MAX (1u << 18) /* that wait, of a walk: beyond it all are decided at once */

struct ana_neighbour { /* a piece that evidence decided */
	int64_t start;
	int64_t own; /* its length */
	int64_t ns[ANA_CLASSES]; /* of it, or of the time it stands for */
};

struct ana_length { /* of a piece without samples, decided or not */
	int64_t start, ns;
};

struct ana_unsampled_piece { /* not decided */
	int64_t start, end;
	uint32_t gpu; /* of the walk */
	/* what it is by records alone: enum ana_class, enum ana_confidence */
	uint8_t unknown, record_confidence;
	uint32_t tid; /* the submitter */
	/* who tells the line: who waits, or makes what is awaited; with the next five */
	uint32_t stack; /* 0: not known */
	uint32_t who_pid, who_tid;
	uint8_t state, wait, role;
	int64_t gap_start, gap_end; /* what it is a piece of */
	int64_t stand_ns; /* for which its looks stand; 0: there are none */
};

struct ana_neighbours { /* the sum over those from low on and before high */
	size_t low, high;
	int64_t ns[ANA_CLASSES], own;
	bool weighed; /* weights are those of the sum */
	struct ana_weights weights;
	uint32_t of[ANA_CLASSES]; /* that show the class */
};

struct ana_unsampled {
	struct ana_neighbour *neighbour; /* by start */
	size_t head, tail, room;
	struct ana_unsampled_piece *piece; /* as they came */
	size_t piece_head, piece_tail, piece_room;
	struct ana_neighbours *sum; /* NULL: there never was a neighbour */
	bool stale; /* the sum is of nothing that there is */
	struct ana_length *length; /* by start */
	size_t length_head, length_tail, length_room;
	bool length_stale; /* else length_sum is that of [length_low, length_high) */
	size_t length_low, length_high;
	int64_t length_sum;
};

void ana_unsampled_fini(struct ana_unsampled *k);
void ana_unsampled_free(struct ana_unsampled *k); /* of one from malloc(); NULL: none */

struct ana_archive; /* archive.h */
/* @gpus: of the walk. */
void ana_unsampled_archive(struct ana_unsampled *k, uint32_t gpus, struct ana_archive *a);
/*
 * A piece as long as @ns sums to; it counts for @stand_ns, if that is longer, and its classes in
 * proportion, rounded down. 0 or -ENOMEM.
 */
int ana_unsampled_decided(struct ana_unsampled *k, int64_t start, const int64_t ns[ANA_CLASSES],
			  int64_t stand_ns);
int ana_unsampled_add(struct ana_unsampled *k, const struct ana_unsampled_piece *o);
/* When the first piece that waits begins; INT64_MAX: none does. */
int64_t ana_unsampled_first(const struct ana_unsampled *k);

struct ana_told { /* what neighbours tell of a piece */
	uint32_t count;
	const uint8_t *class; /* borrowed: of the neighbours, ascending; ns may still be 0 */
	int64_t ns[ANA_CLASSES]; /* of class[i] */
};

/*
 * The next piece that ends 2 s or more before @floor, the start of the oldest gap that is not
 * decided (INT64_MAX: any), and the classes of its neighbours: they sum to its length, or are none
 * if it has none, or too little of them for all pieces like it in the same time.
 */
bool ana_unsampled_next(struct ana_unsampled *k, int64_t floor, struct ana_unsampled_piece *o,
			struct ana_told *told);
/* How sure is the class @c of the piece that was the last: low or medium. */
enum ana_confidence ana_unsampled_sure(const struct ana_unsampled *k, int c);

#endif
