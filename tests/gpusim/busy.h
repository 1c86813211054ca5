/* SPDX-License-Identifier: Apache-2.0 */
/*
 * busy.h - how busy a device was: kernel time per millisecond of the last seconds, kept in the
 * shared segment by who places work and read by the stand-ins for NVML and for CUPTI's sampling.
 * Within a millisecond busy time is taken to be spread evenly. Readers take no lock: what they see
 * may be a launch behind.
 */
#ifndef SIM_BUSY_H
#define SIM_BUSY_H

#include <stdint.h>

#include "shm.h"

#define SIM_ANYBODY (-1)

/*
 * A kernel of process slot `owner` runs from start to end, ns since the epoch. What lies further
 * ahead of now than the ring holds, less a second of past, is not counted. Device lock held.
 */
void sim_busy_add(struct sim_device *device, uint64_t now, uint64_t start, uint64_t end,
		  int32_t owner);

/*
 * ns for which kernels ran in [from, to), at most to - from; of one process, by who began the last
 * kernel of each millisecond, or of SIM_ANYBODY. to may not be later than now, and from not more
 * than a second before it. launches, if not NULL, receives the kernels that began.
 */
uint64_t sim_busy_between(const struct sim_device *device, uint64_t from, uint64_t to,
			  int32_t owner, uint64_t *launches);

/* ns for which kernels ran since the segment was made, until now. */
uint64_t sim_busy_total(const struct sim_device *device, uint64_t now);

#endif
