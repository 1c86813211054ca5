/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What NVML says of the devices now and then. Its calls can block for seconds (the driver's lock, a
 * GPU that is reset), so a thread of its own makes them: the sender asks, and looks for the answer
 * later. Called by the sender thread, once the devices were read.
 */
#ifndef PROF_FACTS_H
#define PROF_FACTS_H

#include <stdbool.h>
#include <stdint.h>
#include "devices.h"

/* Has all devices asked, unless that is still under way. The first call starts the thread. */
void prof_facts_ask(void);

/* The last answer of a device; false if there is none from @since_ns (monotonic) or later. */
bool prof_facts_get(uint32_t ordinal, int64_t since_ns, struct prof_device_facts *f);

int64_t prof_facts_cpu_ns(void);

#endif
