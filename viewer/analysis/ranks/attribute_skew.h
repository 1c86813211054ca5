/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From matched collectives to comm.skew. Of each, every rank but the last to come waited from its
 * own arrival to the last one's; the exposed part of that becomes comm.skew, once, under what the
 * late rank did more of than the waiting one since the two were last even. Where that was itself
 * waiting in another communicator, whatever made it wait there.
 *
 * Ranks that leave a collective are not even yet: work that runs beside it may be further on one
 * than on the other. They are where all of them had nothing else to do at its end.
 */
#ifndef ANALYSIS_CHARGE_H
#define ANALYSIS_CHARGE_H

#include "straggler_test.h"
#include "group.h"

struct ana_exposed;
struct ana_paid;
struct ana_stand;

struct ana_charge_row { /* of one GPU */
	uint64_t matched, late, refused;
	int64_t refused_ns; /* exposed */
	int64_t waited_ns, causes_waited[ANA_CLASSES]; /* its comm.skew, by cause */
	int64_t caused_ns, causes[ANA_CLASSES]; /* what it cost others */
	int64_t last_end; /* of its last matched collective, common clock */
	struct ana_lates lates;
	struct ana_exposed *exposed; /* of late, not charged yet */
	struct ana_paid *paid; /* its own waits of late, and whose they were */
};

struct ana_charge_group {
	uint64_t matched, refused;
	int64_t waited_ns;
	int64_t last_end; /* common clock */
	struct ana_stand *stand; /* of each member */
	bool even; /* they have been even once, ... */
	int64_t even_at; /* ... last then, common clock */
	int64_t aged_at;
};

struct ana_charge {
	const struct ana_groups *groups;
	const struct ana_align *align;
	size_t gpus;
	int64_t step_ns, late_ns; /* an event is late_ns or more */
	int64_t slack_ns; /* clocks of two hosts may differ so much: less is no wait */
	struct ana_charge_row *row;
	struct ana_charge_group *group;
	struct ana_suspect *suspect;
	int64_t *pair_ns; /* [waiting * gpus + late]; NULL: too many */
	uint64_t matched;
	int64_t first_ns, last_ns; /* of what was matched, common clock */
	/* Tells of every stretch that becomes comm.skew, on the GPU's own clock. */
	void (*skew)(void *arg, uint32_t gpu, int64_t start, int64_t end);
	void *arg;
	int err;
};

/* Fill in the members down to slack_ns, skew and arg before. 0 or -ENOMEM. */
int ana_charge_init(struct ana_charge *c);
void ana_charge_fini(struct ana_charge *c);

/* What ana_meet calls. */
void ana_charge_cluster(void *charge, struct ana_arrival *const *member, size_t n);
void ana_charge_exposed(void *charge, uint32_t gpu, int64_t start, int64_t end);

#endif
