/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One frame on its way up a native stack: what is known of its registers, as DWARF numbers them for
 * x86-64 and for aarch64 ("DWARF for the Arm 64-bit Architecture", Arm's ABI).
 */
#ifndef PROF_CFIFRAME_H
#define PROF_CFIFRAME_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __aarch64__

enum {
	PROF_CFI_FIRST_KEPT = 19, /* x19 to x29 */
	PROF_CFI_BASE = 29, /* the frame pointer */
	PROF_CFI_LINK = 30, /* what tables say of it holds for the address returned to */
	PROF_CFI_STACK = 31,
	PROF_CFI_RETURN = 32, /* the frame's address of code */
	PROF_CFI_REGS = 33,
};

/* What a function must leave to its caller as it was. */
static inline bool prof_cfi_is_kept(unsigned int reg)
{
	return reg >= PROF_CFI_FIRST_KEPT && reg <= PROF_CFI_BASE;
}

/* Instructions that tell where return addresses are signed: they are stripped wherever that is. */
static inline bool prof_cfi_signs(uint8_t op)
{
	return op == 0x2c || op == 0x2d; /* AARCH64_negate_ra_state_with_pc, _negate_ra_state */
}

/* Programs have 48 bits of addresses; above them stand a signature, or a tag. */
static inline uint64_t prof_cfi_plain(uint64_t address)
{
	return address & ((UINT64_C(1) << 48) - 1);
}

#else

enum {
	PROF_CFI_RBX = 3,
	PROF_CFI_BASE = 6, /* rbp */
	PROF_CFI_STACK = 7, /* rsp */
	PROF_CFI_R12 = 12,
	PROF_CFI_R15 = 15,
	PROF_CFI_RETURN = 16, /* the frame's address of code */
	PROF_CFI_LINK = PROF_CFI_RETURN, /* where tables tell of the address returned to */
	PROF_CFI_REGS = 17,
};

/* What a function must leave to its caller as it was. */
static inline bool prof_cfi_is_kept(unsigned int reg)
{
	return reg == PROF_CFI_RBX || reg == PROF_CFI_BASE ||
	       (reg >= PROF_CFI_R12 && reg <= PROF_CFI_R15);
}

static inline bool prof_cfi_signs(uint8_t op)
{
	(void)op;
	return false;
}

static inline uint64_t prof_cfi_plain(uint64_t address)
{
	return address;
}

#endif

struct prof_cfi_frame {
	uint64_t reg[PROF_CFI_REGS];
	uint64_t known; /* a bit per register */
	bool returned; /* its address lies behind a call, which may be the function's last word */
};

static inline bool prof_cfi_knows(const struct prof_cfi_frame *f, uint64_t reg)
{
	return reg < PROF_CFI_REGS && f->known >> reg & 1;
}

static inline void prof_cfi_set(struct prof_cfi_frame *f, unsigned int reg, uint64_t value)
{
	f->reg[reg] = value;
	f->known |= UINT64_C(1) << reg;
}

#endif
