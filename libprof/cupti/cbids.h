/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The API calls worth a record: those that submit work, copy, set, launch graphs, allocate, free,
 * load code, synchronise, or make a stream wait, in every variant (_ptds, _ptsz, batches, CUDA 13's
 * __cudaLaunchKernel). One committed table of CUPTI's callback ids, those of all releases from CUDA
 * 11.8 to 13.5: NVIDIA appends to them, and gives some up, but none is ever another call's.
 *
 * Names are CUPTI's without the runtime's API version: cudaLaunchKernel, cuMemcpyHtoDAsync_v2.
 * Constant data: any thread, any time.
 */
#ifndef PROF_CBIDS_H
#define PROF_CBIDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct prof_cbid {
	uint16_t cbid;
	const char *name;
};

/*
 * All wanted ids of a domain (enum wire_domain, which equals CUPTI's callback domain), ascending by
 * id: what to enable one by one where CUPTI can. A CUPTI older than an id refuses it, which is no
 * error. NULL and 0 for another domain.
 */
const struct prof_cbid *prof_cbids(uint8_t domain, size_t *count);

/* The name of a wanted call; NULL for every other one, also for ids newer than the table. */
const char *prof_cbid_name(uint8_t domain, uint32_t cbid);

/* Where CUPTI can only record whole kinds: is this record one to keep? */
static inline bool prof_cbid_wanted(uint8_t domain, uint32_t cbid)
{
	return prof_cbid_name(domain, cbid) != NULL;
}

/* cuDriverGetVersion, the watchdog's canary: traced, and never an event. */
#define CBID_DRIVER_GET_VERSION 2u

#endif
