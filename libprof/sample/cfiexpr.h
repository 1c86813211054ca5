/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DWARF expressions as tables for unwinding have them: for the frames of signal handlers, the PLT,
 * and functions that align their stack.
 */
#ifndef PROF_CFIEXPR_H
#define PROF_CFIEXPR_H

#include "cfibytes.h"
#include "cfiframe.h"

struct prof_cfi_expr {
	uint64_t at, bytes;
};

/*
 * Evaluates; @first lies on the stack at the beginning where has_first. False: memory or a register
 * is not known, or it is no expression that can occur here.
 */
bool prof_cfi_evaluate(const struct prof_cfi_memory *mem, const struct prof_cfi_frame *f,
		       struct prof_cfi_expr e, const uint64_t *first, uint64_t *value);

#endif
