/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hashes for tables in memory whose keys come from files: with a secret of the process, so that
 * no file can aim at one place of a table and make each look as long as the table. Never stored.
 * Not for secrets: whoever sees hashes may learn it. Any thread.
 */
#ifndef WIRE_KEYED_HASH_H
#define WIRE_KEYED_HASH_H

#include <stddef.h>
#include <stdint.h>

struct wire_secret {
	uint64_t start, factor; /* factor: odd */
};

/*
 * From the 16 random bytes that the kernel gives each program at its start (AT_RANDOM, see
 * getauxval(3)): the same whenever it is asked, unless the program writes over them. No system
 * call.
 */
struct wire_secret wire_secret(void);

/* Both halves of the product: neither half alone hides what a difference in the upper bits does. */
static inline uint64_t wire_keyed_mix(uint64_t h, uint64_t v, const struct wire_secret *s)
{
	unsigned __int128 product = (unsigned __int128)(h ^ v) * s->factor;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/*
 * The last step. After one product numbers that follow each other share the places of a table under
 * one secret in fifty or so; after a second one they do not.
 */
static inline uint64_t wire_keyed_end(uint64_t h, const struct wire_secret *s)
{
	return wire_keyed_mix(h, s->start, s);
}

/* Of a number. */
static inline uint64_t wire_keyed_number(uint64_t v, const struct wire_secret *s)
{
	return wire_keyed_end(wire_keyed_mix(s->start, v, s), s);
}

uint64_t wire_keyed_hash(const void *bytes, size_t len, const struct wire_secret *s);

#endif
