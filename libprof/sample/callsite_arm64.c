/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aarch64. bl, blr, and blr of a signed address. A stub of the procedure linkage table: bti or not,
 * adrp x16, ldr x17 by x16, add x16, br x17 (Arm's Architecture Reference Manual, C6.2).
 */
#include "callsite.h"

#define WORD 4u

static bool read_code(const struct prof_cfi_memory *mem, uint64_t at, uint32_t *code)
{
	return !(at % WORD) && mem->read(mem->arg, at, code, sizeof(*code));
}

static bool is_direct(uint32_t code)
{
	return (code & 0xfc000000u) == 0x94000000u;
}

static bool is_by_register(uint32_t code)
{
	return (code & 0xfffffc1fu) == 0xd63f0000u || (code & 0xfefff800u) == 0xd63f0800u;
}

bool prof_callsite_before_arm64(const struct prof_cfi_memory *mem, uint64_t address)
{
	uint32_t code;

	return address >= WORD && read_code(mem, address - WORD, &code) &&
	       (is_direct(code) || is_by_register(code));
}

/* Its @bits from @from on, as a signed number. */
static uint64_t signed_field(uint32_t code, unsigned int from, unsigned int bits)
{
	uint64_t sign = UINT64_C(1) << (bits - 1), field = code >> from & ((sign << 1) - 1);

	return (field ^ sign) - sign;
}

/* What a stub at @at jumps to; 0: it is none. */
static uint64_t behind_stub(const struct prof_cfi_memory *mem, uint64_t at)
{
	uint32_t page, load;
	uint64_t slot, to;

	if (read_code(mem, at, &page) && page == 0xd503245fu) /* bti c */
		at += WORD;
	if (!read_code(mem, at, &page) || (page & 0x9f00001fu) != 0x90000010u ||
	    !read_code(mem, at + WORD, &load) || (load & 0xffc003ffu) != 0xf9400211u)
		return 0;
	slot = (at & ~UINT64_C(4095)) +
	       ((signed_field(page, 5, 19) << 2 | (page >> 29 & 3)) << 12) +
	       (load >> 10 & 4095) * sizeof(to);
	return mem->read(mem->arg, slot, &to, sizeof(to)) ? to : 0;
}

bool prof_callsite_calls_arm64(const struct prof_cfi_memory *mem, uint64_t address,
			       uint64_t function)
{
	uint32_t code;
	uint64_t to;

	if (address < WORD || !read_code(mem, address - WORD, &code) || !is_direct(code))
		return false;
	to = address - WORD + (signed_field(code, 0, 26) << 2);
	return to == function || behind_stub(mem, to) == function;
}
