/* SPDX-License-Identifier: Apache-2.0 */
/* Who is late more often than chance allows, and who is not. */
#include "analysis/ranks/straggler_test.h"
#include "harness.h"

#define STEP 1000000

static const uint32_t four[] = { 0, 1, 2, 3 };

static void test_stable(void)
{
	struct ana_straggler_test s[4] = { 0 };
	int64_t i;

	for (i = 0; i < 100; i++)
		ana_straggler_test_add(s, four, 4, 2, STEP / 50, i * STEP, STEP);
	ana_straggler_test_decide(s, 4, 4, 100 * STEP);
	EXPECT_INT(s[2].verdict, ANA_CULPRIT_STABLE);
	EXPECT_INT(s[0].verdict, ANA_CULPRIT_NONE);
}

static void test_two(void)
{
	struct ana_straggler_test s[4] = { 0 };
	int64_t i;

	for (i = 0; i < 100; i++) {
		ana_straggler_test_add(s, four, 4, 1, STEP / 50, i * STEP, STEP);
		ana_straggler_test_add(s, four, 4, 2, STEP / 50, i * STEP, STEP);
	}
	ana_straggler_test_decide(s, 4, 4, 100 * STEP);
	EXPECT_INT(s[1].verdict, ANA_CULPRIT_STABLE);
	EXPECT_INT(s[2].verdict, ANA_CULPRIT_STABLE);
	EXPECT_INT(s[3].verdict, ANA_CULPRIT_NONE);
}

static void test_rotating(void)
{
	struct ana_straggler_test s[4] = { 0 };
	int64_t i;

	for (i = 0; i < 100; i++)
		ana_straggler_test_add(s, four, 4, (uint32_t)(i % 4), STEP / 20, i * STEP, STEP);
	ana_straggler_test_decide(s, 4, 4, 100 * STEP);
	for (i = 0; i < 4; i++)
		EXPECT_INT(s[i].verdict, ANA_CULPRIT_ROTATING);
}

/* Late each time in its large group; in a small one both are by turns, which hides that. */
static void test_in_one_group(void)
{
	static const uint32_t two[] = { 2, 3 };
	struct ana_straggler_test all[4] = { 0 }, group[4] = { 0 };
	int64_t i;

	for (i = 0; i < 40; i++) {
		ana_straggler_test_add(all, two, 2, 2, STEP / 50, i * STEP, STEP);
		ana_straggler_test_add(all, two, 2, 3, STEP / 50, i * STEP, STEP);
		ana_straggler_test_add(all, two, 2, 3, STEP / 50, i * STEP + STEP / 2, STEP);
		if (i >= 20)
			continue;
		ana_straggler_test_add(all, four, 4, 2, STEP / 50, i * STEP + STEP / 2, STEP);
		ana_straggler_test_add(group, NULL, 4, 2, STEP / 50, i * STEP + STEP / 2, STEP);
	}
	EXPECT(!ana_straggler_test_stable(&all[2], 4, 40 * STEP));
	EXPECT(ana_straggler_test_stable(&group[2], 4, 40 * STEP));
	all[2].verdict = ANA_CULPRIT_STABLE;
	ana_straggler_test_decide(all, 4, 4, 40 * STEP);
	EXPECT_INT(all[2].verdict, ANA_CULPRIT_STABLE);
	EXPECT(all[3].verdict != ANA_CULPRIT_STABLE);
}

/* Chance: in 400 runs of noise nobody is named, also where the noise is large. */
static void test_chance(void)
{
	uint64_t seed = 11;
	int run, i;

	for (run = 0; run < 400; run++) {
		struct ana_straggler_test s[4] = { 0 };

		for (i = 0; i < 200; i++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			ana_straggler_test_add(s, four, 4, (uint32_t)(seed >> 62), STEP / 100,
					       i * STEP, STEP);
		}
		ana_straggler_test_decide(s, 4, 4, 200 * STEP);
		for (i = 0; i < 4; i++)
			EXPECT(s[i].verdict != ANA_CULPRIT_STABLE);
	}
}

/* Late in many steps, but by too little of the time to matter. */
static void test_too_little(void)
{
	struct ana_straggler_test s[4] = { 0 };
	int64_t i;

	for (i = 0; i < 20; i++)
		ana_straggler_test_add(s, four, 4, 2, STEP / 50, i * STEP, STEP);
	ana_straggler_test_decide(s, 4, 4, INT64_C(1000) * STEP);
	EXPECT_INT(s[2].verdict, ANA_CULPRIT_NONE);
}

/* One event per half step: buckets of one backward pass are no independent proofs. */
static void test_once_per_step(void)
{
	struct ana_straggler_test s[4] = { 0 };
	int64_t i;

	for (i = 0; i < 25; i++)
		ana_straggler_test_add(s, four, 4, 2, STEP / 50, i * STEP / 100, STEP);
	EXPECT_UINT(s[2].events, 1);
}

static void test_median(void)
{
	struct ana_lateness l = { 0 };
	int64_t i;

	EXPECT_INT(ana_lateness_median(&l), 0);
	for (i = 0; i < 100001; i++)
		EXPECT_INT(ana_lateness_add(&l, i), 0);
	EXPECT(ana_lateness_median(&l) > 49000 && ana_lateness_median(&l) < 51000);
	ana_lateness_fini(&l);
}

int main(void)
{
	return RUN(test_stable, test_two, test_rotating, test_in_one_group, test_chance,
		   test_too_little, test_once_per_step, test_median);
}
