/* SPDX-License-Identifier: Apache-2.0 */
/* The set of stored frames, against a plain bitmap. */
#include "harness.h"

#include "store/seq_set.h"

#define NUMBERS 400

static void test_in_order(void)
{
	struct coll_seq_set s = { 0 };
	uint64_t i;

	for (i = 1; i <= 1000; i++) {
		EXPECT(!coll_seq_set_has(&s, i));
		coll_seq_set_add(&s, i);
	}
	EXPECT_UINT(s.top, 1000);
	EXPECT_UINT(s.ranges, 0);
}

static void test_gap_closes(void)
{
	struct coll_seq_set s = { 0 };

	coll_seq_set_add(&s, 1);
	coll_seq_set_add(&s, 5);
	coll_seq_set_add(&s, 3);
	coll_seq_set_add(&s, 4);
	EXPECT_UINT(s.top, 1);
	EXPECT_UINT(s.ranges, 1);
	coll_seq_set_add(&s, 2);
	EXPECT_UINT(s.top, 5);
	EXPECT_UINT(s.ranges, 0);
}

static void test_ends_of_the_range(void)
{
	struct coll_seq_set s = { 0 };

	coll_seq_set_add(&s, UINT64_MAX);
	coll_seq_set_add(&s, UINT64_MAX - 1);
	EXPECT(coll_seq_set_has(&s, UINT64_MAX));
	EXPECT(!coll_seq_set_has(&s, 1));
	coll_seq_set_add(&s, 1);
	EXPECT_UINT(s.top, 1);
}

/* Never claims what it was not told; knows all unless it had to forget. */
static void compare(const struct coll_seq_set *s, const bool *there, bool complete)
{
	uint64_t i, top = 0;

	for (i = 1; i < NUMBERS; i++) {
		if (coll_seq_set_has(s, i))
			EXPECT(there[i]);
		else if (complete)
			EXPECT(!there[i]);
	}
	while (top + 1 < NUMBERS && there[top + 1])
		top++;
	EXPECT(s->top <= top);
	if (complete)
		EXPECT_UINT(s->top, top);
}

static void test_random(void)
{
	uint64_t seed = t_seed(7), round;

	for (round = 0; round < 300; round++) {
		bool there[NUMBERS] = { false }, complete = true;
		struct coll_seq_set s = { 0 };
		int i, n = (int)(t_random(&seed) % 600);
		uint64_t spread = 1 + t_random(&seed) % (NUMBERS - 1);

		for (i = 0; i < n; i++) {
			uint64_t seq = 1 + t_random(&seed) % spread;
			unsigned int before = s.ranges;

			coll_seq_set_add(&s, seq);
			there[seq] = true;
			if (before == COLL_SEQ_SET_RANGES)
				complete = false;
		}
		compare(&s, there, complete);
	}
}

int main(void)
{
	return RUN(test_in_order, test_gap_closes, test_ends_of_the_range, test_random);
}
