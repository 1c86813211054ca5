/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sample of one thread: does it run, and if not, what does it wait for, on which line of Python
 * and in which native function. Of this process or of a child of it. Nothing is stopped, signalled
 * or called; no file and no descriptor of the job is touched, only /proc and memory are read.
 * Nothing is allocated and no lock taken, so that a fork can wait for it.
 */
#ifndef PROF_THREAD_SAMPLE_H
#define PROF_THREAD_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "linktext.h"
#include "native.h"
#include "python/pystack.h"
#include "target.h"
#include "wire/evidence.h"

#define PROF_SAMPLE_TARGET 4096u
#define PROF_SAMPLE_FS 64u

enum prof_sample_what {
	PROF_SAMPLE_WAIT = 1 << 0, /* what a blocked thread waits for: system call, descriptor */
	PROF_SAMPLE_PYTHON = 1 << 1, /* its Python stack */
	PROF_SAMPLE_NATIVE =
		1 << 2, /* its native stack, if it is blocked, not for a lock of Python */
	PROF_SAMPLE_LINKS = 1 << 3, /* what joins its wait to others; only with WAIT and PYTHON */
};

#define PROF_SAMPLE_EVENT (UINT64_C(1) << 62) /* no address */

struct prof_thread_sample {
	struct wire_sample s; /* string ids 0; role, period_ns and throttled_ns are the caller's */
	char stack[PROF_PY_TEXT]; /* "" where there is none, as the next three */
	char native[PROF_NATIVE_TEXT];
	char target[PROF_SAMPLE_TARGET];
	char fs[PROF_SAMPLE_FS];
	char links[PROF_LINKS_TEXT]; /* what it waits for; whoever knows adds what it can give */
	/* of each word: inode of the descriptor that it waits by; 0: none */
	uint64_t end[PROF_LINKS_WORDS];
	/*
	 * Blocked on this lock of the process, not the global one, or at PROF_SAMPLE_EVENT + 8
	 * times the descriptor of an event (eventfd), in a call with this first argument; 0: it is
	 * not.
	 */
	uint64_t futex, arg, sp, pc;
	pid_t holder; /* of Python's lock then; 0: nobody, or not known */
};

/*
 * Takes one. @what: enum prof_sample_what; 0: state and times alone, which sets
 * WIRE_SAMPLE_FL_CENSUS. 0; -ESRCH: the thread is gone. Whatever else could not be seen is missing
 * in *out and told by its flags and by a note (notes.h).
 */
int prof_thread_sample_take(struct prof_target *t, pid_t tid, unsigned int what,
			    struct prof_thread_sample *out);

/*
 * Has the thread not run since its last sample, which found it blocked? Then that still holds.
 * Costs a fraction of a sample; where files cannot be kept open it is always false.
 */
bool prof_thread_sample_holds(struct prof_target *t, pid_t tid);

#endif
