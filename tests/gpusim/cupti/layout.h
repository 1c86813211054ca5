/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout.h - which records this CUPTI version writes. SIM_CUPTI_API is set by the build: 18 is
 * CUDA 11.8, 22 is 12.4, 24 is 12.6, 130001 is 13.0 Update 1, 130100 is 13.1. Newer versions only
 * append to the structs of older ones, so one set of offsets serves all and the size says where a
 * record ends.
 */
#ifndef SIM_CUPTI_LAYOUT_H
#define SIM_CUPTI_LAYOUT_H

#include <stdint.h>

#ifndef SIM_CUPTI_API
#error "SIM_CUPTI_API must be set"
#endif

enum sim_record_kind {
	REC_MEMCPY = 1,
	REC_MEMSET = 2,
	REC_KERNEL = 3,
	REC_DRIVER = 4,
	REC_RUNTIME = 5,
	REC_DEVICE = 8,
	REC_CONTEXT = 9,
	REC_CONCURRENT_KERNEL = 10,
	REC_NAME = 11,
	REC_MARKER = 12,
	REC_MARKER_DATA = 13,
	REC_OVERHEAD = 17,
	REC_MEMCPY2 = 22,
	REC_CUDA_EVENT = 36,
	REC_STREAM = 37,
	REC_SYNCHRONIZATION = 38,
	REC_EXTERNAL_CORRELATION = 39,
	REC_INTERNAL_LAUNCH_API = 48,
	REC_GRAPH_TRACE = 51,
	REC_DEVICE_GRAPH_TRACE = 53,
	REC_MEM_DECOMPRESS = 54,
	REC_CC_ROTATION = 55,
	REC_GRAPH_HOST_NODE = 56,
	REC_CTX_SWITCH = 57,
	REC_HOST_LAUNCH = 58,
	REC_GREEN_CONTEXT = 59,
	REC_KINDS = 64
};

/* Bytes of a record of this kind; 0 where this version has no such kind. */
uint32_t rec_size(uint32_t kind);

/* The last kind that this version has, of those that the model knows. */
int rec_last_kind(void);

/* Offsets of start and end in records of device work; 0 where a kind has none. */
uint32_t rec_start_offset(uint32_t kind);

#endif
