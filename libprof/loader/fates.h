/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What became of the loader's workers: one that somebody stops (SIGSTOP, a debugger) or that a
 * signal ends (the OOM killer's SIGKILL) cannot tell of it. At each drain the kernel is asked for
 * the state of some of them; a note (notes.h) says from when to when one was stopped, and when one
 * died of what. While one is stopped, samples say so. Nothing is reaped or signalled. Where the
 * writer has no table of descriptors of its own nothing is asked. Sender thread.
 */
#ifndef PROF_FATES_H
#define PROF_FATES_H

#include <stdbool.h>
#include <stdint.h>
#include "sample/thread_sample.h"

/* Process @pid is worker @number from now on. */
void prof_fates_watch(uint32_t pid, uint32_t number);

/*
 * Who waited for it says how it ended: of signal @signal, or with exit status @status. SIGTERM is
 * what torch itself ends workers by, and no news.
 */
void prof_fates_ended(uint32_t pid, uint32_t signal, uint32_t status);

/*
 * Looks at them. @sample takes one of each that is stopped, as of CLOCK_REALTIME, which may be
 * changed. @final: who is stopped stays so.
 */
void prof_fates_look(void (*sample)(void *ctx, struct prof_thread_sample *sample), void *ctx,
		     bool final);

#endif
