/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The records of a complete buffer, one after the other.
 */
#ifndef PROF_WALK_H
#define PROF_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "cuda_api.h"

struct prof_walk { /* over the records of one complete buffer */
	const struct prof_cupti *cupti;
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
