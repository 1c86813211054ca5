/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpusim-otherclock.so: a clock for cuptiActivityRegisterTimestampCallback. CUPTI asks it on
 * threads of its own until the process ends, so it must not be Python's.
 */
#include <stdint.h>
#include <time.h>

__attribute__((visibility("default"))) uint64_t other_clock(void);

/* Two ticks per nanosecond since boot. */
uint64_t other_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return 2 * ((uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec);
}
