/* SPDX-License-Identifier: Apache-2.0 */
/* Stamps of another client's clock: learned, carried, changed again. */
#include "timebase.h"

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
	EXPECT(llabs(prof_timebase_carry(cycles(ns, ghz)) - (T0 + ns)) <= tolerance);
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
	EXPECT_INT(prof_timebase_carry(EPOCH), 0);
	EXPECT_INT(look(T0 + now + SECOND / 2), PROF_TIMEBASE_OWN); /* a step: no other clock */
}

static void test_carried(void)
{
	int i;

	begin();
	flush(0);
	EXPECT_INT(flush(2.1), PROF_TIMEBASE_CHANGED);
	EXPECT_INT(prof_timebase_carry(cycles(now, 2.1)), 0); /* one point is no line */
	EXPECT_INT(flush(2.1), PROF_TIMEBASE_CHANGED);
	for (i = 0; i < 200; i++) {
		EXPECT_INT(flush(2.1), PROF_TIMEBASE_CARRIED);
		expect_carried(now - SECOND / 3, 2.1, 2);
		expect_carried(now, 2.1, 2);
		expect_carried(now + SECOND / 2, 2.1, 100);
	}
	EXPECT_INT(prof_timebase_carry(0), 0);
	EXPECT_INT(prof_timebase_carry(-4), 0);
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
	EXPECT_INT(look(cycles(now - 250000, 2.0)), PROF_TIMEBASE_CARRIED);
	at = prof_timebase_carry(cycles(now - 250000 - SECOND / 4, 2.0));
	EXPECT(llabs(at - (T0 + now - SECOND / 4 - 125000)) < 10);
	for (i = 0; i < 1000; i++) { /* later stays later */
		at = prof_timebase_carry(cycles(now - 250000 - SECOND + i * SECOND / 900, 2.0));
		EXPECT(at > last);
		last = at;
	}
}

static void test_changes_again(void)
{
	begin();
	flush(2.1);
	flush(2.1);
	EXPECT_INT(flush(2.1), PROF_TIMEBASE_CARRIED);
	now += SECOND / 2;
	EXPECT_INT(look(77 * SECOND), PROF_TIMEBASE_CHANGED); /* ran backwards: another one */
	EXPECT_INT(prof_timebase_carry(77 * SECOND), 0);
	now += SECOND / 2;
	EXPECT_INT(look(78 * SECOND), PROF_TIMEBASE_CHANGED);
	now += SECOND / 2;
	EXPECT_INT(look(79 * SECOND), PROF_TIMEBASE_CARRIED);
	EXPECT_INT(prof_timebase_carry(79 * SECOND), T0 + now);
	EXPECT_INT(flush(0), PROF_TIMEBASE_CHANGED); /* and it is gone */
	EXPECT_INT(flush(0), PROF_TIMEBASE_OWN);
}

int main(void)
{
	return RUN(test_own, test_carried, test_rate_changes, test_changes_again);
}
