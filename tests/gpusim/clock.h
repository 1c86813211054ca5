/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.h - the simulator's one clock: CLOCK_REALTIME in nanoseconds, as CUPTI's stamps are on
 * Linux. Under gpusim-host.so it is the true one, and stamps show the host's (timebase.c). Header
 * only, because a launch reads it three times.
 */
#ifndef SIM_CLOCK_H
#define SIM_CLOCK_H

#include <stdint.h>
#include <time.h>

#include "host.h"

#define SIM_NEVER UINT64_MAX /* a moment that is not known yet */

static inline uint64_t sim_now(void)
{
	struct timespec t;

	if (gpusim_true_now)
		return gpusim_true_now();
	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline uint64_t sim_max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/*
 * Returns once sim_now() >= t. Sleeps for most of it and spins for the rest, because a sleeper
 * wakes up to 60 us late and a driver's synchronisation does not. It keeps its CPU then, as a
 * driver with fewer contexts than there are CPUs does (CU_CTX_SCHED_AUTO): one that yields to a
 * busy neighbour is late by a slice of that one's.
 */
static inline void sim_sleep_until(uint64_t t)
{
	for (;;) {
		uint64_t now = sim_now(), left = t > now ? t - now : 0;
		struct timespec d;

		if (!left)
			return;
		if (left < 100000)
			continue;
		left -= 80000;
		d.tv_sec = (time_t)(left / 1000000000u);
		d.tv_nsec = (long)(left % 1000000000u);
		nanosleep(&d, NULL);
	}
}

/* The same for work of the calling thread's own: it keeps its CPU, whoever else wants that. */
static inline void sim_work_until(uint64_t t)
{
	while (sim_now() < t)
		;
}

#endif
