/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps looks and forks apart: a fork in the middle of a look would leave the child with locks that
 * the look held (the loader's, while it unwinds) and with descriptors of ours. Whoever forks waits
 * for the look that is under way, some 50 us; never for long, because the looking thread may in
 * turn wait for a lock that the forking one holds.
 */
#ifndef PROF_GATE_H
#define PROF_GATE_H

#include <stdbool.h>

/* The one thread that looks. False: a fork is under way and did not end in time; do not look. */
bool prof_gate_enter(void);
void prof_gate_leave(void);

/* atfork handlers, on any thread. child: opens the gate anew for a looking thread of the child. */
void prof_gate_fork_prepare(void);
void prof_gate_fork_parent(void);
void prof_gate_fork_child(void);

#endif
