/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /proc/PID/task/TID/children (CONFIG_PROC_CHILDREN), /proc/PID/exe, /proc/PID/cmdline.
 */
#include "children.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/procfile.h"

#define LIST_BYTES 2048u

#define WORDS_BYTES 1024u

struct found {
	uint32_t pid[PROF_CHILDREN_MAX];
	size_t count;
};

struct words { /* what a process runs */
	char exe[WORDS_BYTES], command[WORDS_BYTES];
	ssize_t len; /* of the command; 0 or less: not told */
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

static void read_ours(struct words *ours)
{
	if (prof_proc_link("/proc/self/exe", ours->exe, sizeof(ours->exe)) < 0)
		*ours->exe = '\0';
	ours->len = prof_proc_read("/proc/self/cmdline", ours->command, sizeof(ours->command));
}

/* @ours is read for the first one, and empty before. */
static enum prof_child_kind kind_of(uint32_t pid, struct words *ours)
{
	char path[64], its[WORDS_BYTES];
	ssize_t n;

	if (!*ours->exe)
		read_ours(ours);
	snprintf(path, sizeof(path), "/proc/%u/exe", pid);
	if (prof_proc_link(path, its, sizeof(its)) < 0 || strcmp(ours->exe, its))
		return PROF_CHILD_OTHER;
	snprintf(path, sizeof(path), "/proc/%u/cmdline", pid);
	n = prof_proc_read(path, its, sizeof(its));
	if (n <= 0 || ours->len <= 0)
		return PROF_CHILD_OTHER;
	return prof_child_kind(its, (size_t)n, ours->command, (size_t)ours->len);
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
		       struct found *servers, struct words *ours)
{
	enum prof_child_kind kind;

	if (has(c->pid, c->count, pid) || has(c->other, c->others, pid))
		return;
	kind = kind_of(pid, ours);
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
	struct words ours;
	bool told = false;
	size_t i, direct;

	*ours.exe = '\0';
	for (i = 0; i < tids; i++)
		told |= children_of(0, tid[i], &all);
	direct = all.count;
	for (i = 0; i < direct; i++)
		sort_child(c, all.pid[i], false, &servers, &ours);
	for (i = 0; i < servers.count; i++)
		children_of(servers.pid[i], servers.pid[i], &all);
	for (i = direct; i < all.count; i++)
		sort_child(c, all.pid[i], true, &servers, &ours);
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

/* Ours stays what it is, in what is forked off this process as well. */
static uint64_t own_stack(void)
{
	static _Atomic uint64_t own;
	uint64_t at = atomic_load_explicit(&own, memory_order_relaxed);

	if (!at) {
		at = stack_of(0);
		atomic_store_explicit(&own, at, memory_order_relaxed);
	}
	return at;
}

bool prof_forked_from_us(pid_t pid)
{
	uint64_t its = stack_of(pid);

	return its && its == own_stack();
}
