/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups that keep pace without ever meeting: which of them end near each other, each when its own
 * last member has come.
 */
#ifndef ANALYSIS_PACE_H
#define ANALYSIS_PACE_H

#include "analysis/map.h"
#include "ends_follow.h"

struct ana_pace_link { /* two groups, a < b */
	uint32_t a, b;
	uint32_t next_a, next_b; /* the next link of either + 1; 0: none */
	uint64_t used_a, used_b; /* number of the meeting that was compared last */
	struct ana_follow line;
};

struct ana_pace_meeting {
	uint64_t number; /* among all; 0: none yet */
	int64_t came, left; /* the last of them; the first of them */
};

struct ana_pace { /* zero-initialise */
	struct ana_pace_link *link;
	uint32_t links, room;
	struct ana_map of; /* by both groups */
	uint32_t *first; /* by group: its first link + 1 */
	struct ana_pace_meeting *last; /* by group */
	uint64_t meetings, looks;
};

/* 0 or -ENOMEM. */
int ana_pace_init(struct ana_pace *p, uint32_t groups);
void ana_pace_fini(struct ana_pace *p);

/* Two that are to be compared. 0 or -ENOMEM. */
int ana_pace_ask(struct ana_pace *p, uint32_t a, uint32_t b);

/* In order of time. @near_ns: what left further apart is not compared. */
void ana_pace_met(struct ana_pace *p, uint32_t group, int64_t came, int64_t left, int64_t near_ns);

/* They were compared, and each leaves when its own last has come. */
bool ana_pace_only(const struct ana_pace *p, uint32_t a, uint32_t b);

#endif
