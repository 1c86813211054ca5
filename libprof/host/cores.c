/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cores by affinity.
 */
#include "cores.h"

#include <sched.h>
#include <unistd.h>

#define CPUS_MAX 8192 /* the kernel's NR_CPUS at most; cpu_set_t holds 1024 */

uint32_t prof_cores(void)
{
	unsigned long mask[CPUS_MAX / (8 * sizeof(unsigned long))] = { 0 };
	uint32_t cores = 0;
	size_t i;

	if (sched_getaffinity(getpid(), sizeof(mask), (cpu_set_t *)mask))
		return 0;
	for (i = 0; i < sizeof(mask) / sizeof(mask[0]); i++)
		cores += (uint32_t)__builtin_popcountl(mask[i]);
	return cores;
}
