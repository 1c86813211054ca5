/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What CUPTI calls us for: a buffer to fill, and a filled one. Both run on any thread of the
 * program, perhaps inside its locks: no I/O, no call of CUDA, errno kept, and no allocation as long
 * as the sender keeps up (bufpool.h).
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

#endif
