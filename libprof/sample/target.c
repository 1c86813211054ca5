/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is kept of a process between samples: its Python, its mounts, files of its threads.
 */
#include "target.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "children.h"
#include "core/clockpoll.h"
#include "core/notes.h"
#include "core/procfile.h"
#include "native.h"
#include "target_parts.h"

#define LIST_SHARE 400 /* listing threads costs one in so many: a quarter of a percent of a core */
#define LIST_LAST_NS 2000000000ll
#define OPEN_EAGER 64u /* settles that look for Python each; then every 16th does */

int prof_target_open(struct prof_target **t, pid_t pid)
{
	struct prof_target *n = calloc(1, sizeof(*n));

	if (!n)
		return -ENOMEM;
	n->pid = pid;
	n->tgid = pid ? pid : getpid();
	*t = n;
	return 0;
}

void prof_target_close(struct prof_target *t)
{
	size_t i;

	if (!t)
		return;
	for (i = 0; i < PROF_TARGET_TASKS; i++)
		prof_task_close(&t->task[i]);
	prof_py_close(t->py);
	prof_mounts_free(&t->mounts);
	free(t);
}

static void note_python(int err)
{
	if (*prof_py_note())
		prof_note("%s", prof_py_note());
	else if (err == -EPERM || err == -EACCES)
		prof_note("Python stacks are not seen: reading memory is not allowed here");
	else if (err == -ENOSYS)
		prof_note("Python stacks are not seen: Linux cannot read memory for us");
}

static void find_python(struct prof_target *t)
{
	int err;

	if (t->py || t->refused || (t->settles > OPEN_EAGER && t->settles % 16))
		return;
	err = prof_py_open(&t->py, t->pid);
	if (err)
		t->py = NULL;
	t->refused = err && err != -ENOENT && err != -ENOMEM && err != -EAGAIN;
	if (t->refused || (!err && *prof_py_note()))
		note_python(err);
}

static void read_mounts(struct prof_target *t)
{
	char path[40] = "/proc/self/mountinfo";

	if (t->mounts.count && !t->mounts.stale)
		return;
	if (t->pid)
		snprintf(path, sizeof(path), "/proc/%d/mountinfo", (int)t->pid);
	if (prof_mounts_read(&t->mounts, path) && !t->pid)
		prof_note("file systems are not named: /proc/self/mountinfo cannot be read");
}

static void read_name(struct prof_target *t)
{
	char path[40], text[32];

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)t->pid);
	if (prof_proc_read(path, text, sizeof(text)) > 0)
		snprintf(t->name, sizeof(t->name), "%.*s", (int)strcspn(text, "\n"), text);
}

bool prof_target_settle(struct prof_target *t, bool native)
{
	t->settles++;
	t->forked = t->pid && prof_forked_from_us(t->pid); /* until it runs another program */
	find_python(t);
	read_mounts(t);
	if (t->pid && !t->py)
		read_name(t);
	if (native && !t->pid && !prof_native_ready() && *prof_native_note())
		prof_note("%s", prof_native_note());
	return !t->refused;
}

/* Each thread costs a read: of a thousand of them the list is made seldom. False: not now. */
bool prof_target_list(struct prof_target *t)
{
	int64_t now = prof_mono_ns(), cost, wait;
	int n;

	if (!t->py || now < t->list_ns)
		return false;
	cost = prof_cpu_ns();
	n = prof_py_threads(t->py, t->python, PROF_TARGET_PYTHONS);
	if (n >= 0) /* else the list changed while it was read: the last one is as good */
		t->pythons = (size_t)n;
	wait = (prof_cpu_ns() - cost) * LIST_SHARE;
	t->list_ns = now + (wait < LIST_LAST_NS ? wait : LIST_LAST_NS);
	return true;
}

size_t prof_target_pythons(struct prof_target *t, const struct prof_py_thread **list)
{
	prof_target_list(t);
	*list = t->python;
	return t->pythons;
}

int prof_target_sched(const struct prof_target *t, pid_t tid, struct prof_sched *s)
{
	struct prof_task task;
	int err;

	prof_task_init(&task, t->pid, tid);
	err = prof_task_sched(&task, s);
	prof_task_close(&task);
	return err;
}

int prof_target_cpu(const struct prof_target *t, pid_t tid, uint64_t *cpu_ns)
{
	struct prof_sched s = { 0 };
	int err = prof_target_sched(t, tid, &s);

	*cpu_ns = s.cpu_ns;
	return err == -ENOENT || err == -ESRCH ? -ESRCH : 0;
}

const char *prof_target_program(const struct prof_target *t)
{
	return t->py ? "" : t->name;
}

const struct prof_mounts *prof_target_mounts(const struct prof_target *t)
{
	return &t->mounts;
}

const struct prof_py_thread *prof_target_python(const struct prof_target *t, pid_t tid)
{
	size_t i;

	for (i = 0; i < t->pythons; i++)
		if (t->python[i].tid == tid)
			return &t->python[i];
	return NULL;
}

bool prof_target_runs_python(const struct prof_target *t, pid_t tid)
{
	return prof_target_python(t, tid);
}

struct prof_task *prof_target_task(struct prof_target *t, pid_t tid)
{
	size_t i;

	for (i = 0; i < PROF_TARGET_TASKS; i++)
		if (t->task[i].open && t->task[i].tid == tid)
			return &t->task[i];
	return NULL;
}

struct prof_task *prof_target_task_new(struct prof_target *t, pid_t tid)
{
	struct prof_task *task = prof_target_task(t, tid);

	if (task)
		return task;
	task = &t->task[t->next_task++ % PROF_TARGET_TASKS];
	prof_task_close(task);
	prof_task_init(task, t->pid, tid);
	return task;
}
