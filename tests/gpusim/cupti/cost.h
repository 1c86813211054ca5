/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cost.h - what tracing costs the thread that launches, by script: GPUSIM_TRACE_COST="kernel=NS,
 * left=NS", ns a kernel while the kernel kind is on, and from when it is off again until
 * cuptiFinalize. Without it tracing is free.
 */
#ifndef SIM_CUPTI_COST_H
#define SIM_CUPTI_COST_H

#include <stdbool.h>

/* A kernel is launched, with the kernel kind on or off: spins for what that costs. */
void cost_kernel(bool on);

/* cuptiFinalize: nothing is left of it. */
void cost_forget(void);

#endif
