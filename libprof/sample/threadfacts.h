/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel says of one thread: its state, the system call that it is in, how long it ran and
 * how long it waited for a CPU, and how much it read. Reading and taking apart are separate, for
 * tests. Any thread; allocates nothing. Sources: proc(5); fs/proc/{array,base}.c of Linux.
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

enum prof_task_file {
	PROF_TASK_STAT,
	PROF_TASK_SCHED,
	PROF_TASK_CALL,
	PROF_TASK_IO,
	PROF_TASK_FILES
};

struct prof_task { /* a thread whose files are read */
	pid_t tid;
	bool open;
	char path[PROF_TASK_PATH]; /* /proc/self/task/TID/ or /proc/PID/task/TID/ */
	int fd[PROF_TASK_FILES]; /* -1: not opened so far */
	uint64_t still; /* turns at a look that found it blocked all the time; 0: none did */
	char letter; /* its state then */
	int64_t read_ns; /* when it was last asked how much it read; 0: never ... */
	bool reads; /* ... and found waiting for something to read */
};

/* @pid 0: this process. Opens nothing yet: each file is opened when it is read first. */
void prof_task_init(struct prof_task *t, pid_t pid, pid_t tid);
void prof_task_close(struct prof_task *t);

/* 0 or -errno: -ENOENT and -ESRCH when the thread is gone, -EACCES. */
int prof_task_state(struct prof_task *t, char *state);
int prof_task_sched(struct prof_task *t, struct prof_sched *s);
int prof_task_call(struct prof_task *t, struct prof_call *c);
/*
 * What read(), readv() and pread() gave it since it began; recv() and mapped files are not counted.
 */
int prof_task_rchar(struct prof_task *t, uint64_t *bytes);

/* Their texts. 0 or -EBADMSG. */
int prof_parse_state(const char *text, char *state); /* the letter behind the last ')' */
int prof_parse_sched(const char *text, struct prof_sched *s);
int prof_parse_call(const char *text, struct prof_call *c);
int prof_parse_rchar(const char *text, uint64_t *bytes);

#endif
