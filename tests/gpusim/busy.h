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
#define SIM_PAST_NS ((uint64_t)SIM_PAST_BUCKETS * SIM_BUCKET_NS) /* that is remembered */

/* What kernels took of a device in some time, each at most that time. */
struct sim_busy {
	uint64_t kernel_ns; /* at least one ran */
	uint64_t engine_ns; /* the same, and the little around each for which the engine is busy */
	uint64_t sm_ns; /* times the share of the multiprocessors that had a block */
	uint64_t tensor_ns, dram_ns; /* times what of them was used, by script */
	uint64_t warp_ns; /* times the share of the warps that fit */
	uint64_t launches; /* kernels that began, told at the end of that millisecond */
};

/* What of a device a kernel occupies while it runs, 1 being all of it. */
struct sim_fill {
	double sms, warps;
	double tensor, dram; /* by script: sim_busy_use */
};

/* Of so many blocks (0: as many as fit) of so many threads, on so many multiprocessors. */
struct sim_fill sim_busy_fill(uint64_t blocks, uint64_t threads, uint32_t sms);

/*
 * What kernels of that name use of tensor cores and of the memory's bandwidth, by the first part of
 * GPUSIM_UNITS ("PART=TENSOR/DRAM,...", percent) that stands in it; else nothing.
 */
void sim_busy_use(struct sim_fill *fill, const char *name);

/*
 * A kernel of process slot `owner` runs from start to end, ns since the epoch. What lies further
 * ahead of now than the ring holds, less its past, is not counted. Device lock held.
 */
void sim_busy_add(struct sim_device *device, uint64_t now, uint64_t start, uint64_t end,
		  const struct sim_fill *fill, int32_t owner);

/*
 * What ran in [from, to): of one process, by who began the last kernel of each millisecond, or of
 * SIM_ANYBODY. to may not be later than now, and from not more than SIM_PAST_NS before it.
 */
struct sim_busy sim_busy_between(const struct sim_device *device, uint64_t from, uint64_t to,
				 int32_t owner);

/* What ran since the segment was made, until now. */
struct sim_busy sim_busy_total(const struct sim_device *device, uint64_t now);

#endif
