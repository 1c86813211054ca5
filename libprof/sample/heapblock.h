/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which block of glibc's malloc an address lies in, told by the sizes that stand before blocks: two
 * objects that lie side by side are two. Other allocators leave no such words; of their blocks
 * nothing is known. Reads memory, which is believed in nothing. Any thread; allocates nothing.
 *
 * Source: malloc/malloc.c of glibc, struct malloc_chunk: the same on 64-bit machines since 2.3.
 */
#ifndef PROF_HEAPBLOCK_H
#define PROF_HEAPBLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include "cfibytes.h"

#define PROF_HEAPBLOCK_MAX (UINT64_C(1) << 20) /* bytes; a larger one is no object */

struct prof_heapblock {
	uint64_t begin, end;
};

/*
 * The block that begins at @at, as malloc gave it out. False: none does, as far as can be told;
 * what looks like one by chance, a size before and one behind, is as rare as two such words are.
 */
bool prof_heapblock_at(const struct prof_cfi_memory *mem, uint64_t at, struct prof_heapblock *b);

/*
 * The block of an object that is pointed to: it begins there or, with the counts of
 * std::make_shared before it, 16 bytes earlier.
 */
bool prof_heapblock_of(const struct prof_cfi_memory *mem, uint64_t object,
		       struct prof_heapblock *b);

static inline bool prof_heapblock_has(const struct prof_heapblock *b, uint64_t address)
{
	return address >= b->begin && address < b->end;
}

#endif
