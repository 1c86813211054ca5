/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is late, and whether that is more than chance. A rank is late in an event where it comes to a
 * collective a hundredth of a step or more after the median rank, through what it did itself. Were
 * all ranks alike, each event would be anybody's; a rank that has more of them than that allows
 * is a culprit. docs/CAUSES.md has the bounds.
 */
#ifndef ANALYSIS_CROWD_H
#define ANALYSIS_CROWD_H

#include "ranks.h"

#define ANA_CROWD_ALPHA_LN \
	(-13.8) /* ln of 1e-6: chance of naming anybody wrongly, over all ranks */
#define ANA_CROWD_EFFECT_PPM 5000 /* and it must matter: 0.5 % of the time observed */
#define ANA_CROWD_ROTATING_PPM 20000
#define ANA_CROWD_EVENTS 10u /* at least */

struct ana_lates { /* lateness of one rank: every so manyth, when there are many */
	int64_t *ns;
	size_t count, room;
	uint64_t seen, each;
};

int ana_lates_add(struct ana_lates *l, int64_t ns); /* 0 or -ENOMEM */
int64_t ana_lates_median(struct ana_lates *l); /* sorts; 0 where there are none */
void ana_lates_fini(struct ana_lates *l);

struct ana_suspect {
	uint64_t events; /* in which it was late */
	int64_t event_ns; /* how late in these, together */
	int64_t until; /* no other event before: one per half step */
	double expected; /* events that it would have if all were alike */
	uint64_t of; /* events of its groups, its own among them */
	enum ana_culprit verdict;
};

/* An event of member @who of a group whose members are @member. */
void ana_crowd_event(struct ana_suspect *s, const uint32_t *member, size_t members, uint32_t who,
		     int64_t late_ns, int64_t t, int64_t step_ns);

/* Fills in the verdicts over @span_ns of time. Pure but for that. */
void ana_crowd_judge(struct ana_suspect *s, size_t n, int64_t span_ns);

#endif
