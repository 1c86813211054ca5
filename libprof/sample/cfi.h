/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unwinds one frame by a module's tables (.eh_frame_hdr and .eh_frame), on x86-64 and aarch64. The
 * tables and the stack are read through the caller's function and believed in nothing: a damaged
 * one ends the walk. On aarch64 a function that keeps its return address in its register has no
 * caller here unless that register is known, and nothing is known behind a signal's frame.
 *
 * No library for that is loaded or linked. As a dependency of a preloaded library it would take the
 * place of the program's own unwinder, loaded at run time its name and those of its dependencies
 * would satisfy what the program loads later, and its locks would stay locked in forked children.
 * Nothing here allocates, locks, or keeps anything: any thread.
 */
#ifndef PROF_CFI_H
#define PROF_CFI_H

#include "cfibytes.h"
#include "cfiframe.h"

/* A module's tables. */
struct prof_cfi_table {
	uint64_t rows,
		count; /* .eh_frame_hdr's sorted table: pairs of 32-bit offsets from @header */
	uint64_t header;
};

/* False: there are none, or in a form that linkers do not write. */
bool prof_cfi_open(const struct prof_cfi_memory *mem, uint64_t header, uint64_t bytes,
		   struct prof_cfi_table *t);

/*
 * Steps from a frame to its caller. 1; 0: it has none; -ENOENT: the tables do not know this code;
 * -ENODATA: a register that is needed is not known; -EFAULT: memory is not there, or not what it
 * should be.
 */
int prof_cfi_step(const struct prof_cfi_memory *mem, const struct prof_cfi_table *t,
		  struct prof_cfi_frame *f);

/* Where the function begins that has the code at @pc; 0: the tables do not know it. */
uint64_t prof_cfi_begin(const struct prof_cfi_memory *mem, const struct prof_cfi_table *t,
			uint64_t pc);

#endif
