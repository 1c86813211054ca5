/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Line tables of all kinds, made by hand from their descriptions, and bytes that are none. What
 * Pythons that are here write is compared with their own reading in timing/test_pystack.py.
 */
#include "harness.h"
#include "python/pyline.h"

#define LINE(kind, table, lasti) prof_pyline(PROF_PYLINES_##kind, table, sizeof(table), 10, lasti)

static void test_lnotab(void)
{
	/* bytes 0-5: line 10; 6-55: 11; 56-: back to 8; 56 + 255 + 1: 8 + 127 + 73 */
	static const uint8_t t[] = { 6, 1, 50, 0xfd, 255, 0, 1, 127, 0, 73 };

	EXPECT_INT(LINE(LNOTAB, t, -1), 10);
	EXPECT_INT(LINE(LNOTAB, t, 0), 10);
	EXPECT_INT(LINE(LNOTAB, t, 4), 10);
	EXPECT_INT(LINE(LNOTAB, t, 6), 11);
	EXPECT_INT(LINE(LNOTAB, t, 54), 11);
	EXPECT_INT(LINE(LNOTAB, t, 56), 8);
	EXPECT_INT(LINE(LNOTAB, t, 310), 8);
	EXPECT_INT(LINE(LNOTAB, t, 312), 208);
	EXPECT_INT(LINE(LNOTAB, t, 1 << 20), 208);
}

static void test_pairs(void)
{
	/* 0-3: 10, 4-5: no line, 6-9: 13, 10-11: 3; lines of an empty range count */
	static const uint8_t t[] = { 4, 0, 2, 0x80, 4, 3, 0, 0xf0, 2, 6, 254, 0 };

	EXPECT_INT(LINE(PAIRS, t, -2), 10);
	EXPECT_INT(LINE(PAIRS, t, 0), 10);
	EXPECT_INT(LINE(PAIRS, t, 2), 10);
	EXPECT_INT(LINE(PAIRS, t, 4), 0);
	EXPECT_INT(LINE(PAIRS, t, 6), 13);
	EXPECT_INT(LINE(PAIRS, t, 10), 3);
	EXPECT_INT(LINE(PAIRS, t, 12), 3);
	EXPECT_INT(LINE(PAIRS, t, 266), 0);
}

/* Head of an entry: so many units of two bytes, this code. */
#define ENTRY(code, units) (0x80 | (code) << 3 | ((units)-1))

static void test_locations(void)
{
	static const uint8_t t[] = {
		ENTRY(15, 1), /* 0: none */
		ENTRY(14, 2), 4,  0, 0, 0, /* 2-4: long, +2 */
		ENTRY(10, 1), 8,  9, /* 6: same line, columns */
		ENTRY(12, 1), 8,  9, /* 8: +2 */
		ENTRY(13, 8), 11, /* 10-24: no columns, -5 */
		ENTRY(3, 1),  70, /* 26: short, same line */
		ENTRY(14, 1), 64, 2, 0, 0, 0, /* 28: long, +64: 128 = 0 | 2 << 6 */
	};

	EXPECT_INT(LINE(LOCATIONS, t, -2), 10);
	EXPECT_INT(LINE(LOCATIONS, t, 0), 0);
	EXPECT_INT(LINE(LOCATIONS, t, 2), 12);
	EXPECT_INT(LINE(LOCATIONS, t, 4), 12);
	EXPECT_INT(LINE(LOCATIONS, t, 6), 12);
	EXPECT_INT(LINE(LOCATIONS, t, 8), 14);
	EXPECT_INT(LINE(LOCATIONS, t, 10), 9);
	EXPECT_INT(LINE(LOCATIONS, t, 24), 9);
	EXPECT_INT(LINE(LOCATIONS, t, 26), 9);
	EXPECT_INT(LINE(LOCATIONS, t, 28), 73);
	EXPECT_INT(LINE(LOCATIONS, t, 30), 0);
}

/* Nothing to assert but an end without a fault, which the sanitizers watch. */
static void test_random_bytes(void)
{
	uint64_t seed = t_seed(1);
	uint32_t sum = 0;
	size_t i, k;

	for (i = 0; i < 20000; i++) {
		size_t n = t_random(&seed) % 40;
		uint8_t *t = malloc(n ? n : 1);

		REQUIRE(t);
		for (k = 0; k < n; k++)
			t[k] = (uint8_t)t_random(&seed);
		for (k = 0; k < 3; k++)
			sum += prof_pyline((enum prof_pylines)k, t, n, 1,
					   (int64_t)(t_random(&seed) % 400) - 4);
		free(t);
	}
	EXPECT(sum > 0);
}

int main(void)
{
	return RUN(test_lnotab, test_pairs, test_locations, test_random_bytes);
}
