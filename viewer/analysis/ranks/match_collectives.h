/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All GPUs' logs at once, in order of time on one clock: which collectives ended together. Nobody
 * can leave a collective before all have come, and all leave it at about the same time; so kernels
 * of one name that run at one moment and end within a tolerance of each other are taken together.
 * Whether that makes them the same collective is group.h's to say.
 */
#ifndef ANALYSIS_MATCH_COLLECTIVES_H
#define ANALYSIS_MATCH_COLLECTIVES_H

#include "align.h"
#include "collective_log.h"

struct ana_arrival { /* one GPU in one collective */
	uint32_t gpu; /* index among the logs */
	uint32_t lane; /* of its log */
	uint64_t number; /* on its log */
	int64_t start, end; /* on its own clock */
	int64_t common_start, common_end; /* on the first host's */
	int64_t cum_start[ANA_CLASSES], cum_end[ANA_CLASSES]; /* time by class before these */
};

struct ana_match_user {
	/* Kernels that ended together, by common_end; of one name, at most one per GPU. */
	void (*cluster)(void *arg, struct ana_arrival *const *member, size_t n);
	/* Exposed collective time of a GPU on its own clock, in order. May be NULL. */
	void (*exposed)(void *arg, uint32_t gpu, int64_t start, int64_t end);
	void *arg;
};

/*
 * Reads the logs through. @tolerance_ns: how far common ends may lie apart; @limit: stop after so
 * many collectives, 0: none. 0 or -ENOMEM.
 */
int ana_match_collectives(struct ana_collective_log *const *log, size_t logs,
			  const struct ana_align *align, int64_t tolerance_ns, uint64_t limit,
			  const struct ana_match_user *user);

#endif
