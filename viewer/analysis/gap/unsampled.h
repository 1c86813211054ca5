/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pieces of a gap in which no sample lies. They share the classes of their kin: pieces of the same
 * thread and the same kind (loader waits, or neither wait nor call) in which samples lie and which
 * begin no more than 2 s before or after. Decided pieces are remembered so long; the others wait
 * until all of their kin is decided. One per thread and kind. One thread.
 */
#ifndef ANALYSIS_UNSAMPLED_H
#define ANALYSIS_UNSAMPLED_H

#include "analysis/ledger.h"

#define ANA_KIN_NS INT64_C(2000000000)
#define ANA_KIN_MAX 65536u /* decided pieces that are remembered: the oldest are forgotten */
#define ANA_ORPHANS_MAX (1u << 18) /* of a walk: beyond it kin is not waited for */

enum ana_kind {
	ANA_KIND_WAIT,
	ANA_KIND_HOST,
	ANA_KINDS
};

struct ana_kin_piece { /* decided by evidence */
	int64_t start;
	int64_t ns[ANA_CLASSES];
};

struct ana_orphan { /* not decided */
	int64_t start, end;
	uint32_t gpu; /* of the walk */
	uint8_t unknown, base; /* enum ana_class, ana_confidence */
	uint32_t tid; /* the submitter */
	uint32_t stack; /* of who waits, 0: not known; with the next three */
	uint8_t state, wait, role;
	int64_t gap_start, gap_end; /* what it is a piece of */
};

struct ana_kin {
	struct ana_kin_piece *piece; /* by start */
	size_t head, tail, room;
	struct ana_orphan *orphan; /* as they came */
	size_t orphan_head, orphan_tail, orphan_room;
	/* the sum over [low, high), if !stale */
	bool stale;
	size_t low, high;
	int64_t sum[ANA_CLASSES];
};

void ana_kin_fini(struct ana_kin *k);
int ana_kin_decided(struct ana_kin *k, int64_t start, const int64_t ns[ANA_CLASSES]);
int ana_kin_orphan(struct ana_kin *k, const struct ana_orphan *o);

/*
 * The next orphan that ends 2 s or more before @floor, the start of the oldest gap that is not
 * decided (INT64_MAX: any), and the classes of its kin: ns sums to its length, or to nothing if it
 * has none.
 */
bool ana_kin_next(struct ana_kin *k, int64_t floor, struct ana_orphan *o, int64_t ns[ANA_CLASSES]);

#endif
