/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic of estimates: to the nanosecond, and at its ends. */
#include "analysis/estimate/rake.h"
#include "harness.h"

#define PART 500000 /* half, in millionths */

static int64_t sum_of(const int64_t *v, size_t n)
{
	int64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += v[i];
	return sum;
}

static void fill(int64_t *v, int64_t with)
{
	for (int s = 0; s < ANA_STATES; s++)
		v[s] = with;
}

/* Where the shares already give it, nothing is moved. */
static void test_as_learnt(void)
{
	int64_t held[ANA_STATES] = { 0 }, share[ANA_STATES], got[ANA_STATES];

	fill(share, PART);
	held[ANA_STATE_WAIT] = held[ANA_STATE_CPU] = 1000000;
	share[ANA_STATE_WAIT] = 900000;
	share[ANA_STATE_CPU] = 200000;
	ana_rake(held, share, 1100000, got);
	EXPECT_INT(sum_of(got, ANA_STATES), 1100000);
	EXPECT(got[ANA_STATE_WAIT] >= 899990 && got[ANA_STATE_WAIT] <= 900010);
	EXPECT(got[ANA_STATE_CPU] >= 199990 && got[ANA_STATE_CPU] <= 200010);
}

/* All is idle, nothing is, and all but one nanosecond: whatever the shares say. */
static void test_ends(void)
{
	const int64_t whole = INT64_C(1) << 40;
	int64_t held[ANA_STATES], share[ANA_STATES], got[ANA_STATES];

	fill(held, whole);
	fill(share, 1000);
	share[3] = 999000;
	ana_rake(held, share, 0, got);
	EXPECT_INT(sum_of(got, ANA_STATES), 0);
	ana_rake(held, share, whole * ANA_STATES, got);
	for (int s = 0; s < ANA_STATES; s++)
		EXPECT_INT(got[s], whole);
	ana_rake(held, share, whole * ANA_STATES - 1, got);
	EXPECT_INT(sum_of(got, ANA_STATES), whole * ANA_STATES - 1);
	for (int s = 0; s < ANA_STATES; s++)
		EXPECT(got[s] >= 0 && got[s] <= whole);
	fill(held, 0);
	ana_rake(held, share, 0, got);
	EXPECT_INT(sum_of(got, ANA_STATES), 0);
}

/* The most that a clock can hold, in one state. */
static void test_large(void)
{
	int64_t held[ANA_STATES] = { 0 }, share[ANA_STATES], got[ANA_STATES];

	fill(share, 999000);
	held[0] = INT64_C(1) << 61;
	ana_rake(held, share, held[0] / 3, got);
	EXPECT_INT(got[0], held[0] / 3);
}

static void test_apportion(void)
{
	const int64_t weight[] = { 1, 0, 1, 1 }, large[] = { INT64_C(1) << 61, 1 };
	int64_t part[4];

	ana_apportion(5, weight, 4, part);
	EXPECT_INT(part[0], 2);
	EXPECT_INT(part[1], 0);
	EXPECT_INT(part[2], 2);
	EXPECT_INT(part[3], 1);
	ana_apportion(INT64_C(1) << 61, large, 2, part);
	EXPECT_INT(part[0] + part[1], INT64_C(1) << 61);
	EXPECT(part[1] <= 1);
}

int main(void)
{
	return RUN(test_as_learnt, test_ends, test_large, test_apportion);
}
