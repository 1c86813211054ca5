/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the bytes of tables for unwinding one after the other, out of memory that may not be there.
 * Once a read failed or went past the end, all that follows reads as 0 and `bad` is set.
 */
#ifndef PROF_CFIBYTES_H
#define PROF_CFIBYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All or nothing. */
struct prof_cfi_memory {
	bool (*read)(void *arg, uint64_t at, void *to, size_t bytes);
	void *arg;
};

struct prof_cfi_bytes {
	const struct prof_cfi_memory *mem;
	uint64_t at, end; /* of what is to be read */
	uint64_t have; /* address of the bytes in @some */
	size_t count;
	bool bad;
	uint8_t some[64];
};

void prof_cfi_bytes(struct prof_cfi_bytes *b, const struct prof_cfi_memory *mem, uint64_t at,
		    uint64_t end);

/* Little-endian, of 1, 2, 4 or 8 bytes. */
uint64_t prof_cfi_unsigned(struct prof_cfi_bytes *b, unsigned int bytes);
int64_t prof_cfi_signed(struct prof_cfi_bytes *b, unsigned int bytes);
uint64_t prof_cfi_uleb(struct prof_cfi_bytes *b);
int64_t prof_cfi_sleb(struct prof_cfi_bytes *b);

/*
 * A pointer as its encoding says (DW_EH_PE_*): sizes, LEB128, absolute or relative to itself,
 * indirect. Others set `bad`.
 */
uint64_t prof_cfi_pointer(struct prof_cfi_bytes *b, uint8_t encoding);

#endif
