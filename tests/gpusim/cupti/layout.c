/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout.c - record sizes of the version being built.
 */
#include "layout.h"

#define SINCE(api, yes, no) (SIM_CUPTI_API >= (api) ? (yes) : (no))
#define KERNEL_BYTES SINCE(130400, 248, SINCE(130100, 224, SINCE(130000, 216, SINCE(19, 208, 200))))

static const uint32_t sizes[REC_KINDS] = {
	[REC_MEMCPY] = SINCE(130400, 112, SINCE(26, 96, 88)),
	[REC_MEMSET] = SINCE(130400, 104, 88),
	[REC_KERNEL] = KERNEL_BYTES,
	[REC_DRIVER] = 40,
	[REC_RUNTIME] = 40,
	[REC_DEVICE] = SINCE(20, 184, 176),
	[REC_CONTEXT] = SINCE(130100, 40, SINCE(23, 32, SINCE(22, 24, 16))),
	[REC_CONCURRENT_KERNEL] = KERNEL_BYTES,
	[REC_NAME] = 32,
	[REC_MARKER] = 56,
	[REC_MARKER_DATA] = SINCE(130000, 40, 32),
	[REC_OVERHEAD] = SINCE(22, 56, SINCE(21, 48, 40)),
	[REC_MEMCPY2] = 96,
	[REC_CUDA_EVENT] = SINCE(26, 56, 24),
	[REC_STREAM] = 24,
	[REC_SYNCHRONIZATION] = SINCE(26, 56, 40),
	[REC_EXTERNAL_CORRELATION] = 24,
	[REC_INTERNAL_LAUNCH_API] = 40,
	[REC_GRAPH_TRACE] = SINCE(21, 56, 48),
	[REC_DEVICE_GRAPH_TRACE] = SINCE(26, 56, 0),
	[REC_MEM_DECOMPRESS] = SINCE(26, 64, 0),
	[REC_CC_ROTATION] = SINCE(27, 32, 0),
	[REC_GRAPH_HOST_NODE] = SINCE(130100, 56, 0),
	[REC_HOST_LAUNCH] = SINCE(130100, 48, 0),
	/* Accepted and never written: the sizes are guesses. */
	[REC_CTX_SWITCH] = SINCE(130100, 24, 0),
	[REC_GREEN_CONTEXT] = SINCE(130200, 32, 0),
};

uint32_t rec_size(uint32_t kind)
{
	return kind < REC_KINDS ? sizes[kind] : 0;
}

int rec_last_kind(void)
{
	int kind = REC_KINDS - 1;

	while (!sizes[kind])
		kind--;
	return kind;
}

uint32_t rec_start_offset(uint32_t kind)
{
	switch (kind) {
	case REC_MEMCPY:
	case REC_MEMSET:
	case REC_KERNEL:
	case REC_CONCURRENT_KERNEL:
	case REC_MEMCPY2:
		return 16;
	case REC_GRAPH_TRACE:
		return 8;
	case REC_HOST_LAUNCH:
		return 32;
	case REC_GRAPH_HOST_NODE:
		return 40;
	}
	return 0;
}
