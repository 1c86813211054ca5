/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stamps of another client's clock, converted to the trace's. A client of CUPTI can register its
 * own clock (torch.profiler does, and leaves it there): from then on CUPTI's clock and all records
 * count something else, such as processor cycles. Each flush reads both clocks; between two such
 * points stamps are converted by a straight line. Sender thread.
 */
#ifndef PROF_TIMEBASE_H
#define PROF_TIMEBASE_H

#include <stdint.h>
#include "core/clockpoll.h"

enum prof_timebase {
	PROF_TIMEBASE_OWN, /* stamps are on the trace's clock */
	PROF_TIMEBASE_CONVERTED, /* they are not, and can be converted to it */
	PROF_TIMEBASE_CHANGED, /* it changed since the flush before: not all of them can be used */
};

/* Learns from a flush that has ended, before its records are read. */
enum prof_timebase prof_timebase_learn(const struct prof_triplet *t);

/* A stamp that is not on the trace's clock; 0 if it cannot be converted. */
int64_t prof_timebase_convert(int64_t stamp);

void prof_timebase_reset(void); /* for tests */

#endif
