/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inner loops of the columns twice: with vectors of 32 bytes they take half the instructions
 * and less. Such a loop is WIRE_INLINE, and a function marked WIRE_WIDE calls it with a length that
 * the compiler knows. Private to wire. Any thread.
 */
#ifndef WIRE_WIDE_H
#define WIRE_WIDE_H

#include <stdbool.h>

#define WIRE_INLINE static inline __attribute__((always_inline))

#if defined(__x86_64__)

#define WIRE_WIDE __attribute__((target("avx2")))

static inline bool wire_have_wide(void)
{
	return __builtin_cpu_supports("avx2");
}

#else

#define WIRE_WIDE

static inline bool wire_have_wide(void)
{
	return false;
}

#endif

#endif
