/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows of full recording: where they are drawn, and what they may cost. The governor beside
 * them, against true costs, is test_prof_governor's.
 */
#include "cupti/windows.h"

#include "harness.h"
#include "wire/windows.h"

#define SECOND 1000000000ll
#define ROOM (WIRE_WINDOW_STRATUM_NS - WIRE_WINDOW_NS - WIRE_WINDOW_LATE_NS)
#define CELLS 20
#define DRAWS 20000

static struct prof_windows w;
static struct prof_windows_input in;

static void begin(uint64_t seed, uint64_t limit)
{
	prof_windows_init(&w, seed, limit);
	in = (struct prof_windows_input){ .now_ns = 77 * SECOND };
}

/* Half a second later, at what a window would cost. */
static bool look(uint64_t window_ns)
{
	bool open;

	in.ahead_ns = window_ns;
	open = prof_windows_feed(&w, &in);
	in.now_ns += SECOND / 2;
	if (open && window_ns != UINT64_MAX)
		in.drawn_ns += window_ns / 4;
	return open;
}

/* Chi-square of 20 cells: 43.8 is passed once in a thousand seeds; these are fixed. */
static void test_uniform(void)
{
	static const uint64_t seeds[] = { 0, 1, 2, 12345, UINT64_MAX };
	double chi, cell = (double)DRAWS / CELLS;
	uint32_t count[CELLS];
	size_t s;
	int64_t i;

	for (s = 0; s < sizeof(seeds) / sizeof(*seeds); s++) {
		memset(count, 0, sizeof(count));
		for (i = 0; i < DRAWS; i++) {
			int64_t at = wire_window_draw(seeds[s], i);

			EXPECT(at >= 0 && at < ROOM);
			count[at * CELLS / ROOM]++;
		}
		for (i = 0, chi = 0; i < CELLS; i++)
			chi += (count[i] - cell) * (count[i] - cell) / cell;
		EXPECT(chi < 43.8);
		EXPECT(chi > 4.9); /* nor too even for chance: as seldom */
	}
}

/* Neither do neighbours hang together: pairs fill all 25 cells alike (24 degrees: 51.2). */
static void test_pairs(void)
{
	double chi = 0, cell = (DRAWS - 1) / 25.0;
	uint32_t count[25] = { 0 };
	int64_t i;

	for (i = 1; i < DRAWS; i++)
		count[wire_window_draw(9, i - 1) * 5 / ROOM * 5 +
		      wire_window_draw(9, i) * 5 / ROOM]++;
	for (i = 0; i < 25; i++)
		chi += (count[i] - cell) * (count[i] - cell) / cell;
	EXPECT(chi < 51.2);
}

/* Cheap ones: one in each stratum, two seconds each, at the drawn moment or within a look of it. */
static void test_one_in_each(void)
{
	bool was = false, open;
	int64_t late;
	int i, looks = 0;

	begin(4711, 10000);
	for (i = 0; i < 2000; i++) {
		open = look(1000000);
		if (open && !was) {
			late = w.begin_ns - w.since_ns - w.stratum * WIRE_WINDOW_STRATUM_NS -
			       wire_window_draw(4711, w.stratum);
			EXPECT(late >= 0 && late < SECOND / 2);
		}
		looks += open;
		was = open;
	}
	EXPECT_UINT(w.begun, 100);
	EXPECT_INT(looks, 400);
}

static void test_none(void)
{
	int i;

	begin(3, 10000);
	for (i = 0; i < 2000; i++)
		EXPECT(!look(UINT64_MAX));
	EXPECT_INT(w.since_ns, 0);
	for (i = 0; i < 2000; i++) /* one would cost more than half of what five minutes may */
		EXPECT(!look(1510000000));
	EXPECT_UINT(w.begun, 0);
	EXPECT(w.since_ns > 0);
}

/* Dear ones are rare, and those that turn out dear end. */
static void test_earned(void)
{
	uint64_t by_look[4000], sum = 0, most = 0, before;
	int i;

	begin(3, 10000);
	for (i = 0; i < 4000; i++) {
		before = in.drawn_ns;
		look(260000000);
		by_look[i] = in.drawn_ns - before;
		sum += by_look[i] - (i >= 600 ? by_look[i - 600] : 0);
		most = sum > most ? sum : most;
	}
	EXPECT(w.begun >= 15 && w.begun <= 20); /* 2,000 s, one in 104 s */
	EXPECT(most <= 750000000 + 260000000);

	begin(3, 10000);
	while (!look(100000000))
		;
	in.drawn_ns += 1600000000;
	EXPECT(!look(100000000));
	for (i = 0; i < 600; i++)
		EXPECT(!look(100000000));
}

/* Launches stay, or a step up, while one is open: it ends. A clock that is set back opens none. */
static void test_ends(void)
{
	begin(5, 10000);
	while (!look(1000))
		;
	in.now_ns -= SECOND / 5 * 2;
	EXPECT(!look(UINT64_MAX));
	in.now_ns -= SECOND / 5 * 2;
	EXPECT(!look(1000)); /* its stratum has had one */
	in.now_ns -= 50 * SECOND;
	EXPECT(!look(1000));
	EXPECT_UINT(w.begun, 1);
}

int main(void)
{
	return RUN(test_uniform, test_pairs, test_one_in_each, test_none, test_earned, test_ends);
}
