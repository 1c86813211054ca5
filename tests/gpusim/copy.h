/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy.h - direction, engine and duration of copies and memsets.
 */
#ifndef SIM_COPY_H
#define SIM_COPY_H

#include "trace.h"

/* op->bytes and op->physical (the device the copy is asked of) are set. */
void sim_copy_plan(struct sim_op *op, uint64_t dst, uint64_t src);
void sim_fill_plan(struct sim_op *op, unsigned value);

#endif
