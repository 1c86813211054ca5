/* SPDX-License-Identifier: Apache-2.0 */
/* Nanoseconds: monotonic for deadlines, realtime for what goes into a run. Any thread. */
#ifndef COLL_CLOCK_H
#define COLL_CLOCK_H

#include <stdint.h>
#include <time.h>

#define COLL_SECOND_NS INT64_C(1000000000)

static inline int64_t coll_timespec_ns(struct timespec t)
{
	return t.tv_sec * COLL_SECOND_NS + t.tv_nsec;
}

static inline int64_t coll_clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return coll_timespec_ns(t);
}

static inline int64_t coll_now_ns(void)
{
	return coll_clock_ns(CLOCK_MONOTONIC);
}

#endif
