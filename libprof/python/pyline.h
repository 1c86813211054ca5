/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the place in a code object to the line of source, by the code object's table. Pure; any
 * bytes are safe.
 */
#ifndef PROF_PYLINE_H
#define PROF_PYLINE_H

#include <stddef.h>
#include <stdint.h>
#include "pylayout.h"

/*
 * @lasti: offset in bytes of the instruction, negative: none has run. The line, or 0: that
 * instruction belongs to no line, or the table does not reach so far.
 */
uint32_t prof_pyline(enum prof_pylines kind, const uint8_t *table, size_t bytes, uint32_t firstline,
		     int64_t lasti);

#endif
