/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Communicators, found from who keeps ending together. Kin (kin.h) are one, if they have lanes of
 * their own. Of the rest a set of lanes that recurs is one; a set that is two known ones by chance
 * is not, nor is a known one that lacks a member. Of sends and receives three GPUs or more that
 * meet all at once are one (all_to_all.h), and two that have partners (partner.h) on each other.
 * The tolerance is learned, too: the smallest at which what ends together is the same again and
 * again.
 */
#ifndef ANALYSIS_GROUP_H
#define ANALYSIS_GROUP_H

#include "analysis/map.h"
#include "kin.h"
#include "partner.h"

#define ANA_SETS_MAX 4096u

struct ana_set { /* lanes that ended together */
	uint32_t *lane; /* numbers over all logs, ascending */
	uint32_t lanes;
	uint64_t count;
	int64_t spread_ns; /* how far apart the ends were, mean; the sum while learning */
	bool accepted;
	uint32_t group; /* of accepted ones */
};

struct ana_member_set { /* a communicator: sets of the same GPUs */
	uint32_t *gpu; /* ascending */
	uint32_t gpus;
	uint32_t set; /* its most frequent one; none of sends and receives */
	uint32_t lane; /* of its first GPU */
	uint64_t count;
	bool sends; /* and receives, of two GPUs */
};

struct ana_groups {
	struct ana_set *set;
	uint32_t sets, set_room;
	struct ana_map set_of; /* by hash of its lanes */
	struct ana_member_set *group;
	uint32_t groups, group_room;
	uint32_t *first_lane; /* by log: the number of its lane 0 */
	uint32_t lanes;
	uint64_t *key; /* by lane (told_kin.h) */
	uint64_t *lane_count; /* collectives seen while learning, by lane */
	int64_t tolerance_ns;
	int64_t first_ns, last_ns; /* common ends seen, of all sets of two or more */
	uint32_t *lane_group; /* the group of most of a lane's collectives; UINT32_MAX: none */
	uint32_t *order; /* accepted sets, most lanes first */
	uint32_t ordered;
	struct ana_kins kins;
	struct ana_partners partners;
	int err;
};

/* Learns from the logs. @slack_ns: how far clocks may disagree. 0 or negative errno. */
int ana_groups_learn(struct ana_groups *g, struct ana_collective_log *const *log, size_t logs,
		     const struct ana_align *align, int64_t slack_ns);
void ana_groups_fini(struct ana_groups *g);

/* That of a send and its receive. */
uint32_t ana_groups_of_pair(const struct ana_groups *g, struct ana_arrival *const member[2]);

/* The group that most collectives of this one's lane are of; UINT32_MAX: none. */
uint32_t ana_groups_usual(const struct ana_groups *g, const struct ana_arrival *a);

/*
 * Takes one collective out of what ended together: the members of a known group go to the front of
 * @member, in order of GPU; their number is returned, *group says which. 0: what is left is none.
 * Next it is asked for those behind them. *from, 0 at first, is how far the search has come.
 */
size_t ana_groups_take(const struct ana_groups *g, struct ana_arrival **member, size_t n,
		       uint32_t *from, uint32_t *group);

#endif
