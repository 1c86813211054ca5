/* SPDX-License-Identifier: Apache-2.0 */
#include "cores.h"

#define CORE INT64_C(1000000) /* a core's millionths */
#define ONE INT64_C(1000000000) /* chances are in billionths */
/*
 * EEVDF and CFS before it give 0.75 ms, and as much again each time the cores double, up to 3 ms.
 */
#define SLICE_NS INT64_C(2000000)
#define CORES_MOST 4096

/* Erlang's B: the chance to find all cores taken if nobody waited for one. */
static int64_t all_taken(int64_t used_ppm, int64_t cores)
{
	int64_t chance = ONE;

	for (int64_t n = 1; n <= cores; n++) {
		int64_t asked = (int64_t)((__int128)used_ppm * chance / ONE);
		chance = (int64_t)((__int128)asked * ONE / (n * CORE + asked));
	}
	return chance;
}

int64_t check_cores_wait_ns(int64_t used_ppm, int64_t cores)
{
	if (cores <= 0 || used_ppm <= 0)
		return 0;
	if (cores > CORES_MOST) /* of so many one is free */
		cores = CORES_MOST;
	int64_t all = cores * CORE, free = all - used_ppm;
	if (free <= 0)
		return CHECK_CORES_FULL_NS;
	/* Erlang's C, where who finds no core stays until there is one. */
	int64_t b = all_taken(used_ppm, cores);
	int64_t must_wait = (int64_t)((__int128)all * b /
				      (all - (int64_t)((__int128)used_ppm * (ONE - b) / ONE)));
	__int128 wait = (__int128)SLICE_NS * must_wait / ONE * CORE / free;
	return wait < CHECK_CORES_FULL_NS ? (int64_t)wait : CHECK_CORES_FULL_NS;
}
