/* SPDX-License-Identifier: Apache-2.0 */
/* What benches tell of time and memory. */
#ifndef TESTS_BENCH_COST_H
#define TESTS_BENCH_COST_H

#include "harness.h"
#include <sys/resource.h>
#include <time.h>

/* The monotonic clock. */
static inline int64_t b_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static inline double b_now(void) /* the same in seconds */
{
	return (double)b_now_ns() / 1e9;
}

static inline double b_seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

/* Seconds on a processor, in the program and in the kernel for it. */
static inline double b_cpu(const struct rusage *u)
{
	return b_seconds(u->ru_utime) + b_seconds(u->ru_stime);
}

static inline double b_peak_mb(const struct rusage *u)
{
	return (double)u->ru_maxrss / 1024;
}

/* A folder and what is in it. */
static inline void b_remove(const char *dir)
{
	char cmd[600];

	snprintf(cmd, sizeof(cmd), "rm -rf '%s'", dir);
	REQUIRE(!system(cmd));
}

#endif
