/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is not in the trace: spans of time and why, collected between two flushes until the stream
 * writes them as one Loss frame (prof_stream_losses). Sender thread.
 */
#ifndef PROF_LOSS_H
#define PROF_LOSS_H

#include <stddef.h>
#include <stdint.h>
#include "wire/event.h"
#include "wire/session.pb-c.h"

#define PROF_LOSS_SPANS 512

/* A span that concerns the whole process. count 0: not known. */
void prof_loss_span(Wire__LossReason reason, int64_t start_ns, int64_t end_ns, uint64_t count);

/*
 * One operation whose stamps cannot be used: its device, stream, launch. It happened after
 * start_ns. Beyond some hundred between two flushes they become one span per device.
 */
void prof_loss_bad_stamp(const struct wire_event *ev, int64_t start_ns);

/* Drops the bad stamps collected since the last write: their time is accounted for otherwise. */
void prof_loss_forget_bad_stamps(void);

/*
 * Takes what was collected out of the list; bad stamps get @end_ns as their end. How many: they are
 * valid until the next span is added.
 */
size_t prof_loss_take(Wire__LossSpan *list[PROF_LOSS_SPANS], int64_t end_ns);

#endif
