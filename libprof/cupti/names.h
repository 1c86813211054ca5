/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel names. CUPTI owns the text behind a record's name pointer and promises it only until the
 * completion callback returns, so the callback turns each pointer into a number, and the sender
 * turns the number into the trace's string id later. One text has one number, whatever pointers it
 * comes with.
 *
 * A pointer's number is remembered, and its text is not looked at again while nothing can have
 * changed it. CUPTI gives another kernel's name at the same address after a module was loaded there
 * (a JIT), so the record of such a call, of which callbacks tell, ends what is remembered; and as
 * not every load leaves a record, so does time, ten times a second at most. The text may also be
 * gone: a name that cannot be read costs the name alone.
 */
#ifndef PROF_NAMES_H
#define PROF_NAMES_H

#include <stddef.h>
#include <stdint.h>
#include "wire/strtab.h"

#define PROF_NAMES_MAX 49152u /* different texts */

/*
 * The number of the name at @pointer; 0 where it is NULL, cannot be read or finds no room. Any
 * thread; takes a lock of its own; errno changes.
 */
uint32_t prof_names_number(const char *pointer);

/* A module was loaded or unloaded: from here on each pointer is looked at again. Any thread. */
void prof_names_renew(void);

/*
 * Sender thread: moves the names that came since the last call into @table; then prof_names_string
 * gives their ids. 0 for a number that is not known (its name was lost).
 */
void prof_names_collect(struct wire_strtab *table);
uint32_t prof_names_string(uint32_t number);

uint64_t prof_names_lost(void); /* kernels without a name, for want of room or of the name */
size_t prof_names_bytes(void); /* memory held */

#endif
