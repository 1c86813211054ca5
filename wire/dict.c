/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dictionary: keys in order, and an open hash of their numbers.
 */
#include "dict.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS_FIRST 64u

void wire_dict_reset(struct wire_dict *d)
{
	d->used = 0;
	if (d->slots)
		memset(d->slot, 0, d->slots * sizeof(*d->slot));
}

void wire_dict_fini(struct wire_dict *d)
{
	free(d->key);
	free(d->slot);
	memset(d, 0, sizeof(*d));
}

size_t wire_dict_bytes(const struct wire_dict *d)
{
	return d->room * sizeof(*d->key) + d->slots * sizeof(*d->slot);
}

static uint32_t *find_slot(uint32_t *slot, uint32_t slots, const struct wire_key *keys,
			   struct wire_key key)
{
	uint64_t h = (key.a ^ (key.b << 29 | key.b >> 35)) * 0x9e3779b97f4a7c15u;
	uint32_t at = (uint32_t)(h >> 32) & (slots - 1);

	for (;; at = (at + 1) & (slots - 1)) {
		const struct wire_key *there;

		if (!slot[at])
			return &slot[at];
		there = &keys[slot[at] - 1];
		if (there->a == key.a && there->b == key.b)
			return &slot[at];
	}
}

/* Room for one more key, the hash at most half full. */
static int grow(struct wire_dict *d)
{
	uint32_t room = d->room ? d->room * 2 : SLOTS_FIRST / 2, slots = room * 2, i;
	struct wire_key *key;
	uint32_t *slot;

	if (d->used < d->room)
		return 0;
	slot = calloc(slots, sizeof(*slot));
	if (!slot)
		return -ENOMEM;
	key = realloc(d->key, room * sizeof(*key));
	if (!key) {
		free(slot);
		return -ENOMEM;
	}
	for (i = 0; i < d->used; i++)
		*find_slot(slot, slots, key, key[i]) = i + 1;
	free(d->slot);
	d->key = key;
	d->room = room;
	d->slot = slot;
	d->slots = slots;
	return 0;
}

int64_t wire_dict_add(struct wire_dict *d, struct wire_key key)
{
	uint32_t *slot;
	int err;

	err = grow(d);
	if (err)
		return err;
	slot = find_slot(d->slot, d->slots, d->key, key);
	if (!*slot) {
		d->key[d->used++] = key;
		*slot = d->used;
	}
	return *slot - 1;
}
