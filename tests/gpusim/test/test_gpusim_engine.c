/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of engines against a list of everything that was ever taken: what fits is free, also when
 * a line has forgotten or merged what it could not keep.
 */
#include "../engine.h"

#include "../clock.h"
#include "harness.h"

#define MANY 4000

struct taken {
	uint64_t start, end;
	int32_t owner;
};

static uint64_t seed = 20261120;
static struct sim_line line;
static struct taken all[MANY];
static int n_all;

static void reset(void)
{
	memset(&line, 0, sizeof line);
	n_all = 0;
}

static void take(uint64_t now, uint64_t start, uint64_t end, int32_t owner)
{
	sim_line_take(&line, now, start, end, owner);
	all[n_all++] = (struct taken){ start, end, owner };
}

/* How much of [start, end) is taken by owners other than `owner` (-1: by anybody). */
static uint64_t overlap(uint64_t start, uint64_t end, int32_t owner)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < n_all; i++) {
		uint64_t a = sim_max(start, all[i].start), b = end < all[i].end ? end : all[i].end;

		if (all[i].owner != owner && a < b)
			sum += b - a;
	}
	return sum;
}

static void test_empty(void)
{
	reset();
	EXPECT_UINT(sim_line_fit(&line, 500, 100), 500);
	EXPECT_UINT(sim_line_fit_owner(&line, 500, 100, 1), 500);
}

static void test_in_turn(void)
{
	reset();
	take(0, 1000, 2000, 1);
	EXPECT_UINT(sim_line_fit(&line, 500, 500), 500);
	EXPECT_UINT(sim_line_fit(&line, 500, 501), 2000);
	EXPECT_UINT(sim_line_fit(&line, 1500, 10), 2000);
	EXPECT_UINT(sim_line_fit(&line, 3000, 10), 3000);
	EXPECT_UINT(sim_line_fit_owner(&line, 1500, 10, 1), 1500);
	EXPECT_UINT(sim_line_fit_owner(&line, 1500, 10, 2), 2000);
}

static void test_hole(void)
{
	reset();
	take(0, 1000, 2000, 1);
	take(0, 100000, 200000, 1);
	EXPECT_UINT(line.n, 2);
	EXPECT_UINT(sim_line_fit(&line, 0, 50000), 2000);
	EXPECT_UINT(sim_line_fit(&line, 0, 99000), 200000);
	take(0, 2000, 100000, 1);
	EXPECT_UINT(line.n, 1);
}

static void test_open_end(void)
{
	reset();
	take(0, 1000, SIM_NEVER, 1);
	EXPECT_UINT(sim_line_fit(&line, 0, 1000), 0);
	EXPECT_UINT(sim_line_fit(&line, 2000, 10), SIM_NEVER);
	sim_line_close(&line, 1000, 5000, 1);
	EXPECT_UINT(sim_line_fit(&line, 2000, 10), 5000);
}

static void test_purge(void)
{
	reset();
	take(0, 1000, 2000, 1);
	take(0, 10000, 20000, 2);
	take(0, 30000, 40000, 1);
	sim_line_purge(&line, 1500, 1);
	EXPECT_UINT(sim_line_fit(&line, 1500, 8500), 1500);
	EXPECT_UINT(sim_line_fit(&line, 15000, 100000), 20000);
}

/* One engine: whatever owner, nothing overlaps. Time goes on while work is taken. */
static void test_random_slot(void)
{
	uint64_t now = 1000000;
	int i, round;

	for (round = 0; round < 20; round++) {
		reset();
		for (i = 0; i < MANY; i++) {
			uint64_t length = 1 + t_random(&seed) % 20000;
			uint64_t ready = now + t_random(&seed) % 3000000 - t_random(&seed) % 900000,
				 start;

			start = sim_line_fit(&line, ready, length);
			EXPECT(start >= ready);
			if (overlap(start, start + length, -1)) {
				T_FAIL("taken twice");
				return;
			}
			take(now, start, start + length, (int32_t)(t_random(&seed) % 3));
			EXPECT(line.n <= SIM_SEGS);
			now += t_random(&seed) % 4000;
		}
	}
}

/* Who owns the engine: intervals of one owner may overlap, those of two never do. */
static void test_random_owner(void)
{
	uint64_t now = 1000000;
	int i, round;

	for (round = 0; round < 20; round++) {
		reset();
		for (i = 0; i < MANY; i++) {
			int32_t owner = (int32_t)(t_random(&seed) % 3);
			uint64_t length = 1 + t_random(&seed) % 20000;
			uint64_t ready = now + t_random(&seed) % 1000000 - t_random(&seed) % 900000,
				 start;

			start = sim_line_fit_owner(&line, ready, length, owner);
			EXPECT(start >= ready);
			if (overlap(start, start + length, owner)) {
				T_FAIL("two owners at once");
				return;
			}
			take(now, start, start + length, owner);
			now += t_random(&seed) % 4000;
		}
	}
}

int main(void)
{
	return RUN(test_empty, test_in_turn, test_hole, test_open_end, test_purge, test_random_slot,
		   test_random_owner);
}
