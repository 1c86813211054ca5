/* SPDX-License-Identifier: Apache-2.0 */
/* What held a GPU up, along whom it waited for. */
#include "analysis/ranks/path.h"
#include "harness.h"

#define SLEPT ANA_HOST_UNKNOWN
#define LEAST 10

static struct ana_skew_shares shares;

static void sleeps(struct ana_paths *p, uint32_t gpu, int64_t cum[ANA_CLASSES], int64_t ns)
{
	cum[SLEPT] += ns;
	ana_paths_arrive(p, gpu, cum);
}

static int64_t weight_of(const struct ana_paths *p, uint32_t late, uint32_t waiting)
{
	ana_paths_compare(p, late, waiting, &shares);
	return (int64_t)shares.total;
}

/* 0 waits for 1, which slept, and 2 for 0: that is 1's, too. */
static void test_chain(void)
{
	struct ana_paths *p = ana_paths_new(3, LEAST);
	int64_t cum[ANA_CLASSES] = { 0 };

	sleeps(p, 1, cum, 1000);
	EXPECT_INT(weight_of(p, 1, 0), 1000);
	ana_paths_follow(p, 0, 1);
	EXPECT_INT(weight_of(p, 1, 0), 0);
	EXPECT_INT(weight_of(p, 0, 2), 1000);
	EXPECT_UINT(shares.at[0].culprit, 1);
	EXPECT_INT(shares.at[0].c, SLEPT);
	ana_paths_free(p);
}

/* 0 had enough to do to wait only at last: the rest still lies before it where it waits again. */
static void test_waited_less(void)
{
	struct ana_paths *p = ana_paths_new(3, LEAST);
	int64_t cum[ANA_CLASSES] = { 0 };

	sleeps(p, 1, cum, 1000);
	ana_paths_follow_pair(p, 0, 1, 150);
	EXPECT_INT(weight_of(p, 0, 2), 150);
	EXPECT_UINT(shares.at[0].culprit, 1);
	EXPECT_INT(weight_of(p, 1, 0), 850);
	ana_paths_follow_pair(p, 0, 1, 5000); /* and computing, which is on no path */
	EXPECT_INT(weight_of(p, 1, 0), 0);
	EXPECT_INT(weight_of(p, 0, 2), 1000);
	ana_paths_free(p);
}

/* Less than is kept is no reason to leave the other's path. */
static void test_little(void)
{
	struct ana_paths *p = ana_paths_new(2, LEAST);
	int64_t cum[ANA_CLASSES] = { 0 };

	sleeps(p, 1, cum, 1000);
	ana_paths_follow_pair(p, 0, 1, 1000 - LEAST);
	EXPECT_INT(weight_of(p, 1, 0), 0);
	ana_paths_free(p);
}

int main(void)
{
	return RUN(test_chain, test_waited_less, test_little);
}
