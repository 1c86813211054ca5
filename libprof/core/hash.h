/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FNV-1a, for tables and names of our own. Pure.
 */
#ifndef PROF_HASH_H
#define PROF_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Of what @h is the hash of, followed by these. */
static inline uint64_t prof_hash_more(uint64_t h, const char *bytes, size_t n)
{
	for (; n; n--, bytes++)
		h = (h ^ (unsigned char)*bytes) * UINT64_C(0x100000001b3);
	return h;
}

static inline uint64_t prof_hash_bytes(const char *bytes, size_t n)
{
	return prof_hash_more(UINT64_C(0xcbf29ce484222325), bytes, n);
}

static inline uint64_t prof_hash_text(const char *text)
{
	return prof_hash_bytes(text, strlen(text));
}

/* Of a thread: neighbours, and main threads of neighbouring processes, come apart. */
static inline uint32_t prof_hash_thread(uint32_t pid, uint32_t tid)
{
	uint32_t h = pid * UINT32_C(0x9e3779b1) ^ tid * UINT32_C(0x85ebca6b);

	return h ^ h >> 15;
}

#endif
