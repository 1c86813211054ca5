/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is not in the trace: spans of time and why, collected between two flushes and written as one
 * Loss frame. Sender thread.
 */
#ifndef PROF_LOSS_H
#define PROF_LOSS_H

#include <stdint.h>
#include "wire/event.h"
#include "wire/session.pb-c.h"

/* A span that concerns the whole process. count 0: not known. */
void prof_loss_span(Wire__LossReason reason, int64_t start_ns, int64_t end_ns, uint64_t count);

/*
 * One operation whose stamps cannot be used: its device, stream, launch. It happened after start_ns.
 * Beyond some hundred between two flushes they become one span per device.
 */
void prof_loss_bad_stamp(const struct wire_event *ev, int64_t start_ns);

/* Drops the bad stamps collected since the last write: their time is told otherwise. */
void prof_loss_forget_bad_stamps(void);

/* Writes what was collected; bad stamps get @end_ns as their end. */
void prof_loss_write(int64_t end_ns);

#endif
