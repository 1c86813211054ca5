/* SPDX-License-Identifier: Apache-2.0 */
/* Stamps of another client's clock: learned, carried, changed again. */
#include "cupti/timebase.h"

#include <stdlib.h>

#include "harness.h"

#define SECOND 1000000000ll
#define T0 (1790000000 * SECOND)
#define EPOCH 354999179926ll

static int64_t now;

/* Cycles of a clock of @ghz, at nanoseconds since T0. */
static int64_t cycles(int64_t ns, double ghz)
{
	return EPOCH + (int64_t)((double)ns * ghz);
}

static enum prof_timebase look(int64_t cupti)
{
	struct prof_triplet t = { .cupti_ns = cupti, .axis_ns = T0 + now };

	return prof_timebase_learn(&t);
}

static enum prof_timebase flush(double ghz)
{
	now += SECOND / 2;
	return look(ghz > 0 ? cycles(now, ghz) : T0 + now);
}

static void expect_carried(int64_t ns, double ghz, int64_t tolerance)
{
	EXPECT(llabs(prof_timebase_convert(cycles(ns, ghz)) - (T0 + ns)) <= tolerance);
}

static void begin(void)
{
	prof_timebase_reset();
	now = 0;
}

static void test_own(void)
{
	int i;

	begin();
	for (i = 0; i < 10; i++)
		EXPECT_INT(flush(0), PROF_TIMEBASE_OWN);
	EXPECT_INT(prof_timebase_convert(EPOCH), 0);
	EXPECT_INT(look(T0 + now + SECOND / 2), PROF_TIMEBASE_OWN); /* a step: no other clock */
}

static void test_carried(void)
{
	int i;

	begin();
	flush(0);
	EXPECT_INT(flush(2.1), PROF_TIMEBASE_CHANGED);
	EXPECT_INT(prof_timebase_convert(cycles(now, 2.1)), 0); /* one point is no line */
	EXPECT_INT(flush(2.1), PROF_TIMEBASE_CHANGED);
	for (i = 0; i < 200; i++) {
		EXPECT_INT(flush(2.1), PROF_TIMEBASE_CONVERTED);
		expect_carried(now - SECOND / 3, 2.1, 2);
		expect_carried(now, 2.1, 2);
		expect_carried(now + SECOND / 2, 2.1, 100);
	}
	EXPECT_INT(prof_timebase_convert(0), 0);
	EXPECT_INT(prof_timebase_convert(-4), 0);
}

/* Time is adjusted while it lasts: what lies between two points follows it. */
static void test_rate_changes(void)
{
	int64_t at, last = 0;
	int i;

	begin();
	for (i = 0; i < 10; i++)
		flush(2.0);
	now += SECOND / 2 + 250000; /* 500 ppm */
	EXPECT_INT(look(cycles(now - 250000, 2.0)), PROF_TIMEBASE_CONVERTED);
	at = prof_timebase_convert(cycles(now - 250000 - SECOND / 4, 2.0));
	EXPECT(llabs(at - (T0 + now - SECOND / 4 - 125000)) < 10);
	for (i = 0; i < 1000; i++) { /* later stays later */
		at = prof_timebase_convert(cycles(now - 250000 - SECOND + i * SECOND / 900, 2.0));
		EXPECT(at > last);
		last = at;
	}
}

static void test_changes_again(void)
{
	begin();
	flush(2.1);
	flush(2.1);
	EXPECT_INT(flush(2.1), PROF_TIMEBASE_CONVERTED);
	now += SECOND / 2;
	EXPECT_INT(look(77 * SECOND), PROF_TIMEBASE_CHANGED); /* ran backwards: another one */
	EXPECT_INT(prof_timebase_convert(77 * SECOND), 0);
	now += SECOND / 2;
	EXPECT_INT(look(78 * SECOND), PROF_TIMEBASE_CHANGED);
	now += SECOND / 2;
	EXPECT_INT(look(79 * SECOND), PROF_TIMEBASE_CONVERTED);
	EXPECT_INT(prof_timebase_convert(79 * SECOND), T0 + now);
	EXPECT_INT(flush(0), PROF_TIMEBASE_CHANGED); /* and it is gone */
	EXPECT_INT(flush(0), PROF_TIMEBASE_OWN);
}

static uint64_t seed;

static int64_t draw(int64_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (int64_t)((seed >> 33) % (uint64_t)below);
}

/* A flush whose reading took @width and whose axis was read @late after CUPTI's clock. */
static enum prof_timebase flush_read(double ghz, int64_t width, int64_t late)
{
	struct prof_triplet t = { .after_ns = width };

	now += SECOND / 2;
	t.cupti_ns = cycles(now, ghz);
	t.axis_ns = T0 + now + late;
	return prof_timebase_learn(&t);
}

/* Readings are never exact: no stamp is farther off than they were. */
static void test_readings_are_late(void)
{
	int i, j;

	for (seed = 1; seed < 20; seed++) {
		begin();
		for (i = 0; i < 100; i++) {
			flush_read(2.1, 100, draw(100));
			for (j = 0; i > 2 && j < 20; j++) {
				int64_t back = draw(SECOND / 2), ahead = draw(SECOND / 2);

				expect_carried(now - back, 2.1, 102);
				expect_carried(now + ahead, 2.1, 302);
			}
		}
	}
}

