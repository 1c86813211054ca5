/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace's clock as the sender reads it, and its jumps. Sender thread.
 */
#ifndef PROF_TRACECLOCK_H
#define PROF_TRACECLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include "core/clockpoll.h"

/* A reading: kept for the next Clock frame. A jump since the one before is a loss span. */
void prof_traceclock_record(const struct prof_triplet *t);

/* Is CUPTI's clock another client's, by the last reading? */
bool prof_traceclock_foreign(void);

/* From CLOCK_REALTIME to the trace's clock; NULL: they are the same. */
int64_t (*prof_traceclock_axis(void))(int64_t realtime_ns);

#endif
