/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process whose threads are sampled: this one, or a child of it. It belongs to one thread at a
 * time. Descriptors are opened and closed within one sample, because programs close descriptors
 * that they do not know and use the numbers again; a thread that has a table of its own (ownfds.h)
 * keeps some open. open, close and settle may allocate and load; all others allocate nothing and
 * take no lock, so that a fork can wait for them.
 */
#ifndef PROF_TARGET_H
#define PROF_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "python/pystack.h"

struct prof_mounts;
struct prof_sched;
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

/*
 * The threads that run Python, newest first, at most 2,048: from a list that is made anew when that
 * costs little, and else is some time old. *list stays; a sample may fill it anew.
 */
size_t prof_target_pythons(struct prof_target *t, const struct prof_py_thread **list);

/* Its times, as the next: 0 or -errno. */
int prof_target_sched(const struct prof_target *t, pid_t tid, struct prof_sched *s);

/*
 * For how long a thread has run, without a sample: 0, or -ESRCH; *cpu_ns is 0 where it is not told.
 */
int prof_target_cpu(const struct prof_target *t, pid_t tid, uint64_t *cpu_ns);
/* Is it in the list of threads that run Python? */
bool prof_target_runs_python(const struct prof_target *t, pid_t tid);

/* Of another process without Python: its program's name as the kernel has it; else "". */
const char *prof_target_program(const struct prof_target *t);

const struct prof_mounts *prof_target_mounts(const struct prof_target *t);

#endif
