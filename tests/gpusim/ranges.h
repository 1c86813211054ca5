/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranges.h - what kind of memory an address belongs to, as far as the driver handed it out.
 */
#ifndef SIM_RANGES_H
#define SIM_RANGES_H

#include <stddef.h>
#include <stdint.h>

#include "trace.h"

struct sim_range {
	uint64_t start, size;
	enum sim_memory kind;
	uint32_t physical; /* of device memory */
	const void *owner; /* the context whose end frees it, NULL for host memory */
	struct sim_pool *pool; /* it was allocated from, or NULL */
	struct sim_physical *mapped; /* memory that was mapped there (api_virtual.c), or NULL */
};

/* 0 or -ENOMEM. Any thread. */
int sim_range_add(const struct sim_range *range);

/* Takes out the range that begins at start; false when there is none. */
bool sim_range_remove(uint64_t start, struct sim_range *out);

/* Takes out some range of this owner's; false when it has none left. */
bool sim_range_take(const void *owner, struct sim_range *out);

/* The range that covers the address; false for memory that the driver does not know. */
bool sim_range_find(uint64_t address, struct sim_range *out);

/* Does the driver know all of [start, end), in one range or several that follow each other? */
bool sim_range_spans(uint64_t start, uint64_t end);

/* Calls fn for each range in turn, with the table locked. */
void sim_range_each(void (*fn)(const struct sim_range *range));

#endif
