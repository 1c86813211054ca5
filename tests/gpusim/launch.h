/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch.h - what a kernel's parameters say about its op.
 */
#ifndef SIM_LAUNCH_H
#define SIM_LAUNCH_H

#include "trace.h"

/*
 * Fills in name, dimensions and duration of a kernel of `function`; where it is a collective of
 * several ranks, op->ranks too. Returns the communicator's id.
 */
uint64_t sim_kernel_fill(struct sim_op *op, void *function, const unsigned *grid,
			 const unsigned *block, unsigned shared, void **params, void **extra);

/* Stretches a kernel that is no collective by its device's GPUSIM_SLOW. op->physical is known. */
void sim_kernel_slow(struct sim_op *op);

/*
 * Says once, on standard error, that nothing is computed. At the first kernel that is not the
 * model's own.
 */
void sim_garbage_tell(void);

#endif
