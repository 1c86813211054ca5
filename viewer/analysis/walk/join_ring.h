/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The launch table's memory, for join.c and for who asks for operations in the order in which they
 * were launched: most come so, and a call each costs more than what it does.
 */
#ifndef ANALYSIS_JOIN_RING_H
#define ANALYSIS_JOIN_RING_H

#include "join.h"

enum ana_join_state {
	ANA_JOIN_WAITING, /* for its operation */
	ANA_JOIN_ASKED, /* may own another one for a while */
	ANA_JOIN_SETTLED,
};

struct ana_join_record {
	_Alignas(64) struct ana_call call;
	uint64_t corr;
	uint32_t asked; /* when, in operations */
	uint32_t chain; /* number of the next with its hash */
	uint8_t state;
};
_Static_assert(sizeof(struct ana_join_record) == 64, "one cache line per launch");

struct ana_join {
	struct ana_join_record *ring; /* record n is ring[n & mask] */
	uint32_t mask;
	uint32_t first, end; /* numbers of the records that are there, modulo 2^32 */
	uint32_t pending; /* all before it are settled */
	uint32_t next; /* behind the one found last */
	uint64_t next_corr; /* the id that would be there if ids rose by one */
	uint64_t newest; /* greatest id of all in the ring and among the strays */
	uint32_t chained; /* all before it are on chains */
	uint32_t *slot; /* number of the newest record of each hash, plus 1 */
	uint32_t slot_mask;
	uint64_t secret; /* odd */
	bool exact;
	struct ana_join_record *stray; /* in order of start; [stray_first, strays) are there */
	uint32_t strays, stray_first, stray_room;
	uint64_t expired;
	uint64_t *lost_graphs; /* all of them, borrowed */
	struct ana_call *lost; /* graphs that nothing is known of but their launch, by start */
	uint32_t lost_count, lost_room;
};

static inline struct ana_join_record *ana_join_at(const struct ana_join *j, uint32_t n)
{
	return &j->ring[n & j->mask];
}

/*
 * ana_join_ask() of an operation that has its id for itself or with few, where its launch lies
 * behind the one found last. NULL: it may lie elsewhere.
 */
static inline const struct ana_call *ana_join_ask_next(struct ana_join *j, uint64_t corr,
						       uint32_t now)
{
	struct ana_join_record *r = ana_join_at(j, j->next);

	if (j->next - j->first >= j->end - j->first || r->corr != corr)
		return NULL;
	j->next++;
	j->next_corr = corr + 1;
	r->asked = now;
	r->state = ANA_JOIN_ASKED;
	return &r->call;
}

/*
 * ana_join_put() of a record whose id is above all that came, as ids of one thread are. NULL: it is
 * not, or the ring is full.
 */
static inline struct ana_call *ana_join_put_next(struct ana_join *j, uint64_t corr)
{
	struct ana_join_record *r = ana_join_at(j, j->end);

	if (corr <= j->newest || j->end - j->first > j->mask)
		return NULL;
	j->end++;
	j->newest = corr;
	r->corr = corr;
	r->state = ANA_JOIN_WAITING;
	return &r->call;
}

#endif
