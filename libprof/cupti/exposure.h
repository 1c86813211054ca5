/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many launches the program had to wait for: those whose operation began soon after its launch,
 * on a device that was idle before. There a tracer's cost per launch is paid in full; behind queued
 * work it is hidden (docs/MEASUREMENTS.md). Of gaps as short as a device's own pauses those count
 * whose operation began as soon as this job's ever do. Without API records an operation's launch is
 * not known: then of those behind a gap as many count as did while there were some; if there never
 * were, all, and of short ones none. Sender thread.
 */
#ifndef PROF_EXPOSURE_H
#define PROF_EXPOSURE_H

#include <stdint.h>
#include "wire/event.h"

struct prof_exposure {
	uint64_t launches; /* operations seen */
	uint64_t exposed;
};

/* Takes in one operation or API call, in the order of the buffers. */
void prof_exposure_add(const struct wire_event *ev);

/* The trace's clock stepped, and shows now_ns: what ended before it did, ended at another time. */
void prof_exposure_stepped(int64_t step_ns, int64_t now_ns);

const struct prof_exposure *prof_exposure(void);

/* As at the beginning, for tests. */
void prof_exposure_forget(void);

#define PROF_EXPOSURE_LONG_NS 3000000ll

/* Gaps between operations of so much or more, of all devices together. */
uint64_t prof_exposure_long_gaps_ns(void);

/* The last end of an operation on any device, on the trace's clock; 0: there was none. */
int64_t prof_exposure_last_end(void);

#endif
