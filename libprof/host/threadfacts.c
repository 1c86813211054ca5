/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat, schedstat and syscall of /proc/PID/task/TID.
 */
#include "threadfacts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "procfile.h"

void prof_task_path(char out[PROF_TASK_PATH], pid_t pid, pid_t tid)
{
	if (pid)
		snprintf(out, PROF_TASK_PATH, "/proc/%d/task/%d/", (int)pid, (int)tid);
	else
		snprintf(out, PROF_TASK_PATH, "/proc/self/task/%d/", (int)tid);
}

static int read_file(const char *task, const char *name, char *text, size_t room)
{
	char path[PROF_TASK_PATH + 16];
	size_t n = strlen(task);
	ssize_t len;

	memcpy(path, task, n);
	strcpy(path + n, name);
	len = prof_proc_read(path, text, room);
	if (len < 0)
		return (int)len;
	return len ? 0 : -ESRCH;
}

int prof_read_state(const char *task, char *state)
{
	char text[512];
	int err = read_file(task, "stat", text, sizeof(text));

	return err ? err : prof_parse_state(text, state);
}

int prof_read_sched(const char *task, struct prof_sched *s)
{
	char text[128];
	int err = read_file(task, "schedstat", text, sizeof(text));

	return err ? err : prof_parse_sched(text, s);
}

int prof_read_call(const char *task, struct prof_call *c)
{
	char text[256];
	int err = read_file(task, "syscall", text, sizeof(text));

	return err ? err : prof_parse_call(text, c);
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
