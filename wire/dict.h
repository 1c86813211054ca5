/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A block's dictionary: 128-bit keys numbered 0, 1, ... in order of first sight. Private to wire.
 * Made once and reused for every block. One thread at a time.
 */
#ifndef WIRE_DICT_H
#define WIRE_DICT_H

#include <stddef.h>
#include <stdint.h>

struct wire_key {
	uint64_t a, b;
};

struct wire_dict { /* zero-initialise */
	struct wire_key *key;
	uint32_t used, room;
	uint32_t *slot; /* number + 1 by hash; 0: free */
	uint32_t slots; /* power of two */
	uint32_t last; /* number found last: neighbours are often alike */
};

void wire_dict_reset(struct wire_dict *d);
void wire_dict_fini(struct wire_dict *d);
size_t wire_dict_bytes(const struct wire_dict *d);

/* Number of the key, added if new; -ENOMEM. */
int64_t wire_dict_add(struct wire_dict *d, struct wire_key key);

#endif
