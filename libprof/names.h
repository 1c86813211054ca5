/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel names. CUPTI owns the text behind a record's name pointer and promises it only until the
 * completion callback returns, so the callback turns each pointer into a number, and the sender turns
 * the number into the trace's string id later.
 *
 * Pointers are looked up in a cache; once per buffer the text behind a pointer is compared with what
 * it was (by a hash of all of it), because a JIT may put another kernel's name at the same address.
 */
#ifndef PROF_NAMES_H
#define PROF_NAMES_H

#include <stddef.h>
#include <stdint.h>
#include "wire/strtab.h"

#define PROF_NAMES_RECENT 64

struct prof_names_recent { /* pointers seen in the buffer at hand, on the caller's stack */
	const char *pointer[PROF_NAMES_RECENT];
	uint32_t id[PROF_NAMES_RECENT];
};

/* The number of the name at @pointer (may be NULL: 0). Any thread; takes a lock of its own. */
uint32_t prof_names_see(struct prof_names_recent *recent, const char *pointer);

/*
 * Sender thread: moves the names that came since the last call into @table; then prof_names_string
 * gives their ids. 0 for a number that is not known (its name was lost).
 */
void prof_names_collect(struct wire_strtab *table);
uint32_t prof_names_string(uint32_t number);

uint64_t prof_names_lost(void); /* names that found no room; their kernels have no name */
size_t prof_names_bytes(void); /* memory held */

#endif
