/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One look at one thread: does it run, and if not, what does it wait for, on which line of Python
 * and in which native function. Of this process or of a child of it. Nothing is stopped, signalled
 * or called; no file and no descriptor of the job is touched, only /proc and memory are read.
 *
 * A prof_target is a process. It belongs to one thread at a time. Descriptors are opened and closed
 * within one look, because programs close descriptors that they do not know and use the numbers
 * again; a thread that has a table of its own (ownfds.h) keeps some open. open, close and settle may
 * allocate and load; all others allocate nothing and take no lock, so that a fork can wait for them.
 */
#ifndef PROF_THREAD_SAMPLE_H
#define PROF_THREAD_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "native.h"
#include "python/pystack.h"
#include "wire/evidence.h"

#define PROF_SAMPLE_TARGET 4096u
#define PROF_SAMPLE_FS 64u

enum prof_sample_what {
	PROF_SAMPLE_WAIT = 1 << 0, /* what a blocked thread waits for: system call, descriptor */
	PROF_SAMPLE_PYTHON = 1 << 1, /* its Python stack */
	PROF_SAMPLE_NATIVE =
		1 << 2, /* its native stack, if it is blocked, not for a lock of Python */
};

struct prof_thread_sample {
	struct wire_sample s; /* string ids 0; role, period_ns and throttled_ns are the caller's */
	char stack[PROF_PY_TEXT]; /* "" where there is none, as the next three */
	char native[PROF_NATIVE_TEXT];
	char target[PROF_SAMPLE_TARGET];
	char fs[PROF_SAMPLE_FS];
};

struct prof_mounts;
struct prof_target;

/* @pid 0: this process. 0, -ENOMEM. The process need not be alive. */
int prof_target_open(struct prof_target **t, pid_t pid);
void prof_target_close(struct prof_target *t);

/*
 * Now and then, where allocating is allowed: looks for Python while it was not found, reads what
 * is mounted, and makes ready to unwind if @native. True while the process has, or may still get,
 * Python.
 */
bool prof_target_settle(struct prof_target *t, bool native);

/* Before the looks of one tick: who holds Python's lock. */
void prof_target_tick(struct prof_target *t);

/*
 * The threads that run Python, newest first, at most 2,048: from a list that is made anew when that
 * costs little, and else is some time old. *list stays; a look may fill it anew.
 */
size_t prof_target_pythons(struct prof_target *t, const struct prof_py_thread **list);

/* For how long a thread has run, without a look: 0, or -ESRCH; *cpu_ns is 0 where it is not told. */
int prof_target_cpu(const struct prof_target *t, pid_t tid, uint64_t *cpu_ns);
pid_t prof_target_gil(const struct prof_target *t); /* 0: nobody, or not known */
const struct prof_mounts *prof_target_mounts(const struct prof_target *t);

/*
 * Looks. @what: enum prof_sample_what; 0: state and times alone, which sets WIRE_SAMPLE_FL_CENSUS.
 * 0; -ESRCH: the thread is gone. Whatever else could not be seen is missing in *out and told by its
 * flags and by a note (notes.h).
 */
int prof_thread_sample_take(struct prof_target *t, pid_t tid, unsigned int what,
			    struct prof_thread_sample *out);

/*
 * Has the thread not run since the last look, which found it blocked? Then that look still holds.
 * Costs a fraction of a look; where files cannot be kept open it is always false.
 */
bool prof_thread_sample_holds(struct prof_target *t, pid_t tid);

#endif
