/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether this process may work with CUPTI and send. The child of an armed process may not: CUPTI
 * does not survive fork, and the stream is the parent's. The child of a process that was not armed
 * is untouched and arms at its own cuInit.
 */
#ifndef PROF_FORK_H
#define PROF_FORK_H

#include <stdbool.h>

/*
 * This process and its children are never to be armed: from the constructor, and in an owner's
 * child.
 */
void prof_fork_never(void);

/* From InitializeInjection: this process is now the owner. */
void prof_fork_own(void);

/*
 * True in the process that called prof_fork_own, false in its forked children. Any thread,
 * signal-safe.
 */
bool prof_fork_mine(void);

/* True in a forked child of an owner, and after prof_fork_never. */
bool prof_fork_dead(void);

#endif
