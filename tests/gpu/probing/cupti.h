/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cupti.h - libcupti by dlopen: activity kinds, a subscriber, buffers that are recycled or counted.
 * Numbers and layouts are those of the headers of CUPTI 13.0 (cupti_activity.h, cupti_result.h,
 * cupti_callbacks.h), which only append to those of older versions; kinds 56 to 59 are those of
 * NVIDIA's documentation of 13.4. Functions that an older library lacks are NULL. One user a
 * process.
 */
#ifndef PROBE_CUPTI_H
#define PROBE_CUPTI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	KIND_MEMCPY = 1,
	KIND_MEMSET = 2,
	KIND_KERNEL = 10, /* concurrent kernels */
	KIND_MEMCPY2 = 22,
	KIND_CUDA_EVENT = 36,
	KIND_SYNC = 38,
	KIND_GRAPH = 51,
	KIND_GRAPH_HOST_NODE = 56,
	KIND_CTX_SWITCH = 57,
	KIND_HOST_LAUNCH = 58,
	KIND_GREEN_CONTEXT = 59,
	KINDS = 64
};

struct cupti {
	int (*GetVersion)(uint32_t *);
	int (*GetTimestamp)(uint64_t *);
	int (*GetResultString)(int, const char **);
	int (*RegisterCallbacks)(void (*)(uint8_t **, size_t *, size_t *),
				 void (*)(void *, uint32_t, uint8_t *, size_t, size_t));
	int (*Enable)(int);
	int (*Disable)(int);
	int (*FlushAll)(uint32_t);
	int (*GetNextRecord)(uint8_t *, size_t, void **);
	int (*GetNumDroppedRecords)(void *, uint32_t, size_t *);
	int (*EnableCudaEventDeviceTimestamps)(uint8_t);
	int (*EnableHWTrace)(uint8_t);
	int (*Subscribe)(void **, void *, void *);
	int (*Unsubscribe)(void *);
	int (*EnableCallback)(uint32_t, void *, int, uint32_t);
	int (*Finalize)(void);
};
extern struct cupti cupti;
extern void *cupti_library; /* its handle, for what else a part wants of it */

/* What came out of the buffers, counted where cupti_count was asked for. */
struct seen {
	uint64_t records[KINDS], no_start[KINDS];
	uint64_t first_ns, last_ns; /* of kernels */
	uint64_t kernel_ns; /* sum of their lengths */
	uint64_t unknown; /* buffers that were not read to their end */
	uint64_t bytes;
};

/* Loads the library that PROBE_CUPTI names, or the first the loader finds. 0 or -1 (cupti_why). */
int cupti_load(void);
const char *cupti_why(void);
uint32_t cupti_version(void);

/* Words for a result. */
const char *cupti_words(int rc);

/*
 * Registers our buffers and begins to flush them each 100 ms from a thread of its own. count: read
 * the records, too. 0 or CUPTI's result.
 */
int cupti_begin(bool count);

/* Switches kinds, the last 0. Returns the first result that is not 0. */
int cupti_switch(const int *kinds, bool on);
extern const int cupti_all[], cupti_light[], cupti_kernel[];

/* No more flushing by our thread; returns once it is over. */
void cupti_stop_flushing(void);

/* Subscribes with a callback at every kernel launch. 0 or CUPTI's result. */
int cupti_subscribe(void **subscriber);

/* Forced flush, and a moment for what comes late. */
void cupti_fetch(void);

struct seen cupti_seen(void);
size_t cupti_dropped(void);

#endif
