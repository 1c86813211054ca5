/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Points on which both clocks were read, and the lines between them.
 */
#include "timebase.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define POINTS 64u
#define FAR_NS 1000000 /* a line that misses a new point by more, and by more than a thousandth */
#define FAR_PART 1000 /* of the time, leads to no point of this clock: one of them was set anew */
#define AHEAD 4u /* points that tell the rate beyond the last one: clocks are slewed */
#define WIDE_NS 20000 /* a reading that took longer was interrupted */
#define STALE_NS 10000000000 /* so long without another one it counts all the same */
#define RATE_MAX 1000.0 /* nanoseconds per tick, or ticks per nanosecond */

static struct {
	int64_t foreign[POINTS], axis[POINTS];
	unsigned int count, since; /* points kept; flushes since this clock came */
	bool gone; /* at the last flush: what was stamped before it may come yet */
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

int64_t prof_timebase_convert(int64_t stamp)
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

static int64_t width(const struct prof_triplet *t)
{
	return t->after_ns - t->before_ns;
}

/* Can the next point belong to the clock of those before, and neither was set meanwhile? */
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
	return tb.count < 2 || llabs(prof_timebase_convert(t->cupti_ns) - t->axis_ns) <
				       FAR_NS + passed / FAR_PART + width(t);
}

/* Nobody knows when the clocks were read; the line knows better. */
static bool interrupted(const struct prof_triplet *t)
{
	return tb.count >= 2 && width(t) > WIDE_NS && t->axis_ns - tb.axis[tb.count - 1] < STALE_NS;
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

/* CUPTI's clock is the trace's. The line stays for one more flush, which brings the last stamps. */
static enum prof_timebase own_clock(void)
{
	bool leaves = tb.count > 0 && !tb.gone;

	if (leaves)
		tb.gone = true;
	else
		prof_timebase_reset();
	return leaves ? PROF_TIMEBASE_CHANGED : PROF_TIMEBASE_OWN;
}

enum prof_timebase prof_timebase_learn(const struct prof_triplet *t)
{
	if (!prof_clock_foreign(t))
		return own_clock();
	tb.gone = false;
	if (tb.count > 0 && !continues(t))
		prof_timebase_reset();
	if (!interrupted(t))
		add_point(t);
	tb.since += tb.since < 3;
	/* What was read before the second point could not be carried. */
	return tb.since < 3 ? PROF_TIMEBASE_CHANGED : PROF_TIMEBASE_CONVERTED;
}
