/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A chunk's size stands 8 bytes before what malloc gives out, its three low bits are flags; the
 * next chunk's stands 8 bytes behind that chunk's end and has the flag that the one before is in
 * use.
 */
#include "heapblock.h"

#define HEAD 16u /* of a chunk: its own size, and a word that belongs to the one before */
#define LEAST 32u
#define IN_USE 1u /* the chunk before */
#define MAPPED 2u /* on its own, by mmap */
#define FLAGS 7u
#define COUNTS 16u /* of make_shared: a table of functions and two counts */

static bool read_size(const struct prof_cfi_memory *mem, uint64_t chunk, uint64_t *size)
{
	return mem->read(mem->arg, chunk + 8, size, sizeof(*size));
}

bool prof_heapblock_at(const struct prof_cfi_memory *mem, uint64_t at, struct prof_heapblock *b)
{
	uint64_t size, bytes, next;

	if (at % 16 || at < HEAD || !read_size(mem, at - HEAD, &size))
		return false;
	bytes = size & ~(uint64_t)FLAGS;
	if (bytes % 16 || bytes < LEAST || bytes > PROF_HEAPBLOCK_MAX)
		return false;
	if (size & MAPPED) {
		if (bytes % 4096 || at % 4096 != HEAD)
			return false;
		*b = (struct prof_heapblock){ at, at - HEAD + bytes };
		return true;
	}
	if (!read_size(mem, at - HEAD + bytes, &next) || !(next & IN_USE) ||
	    (next & ~(uint64_t)FLAGS) % 16 || (next & ~(uint64_t)FLAGS) < LEAST)
		return false;
	*b = (struct prof_heapblock){ at, at - HEAD + bytes + 8 };
	return true;
}

bool prof_heapblock_of(const struct prof_cfi_memory *mem, uint64_t object, struct prof_heapblock *b)
{
	return prof_heapblock_at(mem, object, b) ||
	       (object > COUNTS && prof_heapblock_at(mem, object - COUNTS, b));
}
