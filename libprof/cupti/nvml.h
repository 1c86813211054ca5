/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What NVML says of the devices now and then. Its calls can block for seconds (the driver's lock, a
 * GPU that is reset), so a thread of its own makes them: the sender asks, and looks for the answer
 * later. That thread has the program's table of descriptors, for NVML's are the program's, too.
 */
#ifndef PROF_NVML_H
#define PROF_NVML_H

#include <stdbool.h>
#include <stdint.h>
#include "devices.h"
#include "meter.h"

/* At arm, on a thread of the program: starts the thread. 0 or -errno: nothing is ever known. */
int prof_nvml_start(void);

/* ---- sender ---- */

/*
 * The devices were read: has NVML identify them. Returns when it has, or at the deadline
 * (monotonic).
 */
void prof_nvml_identify(int64_t deadline_ns);

/* Devices that have had operations, a bit for each ordinal. */
uint64_t prof_nvml_worked(void);

/*
 * Has the facts of these devices asked, or of all that have worked, and looks at the meters of
 * @meters. False: the last question is still under way, or there is no thread.
 */
bool prof_nvml_ask_some(uint64_t devices, uint64_t meters);
bool prof_nvml_ask(void);

/* Is none under way? */
bool prof_nvml_answered(void);

/* The last answer of a device; false if there is none from @since_ns (monotonic) or later. */
bool prof_nvml_get(uint32_t ordinal, int64_t since_ns, struct prof_device_facts *f);

/* What the device's meter has said and was not taken yet; false: nothing. */
bool prof_nvml_meter(uint32_t ordinal, struct prof_meter *m);

/*
 * At exit: what NVML has allocated is freed if it is idle, and no call into NVML begins any
 * more. True if none is under way either, at the deadline (monotonic) at the latest.
 */
bool prof_nvml_stop(int64_t deadline_ns);

int64_t prof_nvml_cpu_ns(void);

#endif
