/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cost.h - what CUPTI costs the thread that calls, by script (GPUSIM_TRACE_COST, README.md): ns for
 * which it spins. Without a script tracing is free.
 */
#ifndef SIM_CUPTI_COST_H
#define SIM_CUPTI_COST_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A kernel is launched, alone or in a graph, with the kernel kind on or off: "kernel" if it is on,
 * "left" from when it is off again until cuptiFinalize; no less than "other" while kinds of other
 * operations are on.
 */
void cost_kernel(bool kernels, bool others);

/* A launch: "loaded", whatever is on. */
void cost_launch(void);

/* A call that was called back: "callbacks". An event whose record has the device's stamp: "event". */
void cost_callback(void);
void cost_event(void);

/* cuptiFinalize: nothing is left of the kernel kind. */
void cost_forget(void);

#endif
