/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cost.h - what CUPTI costs the thread that calls, by script (GPUSIM_TRACE_COST, README.md): ns for
 * which it spins. Without a script tracing is free. What each thread was charged, the truth file
 * says: the script's ns, not what else the model's bookkeeping takes.
 */
#ifndef SIM_CUPTI_COST_H
#define SIM_CUPTI_COST_H

#include <stdbool.h>
#include <stdint.h>

#include "../trace.h"

/*
 * A kernel is launched, alone or in a graph, with the kernel kind on or off: "kernel" if it is on,
 * "left" from when it is off again until cuptiFinalize; no less than "other" while kinds of other
 * operations are on. In a graph that is traced as a whole it is charged "within" in their place.
 */
void cost_kernel(bool kernels, bool others);
void cost_within(void);

/* A launch: "loaded", whatever is on. */
void cost_launch(void);

/* A record of a copy or memset, of a graph as a whole, of a wait, of a call. */
void cost_copy(void);
void cost_graph(void);
void cost_sync(void);
void cost_api(void);

/* A call that was called back: "callbacks". An event whose record has the device's stamp: "event". */
void cost_callback(void);
void cost_event(void);

/* cuptiFinalize: nothing is left of the kernel kind. */
void cost_forget(void);

/* From now on each thread's sums go to the truth file: once a second, and at exit. Once. */
void cost_tell(const struct sim_export *driver);

#endif