/* A reading that something interrupted bends no line, and is taken where there is no other. */
static void test_interrupted_reading(void)
{
	int i;

	begin();
	for (i = 0; i < 6; i++)
		flush_read(2.1, 100, 50);
	EXPECT_INT(flush_read(2.1, 4000000, 3900000), PROF_TIMEBASE_CONVERTED);
	expect_carried(now - SECOND / 4, 2.1, 200);
	expect_carried(now + SECOND / 4, 2.1, 200);
	EXPECT_INT(flush_read(2.1, 100, 50), PROF_TIMEBASE_CONVERTED);
	expect_carried(now - SECOND * 3 / 4, 2.1, 200);
	for (i = 0; i < 60; i++)
		EXPECT_INT(flush_read(2.1, 4000000, 2000000), PROF_TIMEBASE_CONVERTED);
	expect_carried(now, 2.1, 4000000);
	EXPECT(llabs(prof_timebase_convert(cycles(now, 2.1)) - (T0 + now)) > 1000);
}

/* The trace's clock is slewed by up to 500 ppm, anew every few seconds. */
static void test_slewed(void)
{
	for (seed = 1; seed < 20; seed++) {
		int64_t foreign = EPOCH, axis = T0, ppm = 0, mid, step;
		int i;

		begin();
		for (i = 0; i < 300; i++) {
			struct prof_triplet t;
			enum prof_timebase base;

			if (i % 20 == 0)
				ppm = draw(1001) - 500;
			step = SECOND / 2 + (SECOND / 2) / 1000000 * ppm;
			foreign += 2 * (SECOND / 2);
			axis += step;
			t = (struct prof_triplet){ .cupti_ns = foreign, .axis_ns = axis };
			base = prof_timebase_learn(&t);
			EXPECT_INT(base, i < 2 ? PROF_TIMEBASE_CHANGED : PROF_TIMEBASE_CONVERTED);
			if (i < 2)
				continue;
			mid = prof_timebase_convert(foreign - SECOND / 2);
			EXPECT(llabs(mid - (axis - step / 2)) <= 2);
			/* What comes later is off for as long as it takes to see the new rate. */
			if (i % 20 >= 5)
				EXPECT(llabs(prof_timebase_convert(foreign + SECOND) -
					     (axis + step)) <= 2);
		}
	}
}

/* The trace's clock is set anew: no line leads across, neither now nor later. */
static void test_stepped(void)
{
	static const int64_t steps[] = { 900000000, -900000000, 300000000, -3000000, 20000000 };
	size_t k;
	int i;

	for (k = 0; k < sizeof(steps) / sizeof(steps[0]); k++) {
		struct prof_triplet t;
		int64_t axis = T0 + steps[k];

		begin();
		for (i = 0; i < 30; i++)
			flush(2.1);
		for (i = 0; i < 30; i++) {
			now += SECOND / 2;
			t = (struct prof_triplet){ .cupti_ns = cycles(now, 2.1),
						   .axis_ns = axis + now };
			EXPECT_INT(prof_timebase_learn(&t),
				   i < 2 ? PROF_TIMEBASE_CHANGED : PROF_TIMEBASE_CONVERTED);
			if (i < 1)
				continue;
			EXPECT(llabs(prof_timebase_convert(cycles(now - SECOND / 4, 2.1)) -
				     (axis + now - SECOND / 4)) <= 2);
			EXPECT(llabs(prof_timebase_convert(cycles(now + SECOND / 4, 2.1)) -
				     (axis + now + SECOND / 4)) <= 100);
		}
	}
}

/* The other clock is gone: what it had stamped by then is carried still, later nothing. */
static void test_gone(void)
{
	int i, round;

	begin();
	for (round = 0; round < 3; round++) {
		for (i = 0; i < 10; i++)
			EXPECT_INT(flush(2.1),
				   i < 2 ? PROF_TIMEBASE_CHANGED : PROF_TIMEBASE_CONVERTED);
		EXPECT_INT(flush(0), PROF_TIMEBASE_CHANGED);
		expect_carried(now - SECOND / 3, 2.1, 100);
		EXPECT_INT(flush(0), PROF_TIMEBASE_OWN);
		EXPECT_INT(prof_timebase_convert(cycles(now, 2.1)), 0);
		EXPECT_INT(flush(0), PROF_TIMEBASE_OWN);
	}
	/* Gone for one flush, and another one came. */
	for (i = 0; i < 10; i++)
		flush(2.1);
	flush(0);
	EXPECT_INT(flush(0.37), PROF_TIMEBASE_CHANGED);
	EXPECT_INT(prof_timebase_convert(cycles(now, 0.37)), 0);
	flush(0.37);
	EXPECT_INT(flush(0.37), PROF_TIMEBASE_CONVERTED);
	expect_carried(now - SECOND / 3, 0.37, 4);
}

/* Whoever asks in order gets no later stamp first, and equal ones for equal ones. */
static void test_in_order(void)
{
	for (seed = 1; seed < 10; seed++) {
		int64_t last = 0, at, stamp;
		int i;

		begin();
		for (i = 0; i < 70; i++)
			flush_read(2.1, 100, draw(100));
		stamp = cycles(now - 40 * SECOND, 2.1);
		for (i = 0; i < 200000; i++) {
			stamp += draw(SECOND / 1000);
			at = prof_timebase_convert(stamp);
			EXPECT(at >= last);
			last = at;
		}
		for (i = 0; i < 70; i++) { /* across each of the points */
			stamp = cycles(now - (int64_t)i * SECOND / 2, 2.1);
			EXPECT(prof_timebase_convert(stamp - 1) <= prof_timebase_convert(stamp));
			EXPECT(prof_timebase_convert(stamp) <= prof_timebase_convert(stamp + 1));
		}
	}
}

int main(void)
{
	return RUN(test_own, test_carried, test_rate_changes, test_changes_again,
		   test_readings_are_late, test_interrupted_reading, test_slewed, test_stepped,
		   test_gone, test_in_order);
}
