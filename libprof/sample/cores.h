/* SPDX-License-Identifier: Apache-2.0 */
/* How many cores the job may use: advice on workers is worth no more than this. One thread. */
#ifndef PROF_CORES_H
#define PROF_CORES_H

#include <stdint.h>
#include "throttle.h"

/* By the main thread's affinity and the CPU quotas of its cgroups, rounded up; 0: not known. */
uint32_t prof_cores(void);

/* For tests: @cores, or fewer by the quotas beside the cpu.stat files of @t. */
uint32_t prof_cores_within(uint32_t cores, const struct prof_throttle *t);

#endif
