/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The outer end of a native thread's stack in this process, whatever the thread does: glibc keeps
 * its description of a thread right above the stack, and the kernel tells where that is, for the
 * list of robust locks lies in it (get_robust_list(2)). It holds the function that the thread was
 * started with and what that was given. Sampler thread; allocates nothing. Of other C libraries'
 * threads, and of main threads, nothing is told.
 */
#ifndef PROF_STACKTOP_H
#define PROF_STACKTOP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "cfibytes.h"

#define PROF_STACKTOP_BYTES 8192u

#if defined(__x86_64__) || defined(__aarch64__)
#define PROF_STACKTOP_KNOWN true /* what glibc puts there */
#else
#define PROF_STACKTOP_KNOWN false
#endif

struct prof_stacktop {
	uint64_t entry, argument; /* 0: not known */
	uint64_t end; /* address behind the last word */
	uint32_t words;
	/*
	 * From here on the C library's own frames, which start the thread. They hold registers as
	 * the thread that made this one had them: pointers that this one may have nothing to do
	 * with.
	 * @words: they were not found.
	 */
	uint32_t started;
	uint32_t returns; /* where the thread's function returns to these; @words as well */
	uint64_t word[PROF_STACKTOP_BYTES / 8]; /* thread-local variables and the outer frames */
};

/*
 * 0; -ESRCH: there is no such thread; -ENOENT: nothing is known of its stack. @mem: as
 * prof_native_memory() gives it.
 */
int prof_stacktop_read(const struct prof_cfi_memory *mem, pid_t tid, struct prof_stacktop *s);

/*
 * Is this word where the thread's function saved a register first, as it was in the thread that
 * made it? x86-64: six of them below the return address; aarch64: ten above it.
 */
static inline bool prof_stacktop_saved(const struct prof_stacktop *s, uint32_t i)
{
#ifdef __aarch64__
	return i > s->returns && i - s->returns <= 10;
#else
	return i < s->returns && s->returns - i <= 6;
#endif
}

#endif
