/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.h - what single calls of CUPTI do by script (GPUSIM_FAULT, README.md), whatever the time,
 * and what is still switched on when the process ends. Any thread.
 */
#ifndef SIM_CUPTI_CALLS_H
#define SIM_CUPTI_CALLS_H

#include "../trace.h"

/* pause:call=NAME,ms=N: sleeps. */
void call_pause(const char *name);

/* refuse:kind=N,code=N: what cuptiActivityEnable answers instead; 0: nothing is refused. */
int call_refused(int kind);

/* At exit the truth file gets a line about what is on. Once the driver is there. */
void call_tell_at_exit(const struct sim_export *driver);

#endif
