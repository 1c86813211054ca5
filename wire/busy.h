/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The measure of the union of ops: how long a device did anything. Private to wire.
 */
#ifndef WIRE_BUSY_H
#define WIRE_BUSY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "event.h"

#define WIRE_BUSY_SPANS 1024 /* a long collective reaches back over many short kernels */

struct wire_span {
	int64_t start, end;
};

/*
 * The union of one device's ops in the making. Disjoint spans in order; those before the open ones
 * are closed: only their sum is kept.
 */
struct wire_busy {
	unsigned int used;
	bool closed; /* up to @closed_end, which is in @sum */
	int64_t closed_end;
	uint64_t sum;
	struct wire_span open[WIRE_BUSY_SPANS];
};

void wire_busy_begin(struct wire_busy *b);

/* Adds those ops that ran on @device. False: one reaches back too far; sort them. */
bool wire_busy_add(struct wire_busy *b, const struct wire_event *ev, size_t n, uint32_t device);
uint64_t wire_busy_sum(const struct wire_busy *b);

/* Sets *ns for the ops of @device among @ev[0..n), however they lie. 0 or -ENOMEM. */
int wire_busy_sorted(const struct wire_event *ev, size_t n, uint32_t device, uint64_t *ns);

#endif
