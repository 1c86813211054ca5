/* SPDX-License-Identifier: Apache-2.0 */
/* Communicators whose collectives end at one moment are told apart, at a cost that follows them. */
#include "harness.h"

#include <time.h>
#include "analysis/ranks/group.h"

#define MEMBERS 8u
#define RANKS_MAX 4096u
#define REDUCE "ncclDevKernel_AllReduce"

struct job {
	uint32_t ranks, groups;
	struct ana_collective_log *log[RANKS_MAX];
	uint32_t host[RANKS_MAX];
	struct ana_timebase base;
	struct ana_groups g;
	struct ana_arrival at[RANKS_MAX], *member[RANKS_MAX];
};

/* Ranks are in groups by turns; all of a group met three times, each group alone. */
static struct job *begin(uint32_t groups)
{
	struct job *j = calloc(1, sizeof(*j));
	const struct ana_align align = { .host = &j->base, .hosts = 1, .host_of = j->host };
	uint32_t i, n;

	j->groups = groups;
	j->ranks = groups * MEMBERS;
	for (i = 0; i < j->ranks; i++) {
		j->log[i] = ana_collective_log_new(1 << 20, NULL);
		for (n = 0; n < 3; n++) {
			int64_t t = 10000000 * (int64_t)(n * groups + i % groups);

			ana_collective_log_begin(j->log[i], 0, i, 7, 1, REDUCE, t, t + 20000);
		}
		REQUIRE(!ana_collective_log_finish(j->log[i]));
	}
	REQUIRE(!ana_groups_learn(&j->g, j->log, j->ranks, &align, 0));
	return j;
}

static void end(struct job *j)
{
	for (uint32_t i = 0; i < j->ranks; i++)
		ana_collective_log_free(j->log[i]);
	ana_groups_fini(&j->g);
	free(j);
}

/* All ranks but those of @without end at once, the last first; how many groups were taken. */
static uint32_t take_all(struct job *j, uint32_t without, bool *whole)
{
	uint32_t n = 0, taken = 0, from = 0, group, i;
	struct ana_arrival **member = j->member;
	size_t got;

	for (i = j->ranks; i-- > 0;) {
		j->at[i] = (struct ana_arrival){ .gpu = i };
		if (i % j->groups != without)
			member[n++] = &j->at[i];
	}
	*whole = true;
	while ((got = ana_groups_take(&j->g, member, n, &from, &group)) > 0) {
		*whole &= got == MEMBERS && group < j->g.groups;
		for (i = 0; *whole && i < MEMBERS; i++)
			*whole &= member[i]->gpu == j->g.group[group].gpu[i];
		member += got;
		n -= (uint32_t)got;
		taken++;
	}
	*whole &= n == 0;
	return taken;
}

static void test_at_once(void)
{
	struct job *j = begin(12);
	bool whole;

	EXPECT_UINT(j->g.groups, 12);
	EXPECT_UINT(take_all(j, UINT32_MAX, &whole), 12);
	EXPECT(whole);
	EXPECT_UINT(take_all(j, 5, &whole), 11);
	EXPECT(whole);
	end(j);
}

/* Who belongs to no group that is all there stays. */
static void test_some_are_missing(void)
{
	struct job *j = begin(3);
	struct ana_arrival **member = j->member;
	uint32_t from = 0, group, i;
	size_t n = 0;

	for (i = 1; i < j->ranks; i++) { /* all but rank 0, of group 0 */
		j->at[i].gpu = i;
		member[n++] = &j->at[i];
	}
	EXPECT_UINT(ana_groups_take(&j->g, member, n, &from, &group), MEMBERS);
	EXPECT_UINT(ana_groups_take(&j->g, member + MEMBERS, n - MEMBERS, &from, &group), MEMBERS);
	EXPECT_UINT(ana_groups_take(&j->g, member + 2 * MEMBERS, MEMBERS - 1, &from, &group), 0);
	for (i = 2 * MEMBERS; i < n; i++)
		EXPECT_UINT(member[i]->gpu % 3, 0);
	end(j);
}

#define PACES 200

struct told { /* what the matching of two groups that keep pace came to */
	uint32_t without; /* what rank 0 lacks, and each 8th after it */
	uint64_t whole, other;
	int64_t spread_ns; /* the widest */
	uint32_t groups;
};

static bool lost(uint32_t rank, uint64_t n, uint32_t without)
{
	return !rank && n >= without && (n - without) % 8 == 0;
}

