/* SPDX-License-Identifier: Apache-2.0 */
/* Logs of sends and receives made up, on one host, and what is matched among them. */
#ifndef TESTS_RANKS_SENDS_H
#define TESTS_RANKS_SENDS_H

#include "harness.h"

#include "analysis/ranks/group.h"

#define RANKS 16u
#define TIMES 200
#define SEND "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"

struct sends {
	uint32_t ranks;
	struct ana_collective_log *log[RANKS];
	uint32_t host[RANKS];
	struct ana_timebase base;
	struct ana_groups g;
	uint64_t random;
};

static inline void sends_begin(struct sends *s, uint32_t ranks)
{
	uint32_t i;

	s->ranks = ranks;
	s->random = 1;
	for (i = 0; i < ranks; i++)
		s->log[i] = ana_collective_log_new(1 << 20, NULL);
}

static inline int64_t sends_below(struct sends *s, uint64_t n)
{
	return (int64_t)(t_random(&s->random) % n);
}

/* Learns groups, and tells @user what meets. */
static inline void sends_match(struct sends *s, int what, const struct ana_match_user *user)
{
	const struct ana_align align = { .host = &s->base, .hosts = 1, .host_of = s->host };
	struct ana_match m = { .what = what, .log = s->log, .logs = s->ranks, .align = &align };
	uint32_t i;

	for (i = 0; i < s->ranks; i++)
		REQUIRE(!ana_collective_log_finish(s->log[i]));
	REQUIRE(!ana_groups_learn(&s->g, s->log, s->ranks, &align, 0));
	m.first_lane = s->g.first_lane;
	m.key = s->g.key;
	m.lanes = s->g.lanes;
	m.kins = &s->g.kins;
	m.partners = &s->g.partners;
	REQUIRE(!ana_match_collectives(&m, user));
}

static inline void sends_fini(struct sends *s)
{
	for (uint32_t i = 0; i < s->ranks; i++)
		ana_collective_log_free(s->log[i]);
	ana_groups_fini(&s->g);
}

#endif
