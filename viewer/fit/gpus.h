/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What GPUs can do at most: gpus.csv, which is part of the program, each figure with the source
 * that stands in its row. Figures are whole thousand-millionths of TFLOPS, TOPS and GB/s, so that
 * ratios are exact. Plain data; any thread.
 */
#ifndef FIT_GPUS_H
#define FIT_GPUS_H

#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "facts/kernel_kind.h"

#define FIT_NONE (-1) /* the GPU does not have it */
#define FIT_UNKNOWN 0 /* it may have it; nobody says how much */

struct fit_gpu {
	const char *name; /* as the driver has it */
	uint64_t memory_bytes;
	int64_t memory; /* bandwidth */
	int64_t host; /* of the link to the CPU, one way */
	int64_t link; /* between GPUs; FIT_NONE: over the CPU's */
	int64_t peak[FACTS_PRECISIONS];
	const char *source, *date;
};

struct fit_gpus {
	struct base_arena mem;
	struct fit_gpu *gpu;
	size_t gpus;
};

/* The built-in table. Free with _fini. */
void fit_gpus_read(struct fit_gpus *g);

/* The GPU of a name (view_gpu_key); NULL: the table does not have it. */
const struct fit_gpu *fit_gpus_find(const struct fit_gpus *g, const char *name);

void fit_gpus_fini(struct fit_gpus *g);

#endif
