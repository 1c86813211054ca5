/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The code before an address: is it a call, so that the address is one that functions return to,
 * and whom does it call? By the machine's instructions; all are built everywhere, so that they can
 * be tried everywhere. Reads memory, which is believed in nothing. Any thread.
 */
#ifndef PROF_CALLSITE_H
#define PROF_CALLSITE_H

#include <stdbool.h>
#include <stdint.h>
#include "cfibytes.h"

/* In one of the forms that compilers write: direct, or by a register or memory. */
bool prof_callsite_before_x86(const struct prof_cfi_memory *mem, uint64_t address);
bool prof_callsite_before_arm64(const struct prof_cfi_memory *mem, uint64_t address);

/*
 * Does it call the function that begins at @function, directly or by way of the table that another
 * library's functions are called through? A call by a register may, but is none of these.
 */
bool prof_callsite_calls_x86(const struct prof_cfi_memory *mem, uint64_t address,
			     uint64_t function);
bool prof_callsite_calls_arm64(const struct prof_cfi_memory *mem, uint64_t address,
			       uint64_t function);

static inline bool prof_callsite_before(const struct prof_cfi_memory *mem, uint64_t address)
{
#ifdef __aarch64__
	return prof_callsite_before_arm64(mem, address);
#else
	return prof_callsite_before_x86(mem, address);
#endif
}

static inline bool prof_callsite_calls(const struct prof_cfi_memory *mem, uint64_t address,
				       uint64_t function)
{
#ifdef __aarch64__
	return prof_callsite_calls_arm64(mem, address, function);
#else
	return prof_callsite_calls_x86(mem, address, function);
#endif
}

#endif