/* Of the collective, whatever the rank lacks before it. */
static uint64_t number_of(const struct told *t, const struct ana_arrival *a)
{
	uint64_t n = 0, there = 0;

	for (;; n++) {
		there += !lost(a->gpu, n, t->without);
		if (there > a->number)
			return n;
	}
}

static void count_told(void *arg, struct ana_arrival *const *member, size_t n)
{
	struct told *t = arg;
	int64_t spread = member[n - 1]->common_end - member[0]->common_end;
	bool whole = n == MEMBERS;
	size_t i;

	for (i = 1; i < n; i++)
		whole &= member[i]->gpu % 2 == member[0]->gpu % 2 &&
			 number_of(t, member[i]) == number_of(t, member[0]);
	t->whole += whole;
	t->other += !whole;
	t->spread_ns = whole && spread > t->spread_ns ? spread : t->spread_ns;
}

/* When the @n-th collective of a rank's group ends: the second one's up to @drift later. */
static int64_t paced_end(uint32_t rank, uint32_t n, int64_t drift, uint64_t *random)
{
	int64_t later = rank % 2 ? (int64_t)(n * UINT64_C(7919) % 101) * drift / 100 : 0;

	return 1000000 * (int64_t)(n + 1) + later + (int64_t)(t_random(random) % 2000);
}

/*
 * Two groups run the same program, and the ends of their collectives lie up to @drift apart: each
 * collective is of one group, and has its members in it, wherever others end between them.
 * @without: what rank 0 has no record of (struct told).
 */
static void match_told(int64_t drift, uint32_t without, const uint64_t *comm, struct told *t)
{
	struct job *j = calloc(1, sizeof(*j));
	const struct ana_align align = { .host = &j->base, .hosts = 1, .host_of = j->host };
	struct ana_match_user user = { .cluster = count_told, .arg = t };
	struct ana_match m;
	uint64_t random = 1;
	uint32_t i, n;

	j->ranks = 2 * MEMBERS;
	for (i = 0; i < j->ranks; i++) {
		j->log[i] = ana_collective_log_new(1 << 20, NULL);
		for (n = 0; n < PACES; n++) {
			int64_t end = paced_end(i, n, drift, &random);

			if (!lost(i, n, without))
				ana_collective_log_begin(j->log[i], comm[i], i, 7, 1, REDUCE,
							 end - 200000, end);
		}
		REQUIRE(!ana_collective_log_finish(j->log[i]));
	}
	REQUIRE(!ana_groups_learn(&j->g, j->log, j->ranks, &align, 0));
	t->groups = j->g.groups;
	m = (struct ana_match){ .what = ANA_MATCH_COLLECTIVES,
				.log = j->log,
				.logs = j->ranks,
				.align = &align,
				.first_lane = j->g.first_lane,
				.key = j->g.key,
				.lanes = j->g.lanes,
				.kins = &j->g.kins,
				.tolerance_ns = j->g.tolerance_ns };
	REQUIRE(!ana_match_collectives(&m, &user));
	end(j);
}

static void match_paced(int64_t drift, uint32_t without, struct told *t)
{
	static const uint64_t none[2 * MEMBERS];

	*t = (struct told){ .without = without };
	match_told(drift, without, none, t);
	EXPECT_UINT(t->groups, without < PACES ? 3 : 2); /* those without rank 0 recur */
}

/*
 * Groups whose collectives end within 2 us of each other, always: nothing but what NCCL said tells
 * them apart, and that only if it did so of all.
 */
static void test_groups_that_are_told(void)
{
	struct told t = { .without = UINT32_MAX };
	uint64_t comm[2 * MEMBERS];
	uint32_t i;

	for (i = 0; i < 2 * MEMBERS; i++)
		comm[i] = UINT64_C(0x8000000000000001) + i % 2;
	match_told(0, UINT32_MAX, comm, &t);
	EXPECT_UINT(t.groups, 2);
	EXPECT_UINT(t.whole, 2 * PACES);
	EXPECT_UINT(t.other, 0);

	t = (struct told){ .without = UINT32_MAX };
	comm[3] = 0;
	match_told(0, UINT32_MAX, comm, &t);
	EXPECT_UINT(t.groups, 1);
	EXPECT_UINT(t.whole, 0);
	EXPECT_UINT(t.other, PACES);

	t = (struct told){ .without = UINT32_MAX };
	memset(comm, 0, sizeof(comm));
	match_told(0, UINT32_MAX, comm, &t);
	EXPECT_UINT(t.groups, 1);
	EXPECT_UINT(t.other, PACES);
}

