/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happens before and after each fork of the program: our threads' work is kept apart from it
 * (core/fork_lock.h), and the child of an armed process finds everything of ours at rest
 * (core/fork.h).
 */
#ifndef PROF_ATFORK_H
#define PROF_ATFORK_H

#include <stdbool.h>

/*
 * Is this a libc whose forks can be watched, glibc? Nothing of libprof may run in any other (musl).
 */
bool prof_atfork_known(void);

/* Registers the handlers; once, from the constructor. */
void prof_atfork_watch(void);

#endif
