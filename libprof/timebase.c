/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Points on which both clocks were read, and the lines between them.
 */
#include "timebase.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define POINTS 64u
#define FAR_NS 1000000000 /* a line that misses a new point by more belongs to another clock */
#define AHEAD 16u /* points that tell the rate beyond the last one */
#define RATE_MAX 1000.0 /* nanoseconds per tick, or ticks per nanosecond */

static struct {
	int64_t foreign[POINTS], axis[POINTS];
	unsigned int count, since; /* points kept; flushes since this clock came */
} tb;

void prof_timebase_reset(void)
{
	memset(&tb, 0, sizeof(tb));
}

/* On the line through points a and b. */
static int64_t on_line(int64_t stamp, unsigned int a, unsigned int b)
{
	double rate = (double)(tb.axis[b] - tb.axis[a]) / (double)(tb.foreign[b] - tb.foreign[a]);
	unsigned int near = stamp > tb.foreign[b] ? b : a;

	return tb.axis[near] + (int64_t)((double)(stamp - tb.foreign[near]) * rate);
}

int64_t prof_timebase_carry(int64_t stamp)
{
	unsigned int last = tb.count - 1, i = last;

	if (tb.count < 2 || stamp <= 0)
		return 0;
	if (stamp > tb.foreign[last])
		return on_line(stamp, last > AHEAD ? last - AHEAD : 0, last);
	while (i > 1 && tb.foreign[i - 1] > stamp)
		i--;
	return on_line(stamp, i - 1, i);
}

/* Can the next point belong to the clock of those before? */
static bool continues(const struct prof_triplet *t)
{
	int64_t ticks = t->cupti_ns - tb.foreign[tb.count - 1];
	int64_t passed = t->axis_ns - tb.axis[tb.count - 1];
	double rate;

	if (ticks <= 0 || passed <= 0)
		return false;
	rate = (double)passed / (double)ticks;
	if (rate > RATE_MAX || rate < 1 / RATE_MAX)
		return false;
	return tb.count < 2 || llabs(prof_timebase_carry(t->cupti_ns) - t->axis_ns) < FAR_NS;
}

static void add_point(const struct prof_triplet *t)
{
	if (tb.count == POINTS) {
		tb.count--;
		memmove(tb.foreign, tb.foreign + 1, tb.count * sizeof(tb.foreign[0]));
		memmove(tb.axis, tb.axis + 1, tb.count * sizeof(tb.axis[0]));
	}
	tb.foreign[tb.count] = t->cupti_ns;
	tb.axis[tb.count++] = t->axis_ns;
}

enum prof_timebase prof_timebase_learn(const struct prof_triplet *t)
{
	bool had = tb.count > 0;

	if (!prof_clock_foreign(t)) {
		prof_timebase_reset();
		return had ? PROF_TIMEBASE_CHANGED : PROF_TIMEBASE_OWN;
	}
	if (had && !continues(t))
		prof_timebase_reset();
	add_point(t);
	tb.since += tb.since < 3;
	/* What was read before the second point could not be carried. */
	return tb.since < 3 ? PROF_TIMEBASE_CHANGED : PROF_TIMEBASE_CARRIED;
}
