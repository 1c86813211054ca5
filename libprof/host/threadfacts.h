/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel says of one thread: its state, the system call that it is in, how long it ran and
 * how long it waited for a CPU. Reading and taking apart are separate, for tests. Any thread;
 * allocates nothing. Sources: proc(5); fs/proc/{array,base}.c of Linux.
 */
#ifndef PROF_THREADFACTS_H
#define PROF_THREADFACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PROF_TASK_PATH 64u

struct prof_sched { /* schedstat, since the thread began */
	uint64_t cpu_ns; /* on a CPU */
	uint64_t delay_ns; /* it could run and got no CPU */
	uint64_t turns; /* how often it was put on a CPU */
};

#define PROF_CALL_NONE (-1) /* blocked, not in a system call: a page fault */
#define PROF_CALL_RUNNING (-2)

struct prof_call { /* syscall */
	int nr; /* or one of the two above */
	uint64_t arg[6];
	uint64_t sp, pc; /* 0 while it runs */
};

/* "/proc/self/task/TID/", or with a pid "/proc/PID/task/TID/". */
void prof_task_path(char out[PROF_TASK_PATH], pid_t pid, pid_t tid);

/* The three files below that path. 0 or -errno: -ENOENT and -ESRCH when it is gone, -EACCES. */
int prof_read_state(const char *task, char *state);
int prof_read_sched(const char *task, struct prof_sched *s);
int prof_read_call(const char *task, struct prof_call *c);

/* Their texts. 0 or -EBADMSG. */
int prof_parse_state(const char *text, char *state); /* the letter behind the last ')' */
int prof_parse_sched(const char *text, struct prof_sched *s);
int prof_parse_call(const char *text, struct prof_call *c);

#endif
