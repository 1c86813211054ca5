/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One frame on its way up a native stack: what is known of its registers on x86-64.
 */
#ifndef PROF_CFIFRAME_H
#define PROF_CFIFRAME_H

#include <stdbool.h>
#include <stdint.h>

enum { /* registers, as DWARF numbers them */
	PROF_CFI_RBX = 3,
	PROF_CFI_RBP = 6,
	PROF_CFI_RSP = 7,
	PROF_CFI_R12 = 12,
	PROF_CFI_R15 = 15,
	PROF_CFI_RETURN = 16, /* the frame's address of code */
	PROF_CFI_REGS = 17,
};

struct prof_cfi_frame {
	uint64_t reg[PROF_CFI_REGS];
	uint32_t known; /* a bit per register */
	bool returned; /* its address lies behind a call, which may be the function's last word */
};

#endif
