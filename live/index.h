/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which element of an array has a key, by the hash of that: elements are only ever added, at the
 * end. Keys are hostile: hashes have a secret (wire/keyed_hash.h). Whoever asks compares keys
 * himself. One thread.
 */
#ifndef LIVE_INDEX_H
#define LIVE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct live_index { /* zero-initialise it; live_index_fini */
	struct live_index_place {
		uint64_t hash;
		uint32_t number; /* of the element, from 1; 0: none */
	} * place;
	size_t places, used; /* places: a power of two, or 0 */
};

/*
 * The elements with this hash, one after the other: *at is 0 at first. False: there are no more;
 * else *number is one.
 */
bool live_index_next(const struct live_index *x, uint64_t hash, size_t *at, uint32_t *number);

/* Element @number was added. 0 or -ENOMEM. */
int live_index_add(struct live_index *x, uint64_t hash, uint32_t number);

void live_index_fini(struct live_index *x);

#endif
