/* SPDX-License-Identifier: Apache-2.0 */
/* Which sends and receives are an all-to-all's: who waits for all, and not who keeps pace. */
#include "ranks_sends.h"

struct job {
	struct sends s;
	uint32_t all, pairs; /* told, */
	size_t members; /* of the last all-to-all */
	bool sends; /* all are */
};

static struct job *begin(uint32_t ranks)
{
	struct job *j = calloc(1, sizeof(*j));

	sends_begin(&j->s, ranks);
	j->sends = true;
	return j;
}

static int64_t below(struct job *j, uint64_t n)
{
	return sends_below(&j->s, n);
}

/* @n ranks from @first on come within 20 us of @at, and leave when those they wait for came. */
static void meet(struct job *j, uint32_t stream, uint32_t first, uint32_t n, int64_t at,
		 bool (*waits)(uint32_t a, uint32_t b, uint32_t n))
{
	int64_t came[RANKS], end;
	uint32_t i, k;

	for (i = 0; i < n; i++)
		came[i] = at + below(j, 20000);
	for (i = 0; i < n; i++) {
		end = came[i];
		for (k = 0; k < n; k++)
			end = waits(i, k, n) && came[k] > end ? came[k] : end;
		end += 60000 + below(j, 2000);
		ana_collective_log_begin(j->s.log[first + i], 0, first + i, stream, 1, SEND,
					 came[i], end);
	}
}

static bool for_all(uint32_t a, uint32_t b, uint32_t n)
{
	return a < n && b < n;
}

static bool for_its_pair(uint32_t a, uint32_t b, uint32_t n)
{
	return a % (n / 2) == b % (n / 2);
}

static bool for_neighbours(uint32_t a, uint32_t b, uint32_t n)
{
	return (a + 1) % n == b || (b + 1) % n == a;
}

static void tell_all(void *arg, struct ana_arrival *const *member, size_t n)
{
	struct job *j = arg;

	j->all++;
	j->members = n;
	for (size_t i = 0; i < n; i++)
		j->sends &= member[i]->send;
}

static void tell_pair(void *arg, struct ana_arrival *const member[2])
{
	struct job *j = arg;

	j->pairs++;
	j->sends &= member[0]->send && member[1]->send;
}

static void end(struct job *j)
{
	struct ana_match_user user = { .cluster = tell_all, .pair = tell_pair, .arg = j };

	sends_match(&j->s, ANA_MATCH_SENDS | ANA_MATCH_COLLECTIVES, &user);
	EXPECT(j->sends);
}

static void job_free(struct job *j)
{
	sends_fini(&j->s);
	free(j);
}

static void test_all(void)
{
	static const uint32_t ranks[] = { 3, 4, 8, 16 };
	int64_t n;
	size_t i;

	for (i = 0; i < sizeof(ranks) / sizeof(ranks[0]); i++) {
		struct job *j = begin(ranks[i]);

		for (n = 1; n <= TIMES; n++)
			meet(j, 22, 0, ranks[i], n * 1000000, for_all);
		end(j);
		EXPECT_UINT(j->all, TIMES);
		EXPECT_UINT(j->members, ranks[i]);
		EXPECT_UINT(j->pairs, 0);
		EXPECT_UINT(j->s.g.groups, 1);
		EXPECT(!j->s.g.group[0].sends);
		EXPECT_UINT(j->s.g.group[0].gpus, ranks[i]);
		job_free(j);
	}
}

/* Two side by side that drift against each other by up to 300 us. */
static void test_two(void)
{
	struct job *j = begin(16);
	int64_t n;

	for (n = 1; n <= TIMES; n++) {
		meet(j, 22, 0, 8, n * 1000000 + below(j, 300000), for_all);
		meet(j, 22, 8, 8, n * 1000000 + below(j, 300000), for_all);
	}
	end(j);
	EXPECT_UINT(j->all, 2 * TIMES);
	EXPECT_UINT(j->members, 8);
	EXPECT_UINT(j->pairs, 0);
	EXPECT_UINT(j->s.g.groups, 2);
	job_free(j);
}

/* Stages of tensor siblings that keep pace, and rings: all end together, and none waits for all. */
static void test_keep_pace(void)
{
	static const uint32_t ranks[] = { 4, 8, 16 };
	int64_t n;
	size_t i;

	for (i = 0; i < sizeof(ranks) / sizeof(ranks[0]); i++) {
		struct job *pairs = begin(ranks[i]), *ring = begin(ranks[i]);

		for (n = 1; n <= TIMES; n++) {
			meet(pairs, 22, 0, ranks[i], n * 1000000, for_its_pair);
			meet(ring, 22, 0, ranks[i], n * 1000000, for_neighbours);
		}
		end(pairs);
		EXPECT_UINT(pairs->pairs, ranks[i] / 2 * TIMES);
		EXPECT_UINT(pairs->all, 0);
		end(ring);
		EXPECT_UINT(ring->all, 0);
		job_free(pairs);
		job_free(ring);
	}
}

/* Of a middle stage's siblings, who receive from the stage before and the one behind by turns. */
static void test_receivers(void)
{
	struct job *j = begin(12);
	int64_t n;
	uint32_t i;

	for (n = 1; n <= TIMES; n++)
		for (i = 0; i < 4; i++) {
			uint32_t from = n & 1 ? i : 8 + i;
			int64_t end = n * 1000000 + below(j, 8000);
			int64_t came = end - 60000 - below(j, 100000);

			ana_collective_log_begin(j->s.log[4 + i], 0, 4 + i, 22, 1, SEND, came,
						 end + below(j, 2000));
			ana_collective_log_begin(j->s.log[from], 0, from, 23, 1, SEND, end - 50000,
						 end + below(j, 2000));
		}
	end(j);
	EXPECT_UINT(j->all, 0);
	EXPECT_UINT(j->pairs, 4 * TIMES);
	job_free(j);
}

int main(void)
{
	return RUN(test_all, test_two, test_keep_pace, test_receivers);
}
