/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /proc/PID/task/TID/children (CONFIG_PROC_CHILDREN), /proc/PID/exe, /proc/PID/cmdline.
 */
#include "children.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/procfile.h"

#define LIST_BYTES 2048u

struct found {
	uint32_t pid[PROF_CHILDREN_MAX];
	size_t count;
};

static bool has(const uint32_t *list, size_t n, uint32_t pid)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (list[i] == pid)
			return true;
	return false;
}

static void add(uint32_t *list, size_t *n, uint32_t pid)
{
	if (*n < PROF_CHILDREN_MAX && !has(list, *n, pid))
		list[(*n)++] = pid;
}

/* Adds the children that thread @tid of process @pid (0: this one) has made. */
static bool children_of(uint32_t pid, uint32_t tid, struct found *f)
{
	char path[64], text[LIST_BYTES];
	const char *p = text;
	uint64_t child;

	if (pid)
		snprintf(path, sizeof(path), "/proc/%u/task/%u/children", pid, tid);
	else
		snprintf(path, sizeof(path), "/proc/self/task/%u/children", tid);
	if (prof_proc_read(path, text, sizeof(text)) < 0)
		return false;
	while (prof_proc_number(&p, &child))
		add(f->pid, &f->count, (uint32_t)child);
	return true;
}

static bool contains(const char *text, size_t len, const char *word)
{
	return memmem(text, len, word, strlen(word)) != NULL;
}

enum prof_child_kind prof_child_kind(const char *command, size_t len, const char *ours,
				     size_t our_len)
{
	if (contains(command, len, "multiprocessing.forkserver"))
		return PROF_CHILD_SERVER;
	if (contains(command, len, "multiprocessing.spawn"))
		return PROF_CHILD_WORKER;
	return len == our_len && !memcmp(command, ours, len) ? PROF_CHILD_WORKER : PROF_CHILD_OTHER;
}

static enum prof_child_kind kind_of(uint32_t pid)
{
	char path[64], its[1024], ours[1024];
	ssize_t n, m;

	snprintf(path, sizeof(path), "/proc/%u/exe", pid);
	if (prof_proc_link(path, its, sizeof(its)) < 0 ||
	    prof_proc_link("/proc/self/exe", ours, sizeof(ours)) < 0 || strcmp(ours, its))
		return PROF_CHILD_OTHER;
	snprintf(path, sizeof(path), "/proc/%u/cmdline", pid);
	n = prof_proc_read(path, its, sizeof(its));
	m = prof_proc_read("/proc/self/cmdline", ours, sizeof(ours));
	return n > 0 && m > 0 ? prof_child_kind(its, (size_t)n, ours, (size_t)m) : PROF_CHILD_OTHER;
}

/* Forgets those that are no longer there. */
static void keep(uint32_t *list, size_t *n, const struct found *f)
{
	size_t i, kept = 0;

	for (i = 0; i < *n; i++)
		if (has(f->pid, f->count, list[i]))
			list[kept++] = list[i];
	*n = kept;
}

/*
 * A child looks like a worker until it runs something else, so it is believed at second sight. The
 * processes of a fork server have its command line: @from_server.
 */
static void sort_child(struct prof_children *c, uint32_t pid, bool from_server,
		       struct found *servers)
{
	enum prof_child_kind kind;

	if (has(c->pid, c->count, pid) || has(c->other, c->others, pid))
		return;
	kind = kind_of(pid);
	if (kind == PROF_CHILD_SERVER && !from_server) {
		add(servers->pid, &servers->count, pid);
	} else if (kind == PROF_CHILD_OTHER) {
		add(c->other, &c->others, pid);
	} else if (has(c->fresh, c->freshes, pid)) {
		add(c->pid, &c->count, pid);
	} else {
		add(c->fresh, &c->freshes, pid);
	}
}

bool prof_children_read(struct prof_children *c, const uint32_t *tid, size_t tids)
{
	struct found all = { .count = 0 }, servers = { .count = 0 };
	bool told = false;
	size_t i, direct;

	for (i = 0; i < tids; i++)
		told |= children_of(0, tid[i], &all);
	direct = all.count;
	for (i = 0; i < direct; i++)
		sort_child(c, all.pid[i], false, &servers);
	for (i = 0; i < servers.count; i++)
		children_of(servers.pid[i], servers.pid[i], &all);
	for (i = direct; i < all.count; i++)
		sort_child(c, all.pid[i], true, &servers);
	keep(c->pid, &c->count, &all);
	keep(c->other, &c->others, &all);
	keep(c->fresh, &c->freshes, &all);
	return told;
}

/* The 28th field of stat, where the stack begins: a copy has it where we have it. 0: not told. */
static uint64_t stack_of(pid_t pid)
{
	char path[40] = "/proc/self/stat", text[1024];
	const char *p;
	int field;

	if (pid)
		snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (prof_proc_read(path, text, sizeof(text)) <= 0)
		return 0;
	p = strrchr(text, ')');
	for (field = 2; p && field < 28; field++) {
		p = strchr(p, ' ');
		p = p ? p + 1 : NULL;
	}
	return p ? strtoull(p, NULL, 10) : 0;
}

bool prof_forked_from_us(pid_t pid)
{
	uint64_t its = stack_of(pid);

	return its && its == stack_of(0);
}
