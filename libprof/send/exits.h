/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ends that run no exit handler. _exit and _Exit are the only calls of the C library that libprof
 * stands in front of (where it is preloaded): of the process that armed, and of none that shares
 * its memory for a while as a vfork child does, what was recorded is handed over first, in a fifth
 * of a second at most. The status is the caller's. quick_exit has a handler that does the same. A
 * system call of the program's own, abort, and a signal still lose about the last second.
 *
 * _exit may be called in a signal handler that interrupts any lock's owner, and by several threads
 * at once: what stands behind it allocates nothing and takes no lock (futex words and a deadline).
 */
#ifndef PROF_EXITS_H
#define PROF_EXITS_H

#include "core/export.h"

/*
 * In the constructor: whom to call behind us, which is the C library or another preloaded library.
 */
void prof_exits_find(void);

/* The process has armed. Arming thread. */
void prof_exits_arm(void);

/*
 * In the exit handler: if some thread has called _exit before, ends the process as that one said.
 */
void prof_exits_yield(void);

/* What _exit does. Any thread, async-signal-safe. */
__attribute__((noreturn)) void prof_exits_end(int status);

#ifdef PROF_SHARED_LIBRARY /* a test program's _exit is the C library's */
PROF_EXPORT __attribute__((noreturn)) void _exit(int status);
PROF_EXPORT __attribute__((noreturn)) void _Exit(int status);
#endif

#endif
