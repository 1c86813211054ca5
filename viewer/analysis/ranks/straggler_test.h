/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is late, and whether that is more than chance. A rank is late in an event where it comes to a
 * collective a hundredth of a step or more after the median rank, through what it did itself. Were
 * all ranks alike, each event would be anybody's; a rank that has more of them than that allows
 * is a culprit: a one-sided binomial test, with a bound (Chernoff) in the place of the exact tail.
 * docs/CAUSES.md has the bounds.
 */
#ifndef ANALYSIS_STRAGGLER_TEST_H
#define ANALYSIS_STRAGGLER_TEST_H

#include "analysis/ranks.h"

/* ln of 1e-6: chance of naming anybody wrongly, over all ranks */
#define ANA_STRAGGLER_ALPHA_LN (-13.8)
#define ANA_STRAGGLER_EFFECT_PPM 5000 /* and it must matter: 0.5 % of the time observed */
#define ANA_STRAGGLER_ROTATING_PPM 20000
#define ANA_STRAGGLER_EVENTS_LEAST 10u /* at least */

/* How late one rank came, collective by collective; of many a sample: each @each-th one. */
struct ana_lateness {
	int64_t *ns;
	size_t count, room;
	uint64_t seen, each; /* each: a power of two, doubled when there is no more room */
};

int ana_lateness_add(struct ana_lateness *l, int64_t ns); /* 0 or -ENOMEM */
int64_t ana_lateness_median(struct ana_lateness *l); /* sorts; 0 where there are none */
void ana_lateness_fini(struct ana_lateness *l);

struct ana_straggler_test { /* of one rank */
	uint64_t events; /* in which it was late */
	int64_t event_ns; /* how late in these, together */
	int64_t until; /* none is counted before: what comes so soon is the same event */
	double expected; /* events that it would have if all were alike */
	uint64_t of; /* events of its groups, its own among them */
	enum ana_culprit verdict;
};

/*
 * Member @who of the group @member was late by @late_ns at @t. Counted once per half step, with the
 * chance that each member of the group had of being the one. @member: NULL: 0, 1 and so on.
 */
void ana_straggler_test_add(struct ana_straggler_test *s, const uint32_t *member, size_t members,
			    uint32_t who, int64_t late_ns, int64_t t, int64_t step_ns);

/* Late more often than chance allows, where so many are asked about. */
bool ana_straggler_test_stable(const struct ana_straggler_test *s, size_t tests, int64_t span_ns);

/*
 * Fills in the verdicts of @n ranks that were observed for @span_ns, but of those that are stable
 * culprits already, as in one of their groups they are. @tests: how often it was asked in all.
 */
void ana_straggler_test_decide(struct ana_straggler_test *s, size_t n, size_t tests,
			       int64_t span_ns);

#endif
