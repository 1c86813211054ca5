/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The measure of the union of ops: how long a device did anything. Private to wire.
 */
#ifndef WIRE_BUSY_H
#define WIRE_BUSY_H

#include <stddef.h>
#include <stdint.h>
#include "event.h"

/* Sets *ns for the ops of @device among @ev[0..n). 0 or -ENOMEM. */
int wire_busy(const struct wire_event *ev, size_t n, uint32_t device, uint64_t *ns);

#endif
