/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All GPUs' logs at once, in order of time on one clock: which collectives ended together. Nobody
 * can leave a collective before all have come, and all leave it at about the same time. Lanes that
 * are known to belong together (kin.h) are matched one after the other, whoever else ends between
 * them. Of the others kernels of one name that run at one moment and end within a tolerance of each
 * other are taken together; whether that makes them the same collective is group.h's to say. Of
 * sends and receives two that end together are one, if their lanes are partners (partner.h). Lanes
 * of them that are known to belong together are an all-to-all's, and matched as collectives are.
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
	/* time by class before these; not told where nobody asks for what is exposed */
	int64_t cum_start[ANA_CLASSES], cum_end[ANA_CLASSES];
	bool send; /* by its name a send or receive, or of an all-to-all, which is made of these */
};

#define ANA_TOLERANCE_MAX_NS 1000000 /* by which the ends of one collective lie apart, at most */

struct ana_kin { /* lanes that are a communicator */
	uint32_t *lane; /* numbers over all logs, ascending; two or more */
	uint32_t lanes;
	bool told; /* by NCCL; the others are learnt */
};

struct ana_kins {
	struct ana_kin *kin;
	uint32_t count, room;
	uint32_t *of; /* by lane: the one it is in; UINT32_MAX: none */
};

struct ana_partner { /* a lane whose kernels some of a lane's are sent to, or come from */
	uint32_t lane, group;
};

struct ana_partners { /* of lanes of sends and receives (partner.h) */
	uint32_t *first; /* by lane, and one behind the last: where its own begin in the list */
	struct ana_partner *list;
	uint32_t lanes, count; /* count: of the list */
	int64_t tolerance_ns; /* how far their common ends may lie apart */
};

enum ana_match_what {
	ANA_MATCH_COLLECTIVES = 1,
	ANA_MATCH_SENDS = 2, /* and receives */
};

struct ana_match { /* what is matched, and how */
	unsigned int what; /* ANA_MATCH_; of what it has not, nothing is told */
	struct ana_collective_log *const *log;
	size_t logs;
	const struct ana_align *align;
	const uint32_t *first_lane; /* by log: the number of its lane 0 */
	uint32_t lanes; /* of all logs */
	const uint64_t *key; /* by lane (told_kin.h); NULL: the name alone counts */
	const struct ana_kins *kins; /* NULL: none are known */
	const struct ana_partners *partners; /* NULL: none are known */
	int64_t tolerance_ns; /* how far common ends may lie apart */
	uint64_t limit; /* stop after so many collectives; 0: none */
};

/* Number of the lane over all logs. */
static inline uint32_t ana_lane_number(const uint32_t *first_lane, const struct ana_arrival *a)
{
	return first_lane[a->gpu] + a->lane;
}

/*
 * Of the name, and of the communicator where that is told: what is one collective has one. On a
 * host whose clock is not aligned, nothing can be the same as on another.
 */
uint64_t ana_match_hash(const struct ana_match *m, const struct ana_arrival *a);

int ana_lanes_compare(const void *a, const void *b); /* for qsort and bsearch of numbers */

struct ana_match_user {
	/* Kernels that ended together, by common_end; of one name, at most one per GPU. */
	void (*cluster)(void *arg, struct ana_arrival *const *member, size_t n);
	/*
	 * If there, in its place: each kernel, and those of one name on other GPUs that ran when it
	 * ended and ended after it within the tolerance, the first of each lane. False: enough.
	 */
	bool (*near)(void *arg, const struct ana_arrival *first, struct ana_arrival *const *near,
		     size_t n);
	/* A send and its receive, by common_end. */
	void (*pair)(void *arg, struct ana_arrival *const member[2]);
	/* Exposed collective time of a GPU on its own clock, in order. May be NULL. */
	void (*exposed)(void *arg, uint32_t gpu, int64_t start, int64_t end);
	void *arg;
};

/* Reads the logs through. 0 or negative errno. */
int ana_match_collectives(const struct ana_match *m, const struct ana_match_user *user);

#endif
