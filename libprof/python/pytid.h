/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which kernel thread a Python thread is.
 */
#ifndef PROF_PYTID_H
#define PROF_PYTID_H

#include <stdint.h>
#include "pymem.h"

/*
 * @ident: its pthread_t; @native: the number Python noted, 0: it noted none. What Python noted is
 * stale in a child forked by 3.11.0, 3.11.1 or by native code, so that it is believed only of a
 * thread that the process has; else the thread's own descriptor (struct pthread) is read. @known,
 * if it is not 0, was this thread's lately: the kernel is not asked for it again. 0: cannot be
 * told.
 */
pid_t prof_pytid(struct prof_pymem *m, uint64_t ident, uint64_t native, pid_t known);

#endif
