/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy.h - copies and memsets: direction, engine and duration, and the work of a call.
 */
#ifndef SIM_COPY_H
#define SIM_COPY_H

#include <stdbool.h>
#include <stddef.h>

#include "data.h"
#include "trace.h"

/* op->bytes and op->physical (the device the copy is asked of) are set. */
void sim_copy_plan(struct sim_op *op, uint64_t dst, uint64_t src);
void sim_fill_plan(struct sim_op *op, uint64_t dst, unsigned value);

/*
 * One copy on the stream behind the handle, and its wait where the call has to. peer: device and
 * context of the destination where the program named them, or NULL. An enum sim_result.
 */
int sim_copy(void *stream, uint64_t dst, uint64_t src, const struct sim_box *box, bool async,
	     const uint32_t *peer);

/* The same for a memset of rows of `width` elements of 1, 2 or 4 bytes. */
int sim_fill(void *stream, uint64_t dst, size_t pitch, unsigned value, unsigned element,
	     size_t width, size_t height);

#endif
