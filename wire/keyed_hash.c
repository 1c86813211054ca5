/* SPDX-License-Identifier: Apache-2.0 */
#include "keyed_hash.h"

#include <string.h>
#include <sys/auxv.h>
#include "bytes.h"

struct wire_secret wire_secret(void)
{
	const uint8_t *random = (const uint8_t *)getauxval(AT_RANDOM);
	struct wire_secret s = { 0x9e3779b97f4a7c15u, 0xbf58476d1ce4e5b9u };

	if (random) {
		s.start ^= wire_get64(random);
		s.factor ^= wire_get64(random + 8);
	}
	/*
	 * What else is made of these bytes guards stacks and pointers: not to be had from a hash.
	 */
	s.start *= 0xd6e8feb86659fd93u;
	s.factor = (s.factor * 0xd6e8feb86659fd93u) | 1;
	return s;
}

uint64_t wire_keyed_hash(const void *bytes, size_t len, const struct wire_secret *s)
{
	const uint8_t *p = bytes;
	uint64_t h = s->start ^ len;
	uint8_t tail[8] = { 0 };

	for (; len >= 8; len -= 8, p += 8)
		h = wire_keyed_mix(h, wire_get64(p), s);
	if (len)
		memcpy(tail, p, len);
	return wire_keyed_end(wire_keyed_mix(h, wire_get64(tail), s), s);
}
