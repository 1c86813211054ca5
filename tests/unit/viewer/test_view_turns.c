/* SPDX-License-Identifier: Apache-2.0 */
/* Whose turn it is: in order of time, then of what else tells, then of process; in few looks. */
#include "analysis/walk/turns.h"
#include "harness.h"

#define PROCESSES 1000u
#define EACH 100

/* Each has its next a while after the last one, at a step of its own. */
static void test_order(void)
{
	int64_t next[PROCESSES] = { 0 }, last = INT64_MIN;
	uint32_t left[PROCESSES], i, before = 0;
	struct ana_turns t;
	uint64_t n = 0;

	REQUIRE(!ana_turns_init(&t, PROCESSES));
	EXPECT(ana_turns_at(&t) == INT64_MIN);
	for (i = 0; i < PROCESSES; i++)
		left[i] = EACH;
	while (t.count) {
		uint32_t p = t.turn[0].process;

		if (!left[p]) {
			ana_turns_end(&t);
		} else if (next[p] > ana_turns_at(&t)) {
			ana_turns_wait(&t, next[p], 0);
		} else {
			REQUIRE(next[p] > last || (next[p] == last && p >= before));
			last = next[p];
			before = p;
			next[p] += p % 7;
			left[p]--;
			n++;
		}
	}
	EXPECT_UINT(n, (uint64_t)PROCESSES * EACH);
	EXPECT(ana_turns_at(&t) == INT64_MAX);
	/* 2^10 processes: ten looks for each turn, and one more when it was too early */
	EXPECT(t.moved <= 2 * 10 * n);
	ana_turns_fini(&t);
}

static void test_same_time(void)
{
	struct ana_turns t;

	REQUIRE(!ana_turns_init(&t, 3));
	ana_turns_wait(&t, 5, 2); /* process 0 */
	ana_turns_wait(&t, 5, 1); /* 1 */
	ana_turns_wait(&t, 5, 2); /* 2 */
	EXPECT_UINT(t.turn[0].process, 1);
	ana_turns_end(&t);
	EXPECT_UINT(t.turn[0].process, 0);
	ana_turns_end(&t);
	EXPECT_UINT(t.turn[0].process, 2);
	ana_turns_end(&t);
	EXPECT_UINT(t.count, 0);
	ana_turns_fini(&t);
}

int main(void)
{
	return RUN(test_order, test_same_time);
}
