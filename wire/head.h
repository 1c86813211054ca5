/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The head of a block in the making, so that events are looked at while they are in the cache.
 * Private to wire. One thread at a time.
 */
#ifndef WIRE_HEAD_H
#define WIRE_HEAD_H

#include <stdbool.h>
#include "block.h"
#include "busy.h"

struct wire_head_builder {
	struct wire_block_head head;
	uint8_t kind_diff;
	bool in_order; /* @busy holds all ops of the first device */
	struct wire_busy busy;
};

void wire_head_begin(struct wire_head_builder *m);

/* Adds events, piece by piece. 0 or -E2BIG: more than WIRE_BLOCK_DEVICES_MAX devices. */
int wire_head_add(struct wire_head_builder *m, const struct wire_event *ev, size_t n);

/* Ends with all that were added: m->head is done. 0, -EINVAL (kinds differ) or -ENOMEM. */
int wire_head_end(struct wire_head_builder *m, const struct wire_event *ev, size_t n);

#endif