static void test_groups_that_keep_pace(void)
{
	static const int64_t drift[] = { 10000, 20000, 80000, 400000 };
	struct told t;
	size_t i;

	for (i = 0; i < sizeof(drift) / sizeof(drift[0]); i++) {
		match_paced(drift[i], UINT32_MAX, &t);
		EXPECT_UINT(t.whole, 2 * PACES);
		EXPECT_UINT(t.other, 0);
		EXPECT(t.spread_ns <= 2000);
	}
}

/* What lacks a member is of no group, and those behind it are as whole as before. */
static void test_lost_records(void)
{
	struct told t;

	match_paced(20000, 50, &t);
	EXPECT_UINT(t.whole, 2 * PACES - 19);
	EXPECT_UINT(t.other, 19);
	EXPECT(t.spread_ns <= 2000);
}

/*
 * Ranks of two nodes, one of which is late in every fifth round; on a node all end within 2 us, on
 * the other up to 60 us later. @one: all wait for the last of all, not of their node.
 */
static uint32_t groups_of_nodes(bool one, uint64_t seed, uint32_t *members)
{
	struct job *j = calloc(1, sizeof(*j));
	const struct ana_align align = { .host = &j->base, .hosts = 1, .host_of = j->host };
	uint32_t i, n, groups;

	j->ranks = 2 * MEMBERS;
	for (i = 0; i < j->ranks; i++)
		j->log[i] = ana_collective_log_new(1 << 20, NULL);
	for (n = 0; n < PACES; n++) {
		int64_t start[2 * MEMBERS], last[2] = { 0 }, later[2];

		for (i = 0; i < j->ranks; i++) {
			uint32_t node = i / MEMBERS;

			start[i] = 3000000 * (int64_t)(n + 1) + (int64_t)(t_random(&seed) % 20000);
			start[i] += i == 3 && n % 5 == 0 ? 300000 : 0;
			last[node] = start[i] > last[node] ? start[i] : last[node];
		}
		if (one)
			last[0] = last[1] = last[0] > last[1] ? last[0] : last[1];
		for (i = 0; i < 2; i++)
			later[i] = last[i] + 500000 + (int64_t)(t_random(&seed) % 60000);
		for (i = 0; i < j->ranks; i++)
			ana_collective_log_begin(j->log[i], 0, i, 7, 1, REDUCE, start[i],
						 later[i / MEMBERS] +
							 (int64_t)(t_random(&seed) % 2000));
	}
	for (i = 0; i < j->ranks; i++)
		REQUIRE(!ana_collective_log_finish(j->log[i]));
	REQUIRE(!ana_groups_learn(&j->g, j->log, j->ranks, &align, 0));
	groups = j->g.kins.count;
	*members = groups ? j->g.kins.kin[0].lanes : 0;
	end(j);
	return groups;
}

static void test_groups_over_nodes(void)
{
	uint64_t seed;
	uint32_t members;

	for (seed = 1; seed <= 20; seed++) {
		EXPECT_UINT(groups_of_nodes(true, seed, &members), 1);
		EXPECT_UINT(members, 2 * MEMBERS);
		EXPECT_UINT(groups_of_nodes(false, seed, &members), 2);
		EXPECT_UINT(members, MEMBERS);
	}
}

/* CPU time for a rank of @groups groups that end at once. */
static double cost_of_rank(uint32_t groups, int times)
{
	struct job *j = begin(groups);
	clock_t before = clock();
	double cost;
	bool whole;
	int i;

	EXPECT_UINT(j->g.groups, groups);
	for (i = 0; i < times; i++)
		EXPECT_UINT(take_all(j, UINT32_MAX, &whole), groups);
	cost = (double)(clock() - before) / times / j->ranks;
	end(j);
	return cost;
}

/* 32 times the groups: where each search began anew a rank cost 170 times as much. */
static void test_cost_follows_ranks(void)
{
	double few = cost_of_rank(8, 2000), many = cost_of_rank(256, 10);

	printf("%.2f and %.2f us per rank\n", few, many);
	EXPECT(many < 40 * few);
}

int main(void)
{
	return RUN(test_at_once, test_some_are_missing, test_groups_that_keep_pace,
		   test_groups_that_are_told, test_lost_records, test_groups_over_nodes,
		   test_cost_follows_ranks);
}
