/* SPDX-License-Identifier: Apache-2.0 */
/* What a target is made of: for target.c, and for thread_sample.c, which samples its threads. */
#ifndef PROF_TARGET_PARTS_H
#define PROF_TARGET_PARTS_H

#include "mounts.h"
#include "target.h"
#include "threadfacts.h"

#define PROF_TARGET_PYTHONS 2048u
#define PROF_TARGET_TASKS 16u /* threads whose files are kept open, where that can be done */

struct prof_target {
	pid_t pid; /* 0: this process */
	pid_t tgid; /* as it sees itself */
	struct prof_py *py;
	bool forked; /* off this process: what is older than it has our addresses there */
	char name[16]; /* what the kernel calls it: its program */
	bool refused; /* there is a Python that cannot be read */
	unsigned int settles;
	struct prof_mounts mounts;
	struct prof_py_thread python[PROF_TARGET_PYTHONS];
	size_t pythons;
	int64_t list_ns; /* they are not listed before */
	struct prof_task task[PROF_TARGET_TASKS];
	unsigned int next_task; /* to make room */
};

/* Lists anew which threads run Python, unless that costs too much now: false. */
bool prof_target_list(struct prof_target *t);

/* Of the list; NULL: not in it. */
const struct prof_py_thread *prof_target_python(const struct prof_target *t, pid_t tid);

/* The thread's files, if they are open; NULL: they are not. */
struct prof_task *prof_target_task(struct prof_target *t, pid_t tid);

/* Its files, open or not: those of another thread may make room. */
struct prof_task *prof_target_task_new(struct prof_target *t, pid_t tid);

#endif
