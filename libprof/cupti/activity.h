/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What CUPTI calls us for: a buffer to fill, and a filled one. Both run on any thread of the
 * program, perhaps inside its locks: no I/O, no call of CUDA, errno kept, and no allocation as long as
 * the sender keeps up (bufpool.h).
 */
#ifndef PROF_ACTIVITY_H
#define PROF_ACTIVITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "cuda_api.h"

struct prof_activity_hooks {
	void (*first_request)(void); /* once, at the first request: the sender begins */
	void (*pending)(void); /* much waits to be read, or few buffers are left */
};

/* Before the callbacks are registered. */
void prof_activity_init(const struct prof_cupti *cupti, const struct prof_activity_hooks *hooks);

/* The two callbacks. */
void prof_activity_request(uint8_t **buffer, size_t *size, size_t *max_records);
void prof_activity_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size,
			    size_t valid);

/*
 * Replaces each kernel's name pointer by its number (names.h): the pointer means nothing after the
 * callback. After prof_activity_init.
 */
void prof_activity_number_names(uint8_t *buffer, size_t valid);

struct prof_walk { /* over the records of one complete buffer */
	uint8_t *data;
	size_t valid;
	uint8_t *record; /* NULL before the first */
	size_t size; /* of the record; 0: only CUPTI knows */
	bool cut; /* it ended before the buffer did: something unreadable follows */
};

/*
 * Steps to the next record: by the probed sizes, and by asking CUPTI where a kind is not known.
 * False at the end. Any thread.
 */
bool prof_walk_next(struct prof_walk *w);

#endif
