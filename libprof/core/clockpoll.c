/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads clocks and samples triplets.
 */
#include "clockpoll.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#define SAMPLES 5
#define SAME_CLOCK_NS 1000000000 /* closer than this: it is that clock */

static _Atomic clockid_t axis = CLOCK_REALTIME;

static int64_t read_clock(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t prof_mono_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

int64_t prof_realtime_ns(void)
{
	return read_clock(CLOCK_REALTIME);
}

int64_t prof_cpu_ns(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

int64_t prof_process_cpu_ns(void)
{
	return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

int64_t prof_now_ns(void)
{
	return read_clock(atomic_load_explicit(&axis, memory_order_relaxed));
}

const char *prof_clock_name(void)
{
	return atomic_load(&axis) == CLOCK_REALTIME ? "realtime" : "monotonic_raw";
}

void prof_clock_settle(int (*get_timestamp)(uint64_t *))
{
	uint64_t stamp = 0;
	int64_t real, raw;

	if (!get_timestamp || get_timestamp(&stamp) || !stamp)
		return;
	real = llabs(read_clock(CLOCK_REALTIME) - (int64_t)stamp);
	raw = llabs(read_clock(CLOCK_MONOTONIC_RAW) - (int64_t)stamp);
	if (real > SAME_CLOCK_NS && raw < SAME_CLOCK_NS)
		atomic_store(&axis, CLOCK_MONOTONIC_RAW);
}

void prof_clock_forked(void)
{
	atomic_store(&axis, CLOCK_REALTIME);
}

static int64_t axis_stamp(int (*get_timestamp)(uint64_t *))
{
	uint64_t stamp = 0;

	if (get_timestamp && !get_timestamp(&stamp) && stamp)
		return (int64_t)stamp;
	return prof_now_ns();
}

void prof_clock_sample(int (*get_timestamp)(uint64_t *), struct prof_triplet *t)
{
	int i;

	for (i = 0; i < SAMPLES; i++) {
		struct prof_triplet now;
		int64_t axis_before;

		now.before_ns = prof_mono_ns();
		axis_before = prof_now_ns();
		now.cupti_ns = axis_stamp(get_timestamp);
		now.axis_ns = axis_before + (prof_now_ns() - axis_before) / 2;
		now.after_ns = prof_mono_ns();
		now.realtime_ns = read_clock(CLOCK_REALTIME);
		now.boottime_ns = read_clock(CLOCK_BOOTTIME);
		if (!i || now.after_ns - now.before_ns < t->after_ns - t->before_ns)
			*t = now;
	}
}

int64_t prof_clock_step(const struct prof_triplet *a, const struct prof_triplet *b)
{
	int64_t mono_a = a->before_ns + (a->after_ns - a->before_ns) / 2;
	int64_t mono_b = b->before_ns + (b->after_ns - b->before_ns) / 2;

	return (b->axis_ns - a->axis_ns) - (mono_b - mono_a);
}

int64_t prof_clock_shift(const struct prof_triplet *a, const struct prof_triplet *b)
{
	int64_t shift = (b->cupti_ns - b->axis_ns) - (a->cupti_ns - a->axis_ns);
	int64_t widths = a->after_ns - a->before_ns + b->after_ns - b->before_ns;

	if (prof_clock_foreign(a) || prof_clock_foreign(b) || llabs(shift) <= widths)
		return 0;
	return shift;
}

bool prof_clock_foreign(const struct prof_triplet *t)
{
	return llabs(t->axis_ns - t->cupti_ns) > SAME_CLOCK_NS;
}
