/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FNV-1a, 64 bits: where a name must be the same in every run, and to tell texts apart quickly.
 * Whoever chooses the text chooses the hash: tables have wire/keyed_hash.h. Any thread.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define BASE_HASH UINT64_C(0xcbf29ce484222325) /* of nothing: where a hash begins */

/* The hash of what @h is the hash of, followed by these bytes. */
static inline uint64_t base_hash(uint64_t h, const void *bytes, size_t len)
{
	const unsigned char *p = bytes;

	for (; len; len--, p++)
		h = (h ^ *p) * UINT64_C(0x100000001b3);
	return h;
}

static inline uint64_t base_hash_text(uint64_t h, const char *text)
{
	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return h;
}

#endif
