/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timebase.h - the clock of the stamps. CLOCK_REALTIME, until some client registers a timestamp
 * callback: from then on every stamp, of every client and for good, is in that callback's time.
 */
#ifndef SIM_CUPTI_TIMEBASE_H
#define SIM_CUPTI_TIMEBASE_H

#include <stdint.h>

/*
 * Takes over the callback's time; its rate is measured over a millisecond, then over seconds. A
 * thread of ours calls it too, fifty times a second. NULL: back.
 */
void timebase_register(uint64_t (*fn)(void));

/* A scripted foreign clock: `rate` ticks per ns, counted from an epoch of its own. */
void timebase_script(double rate);

/* The stamp for this moment of CLOCK_REALTIME; 0 stays 0. */
uint64_t timebase_stamp(uint64_t t);

#endif
