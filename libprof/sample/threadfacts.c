/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat, schedstat, syscall and io of /proc/PID/task/TID.
 */
#include "threadfacts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/procfile.h"

void prof_task_init(struct prof_task *t, pid_t pid, pid_t tid)
{
	int i;

	t->tid = tid;
	t->open = true;
	t->still = 0;
	t->read_ns = 0;
	t->reads = false;
	for (i = 0; i < PROF_TASK_FILES; i++)
		t->fd[i] = -1;
	if (pid)
		snprintf(t->path, sizeof(t->path), "/proc/%d/task/%d/", (int)pid, (int)tid);
	else
		snprintf(t->path, sizeof(t->path), "/proc/self/task/%d/", (int)tid);
}

void prof_task_close(struct prof_task *t)
{
	int i;

	for (i = 0; t->open && i < PROF_TASK_FILES; i++)
		if (t->fd[i] >= 0)
			syscall(SYS_close, t->fd[i]);
	t->open = false;
}

static int open_file(struct prof_task *t, enum prof_task_file file)
{
	static const char *const name[] = { "stat", "schedstat", "syscall", "io" };
	char path[PROF_TASK_PATH + 16];
	long fd;

	strcpy(path, t->path);
	strcat(path, name[file]);
	fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	t->fd[file] = (int)fd;
	return 0;
}

static int read_file(struct prof_task *t, enum prof_task_file file, char *text, size_t room)
{
	int err = t->fd[file] < 0 ? open_file(t, file) : 0;
	long n;

	if (err)
		return err;
	n = syscall(SYS_pread64, t->fd[file], text, room - 1, (off_t)0);
	if (n <= 0)
		return n < 0 ? -errno : -ESRCH;
	text[n] = 0;
	return 0;
}

int prof_task_state(struct prof_task *t, char *state)
{
	char text[512];
	int err = read_file(t, PROF_TASK_STAT, text, sizeof(text));

	return err ? err : prof_parse_state(text, state);
}

int prof_task_sched(struct prof_task *t, struct prof_sched *s)
{
	char text[128];
	int err = read_file(t, PROF_TASK_SCHED, text, sizeof(text));

	return err ? err : prof_parse_sched(text, s);
}

int prof_task_call(struct prof_task *t, struct prof_call *c)
{
	char text[256];
	int err = read_file(t, PROF_TASK_CALL, text, sizeof(text));

	return err ? err : prof_parse_call(text, c);
}

int prof_task_rchar(struct prof_task *t, uint64_t *bytes)
{
	char text[256];
	int err = read_file(t, PROF_TASK_IO, text, sizeof(text));

	return err ? err : prof_parse_rchar(text, bytes);
}

/* A thread may call itself "x) R (y": only the last parenthesis is the kernel's. */
int prof_parse_state(const char *text, char *state)
{
	const char *p = strrchr(text, ')');

	if (!p || p[1] != ' ' || !p[2])
		return -EBADMSG;
	*state = p[2];
	return 0;
}

int prof_parse_sched(const char *text, struct prof_sched *s)
{
	if (!prof_proc_number(&text, &s->cpu_ns) || !prof_proc_number(&text, &s->delay_ns) ||
	    !prof_proc_number(&text, &s->turns))
		return -EBADMSG;
	return 0;
}

int prof_parse_rchar(const char *text, uint64_t *bytes)
{
	static const char name[] = "rchar: ";

	if (strncmp(text, name, sizeof(name) - 1) != 0)
		return -EBADMSG;
	text += sizeof(name) - 1;
	return prof_proc_number(&text, bytes) ? 0 : -EBADMSG;
}

int prof_parse_call(const char *text, struct prof_call *c)
{
	uint64_t nr;
	int i;

	memset(c, 0, sizeof(*c));
	if (!strncmp(text, "running", 7)) {
		c->nr = PROF_CALL_RUNNING;
		return 0;
	}
	if (!prof_proc_number(&text, &nr))
		return -EBADMSG;
	c->nr = (int64_t)nr < 0 ? PROF_CALL_NONE : (int)(nr & 0xffff);
	for (i = 0; c->nr >= 0 && i < 6; i++)
		if (!prof_proc_number(&text, &c->arg[i]))
			return -EBADMSG;
	if (!prof_proc_number(&text, &c->sp) || !prof_proc_number(&text, &c->pc))
		return -EBADMSG;
	return 0;
}
