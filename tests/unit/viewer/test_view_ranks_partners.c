/* SPDX-License-Identifier: Apache-2.0 */
/* Whose send a receive is: told by who ends together, whoever keeps pace with them. */
#include "ranks_sends.h"

struct job {
	struct sends s;
	uint32_t told; /* pairs, */
	uint32_t of[RANKS][RANKS]; /* of whom */
	int64_t apart_ns; /* the most */
};

static struct job *begin(uint32_t ranks)
{
	struct job *j = calloc(1, sizeof(*j));

	sends_begin(&j->s, ranks);
	return j;
}

static int64_t below(struct job *j, uint64_t n)
{
	return sends_below(&j->s, n);
}

/* A send or receive of the rank that ends at @end or up to 2 us later. */
static void send(struct job *j, uint32_t rank, int64_t end)
{
	end += below(j, 2000);
	ana_collective_log_begin(j->s.log[rank], 0, rank, 22, 1, SEND, end - 200000, end);
}

static void tell(void *arg, struct ana_arrival *const member[2])
{
	uint32_t a = member[0]->gpu, b = member[1]->gpu;
	struct job *j = arg;
	int64_t apart = member[1]->common_end - member[0]->common_end;

	j->told++;
	j->of[a < b ? a : b][a < b ? b : a]++;
	j->apart_ns = apart > j->apart_ns ? apart : j->apart_ns;
	EXPECT(j->s.g.group[ana_groups_of_pair(&j->s.g, member)].sends);
}

static void end(struct job *j)
{
	struct ana_match_user user = { .pair = tell, .arg = j };

	sends_match(&j->s, ANA_MATCH_SENDS, &user);
}

static void job_free(struct job *j)
{
	sends_fini(&j->s);
	free(j);
}

/* Two stages of eight that are kept together by their collectives: each sends to its own one. */
static void test_siblings(void)
{
	struct job *j = begin(16);
	uint32_t i, n;

	for (n = 0; n < TIMES; n++)
		for (i = 0; i < 8; i++) {
			int64_t at = 1000000 * (int64_t)(n + 1) + below(j, 8000);

			send(j, i, at);
			send(j, 8 + i, at);
		}
	end(j);
	EXPECT_UINT(j->s.g.groups, 8);
	EXPECT_UINT(j->told, 8 * TIMES);
	for (i = 0; i < 8; i++)
		EXPECT_UINT(j->of[i][8 + i], TIMES);
	EXPECT(j->apart_ns <= 2000);
	job_free(j);
}

/* A stage on one stream meets the one before and the one behind; some records are lost. */
static void test_by_turns(void)
{
	struct job *j = begin(4);
	uint32_t i, n, lost = 0;

	for (n = 0; n < TIMES; n++)
		for (i = 0; i < 3; i++) {
			int64_t at = 1000000 * (int64_t)(n + 1) + 250000 * (int64_t)i;

			send(j, i, at);
			if (i == 1 && n % 20 == 7)
				lost++;
			else
				send(j, i + 1, at);
		}
	end(j);
	EXPECT_UINT(j->s.g.groups, 3);
	EXPECT_UINT(j->told, 3 * TIMES - lost);
	EXPECT_UINT(j->of[0][1], TIMES);
	EXPECT_UINT(j->of[1][2], TIMES - lost);
	EXPECT_UINT(j->of[2][3], TIMES);
	job_free(j);
}

/* Who sends into a buffer is gone before the other comes; and who ends near another by chance. */
static void test_strangers(void)
{
	struct job *j = begin(4);
	uint32_t n;

	for (n = 0; n < TIMES; n++) {
		int64_t at = 1000000 * (int64_t)(n + 1);

		send(j, 0, at);
		send(j, 1, at + 300000 + below(j, 100000));
		send(j, 2, at + below(j, 800000));
		send(j, 3, at + below(j, 800000));
	}
	end(j);
	EXPECT_UINT(j->s.g.groups, 0);
	EXPECT_UINT(j->told, 0);
	job_free(j);
}

int main(void)
{
	return RUN(test_siblings, test_by_turns, test_strangers);
}
