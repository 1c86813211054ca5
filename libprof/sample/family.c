/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A list that grows by reading the children of those that are in it.
 */
#include "family.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "children.h"
#include "core/clockpoll.h"
#include "core/hash.h"
#include "core/procfile.h"
#include "fdname.h"
#include "memory.h"
#include "sockname.h"

#define READ_AT_ONCE 8u /* processes whose children are read */
#define TASKS_AT_ONCE 8u /* threads of this process */
#define TASKS_OF_KIN 8u /* threads of another one that may have made children */
#define LOOK_AGAIN_NS 1000000000ll
#define FDS 64u /* read at a time */
#define FDS_MAX 1024u /* of one process */
#define CLIMB_AGAIN_NS 10000000000ll
#define RUN_ID "GPUSTARVE_RUN_ID="
#define BIT(i) (UINT32_C(1) << (i))

/*
 * ---- who there is -----------------------------------------------------------------------------
 */

static struct prof_kin *find(struct prof_family *f, uint32_t pid)
{
	size_t i;

	for (i = 0; i < f->count; i++)
		if (f->kin[i].pid == pid)
			return &f->kin[i];
	return NULL;
}

const struct prof_kin *prof_family_kin(const struct prof_family *f, uint32_t pid)
{
	size_t i;

	for (i = 0; i < f->count; i++)
		if (f->kin[i].pid == pid)
			return &f->kin[i];
	return NULL;
}

static bool is_above(const struct prof_family *f, uint32_t pid)
{
	size_t i;

	for (i = 0; i < f->aboves; i++)
		if (f->above[i] == pid)
			return true;
	return false;
}

static void add(struct prof_family *f, uint32_t pid, bool beside)
{
	struct prof_kin *k = find(f, pid);

	if (k)
		k->beside = k->beside && beside;
	else if (pid && f->count < PROF_FAMILY_MAX &&
		 !(beside && (pid == (uint32_t)getpid() || is_above(f, pid))))
		f->kin[f->count++] = (struct prof_kin){ .pid = pid, .beside = beside };
}

static void children_of(struct prof_family *f, uint32_t pid, uint32_t tid, bool beside)
{
	char path[64], text[2048];
	const char *p = text;
	uint64_t child;

	if (pid)
		snprintf(path, sizeof(path), "/proc/%u/task/%u/children", pid, tid);
	else
		snprintf(path, sizeof(path), "/proc/self/task/%u/children", tid);
	if (prof_proc_read(path, text, sizeof(text)) <= 0)
		return;
	while (prof_proc_number(&p, &child))
		add(f, (uint32_t)child, beside);
}

static void read_own(struct prof_family *f, const uint32_t *tid, size_t tids)
{
	uint32_t others[TASKS_AT_ONCE];
	ssize_t n, i;
	size_t k;

	for (k = 0; k < tids; k++)
		children_of(f, 0, tid[k], false);
	n = prof_proc_numbers("/proc/self/task", f->next_task, others, TASKS_AT_ONCE);
	for (i = 0; i < n; i++)
		children_of(f, 0, others[i], false);
	f->next_task = n == TASKS_AT_ONCE ? f->next_task + TASKS_AT_ONCE : 0;
}

/* False: it is gone. @beside: those below it are beside this process. */
static bool read_kin(struct prof_family *f, uint32_t pid, bool beside)
{
	uint32_t tid[TASKS_OF_KIN];
	char path[40];
	ssize_t n, i;

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	n = prof_proc_numbers(path, 0, tid, TASKS_OF_KIN);
	for (i = 0; i < n; i++)
		children_of(f, pid, tid[i], beside);
	return n > 0;
}

/* Its place is taken by the last one. */
static void remove_kin(struct prof_family *f, size_t i)
{
	f->kin[i] = f->kin[--f->count];
}

void prof_family_read(struct prof_family *f, const uint32_t *tid, size_t tids)
{
	size_t n, i;

	read_own(f, tid, tids);
	for (n = 0; n < READ_AT_ONCE && n < f->count; n++) {
		i = f->next_read++ % f->count;
		if (!read_kin(f, f->kin[i].pid, f->kin[i].beside))
			remove_kin(f, i);
	}
	for (i = 0; i < f->aboves; i++)
		read_kin(f, f->above[i], true);
}

/*
 * ---- who is above -----------------------------------------------------------------------------
 */

bool prof_family_is_of_run(const char *environment, size_t len, const char *run_id)
{
	const size_t name = sizeof(RUN_ID) - 1, id = strlen(run_id);
	const char *at = environment, *end = environment + len, *stop;

	for (; at < end && (stop = memchr(at, 0, (size_t)(end - at))); at = stop + 1)
		if ((size_t)(stop - at) == name + id && !memcmp(at, RUN_ID, name))
			return !memcmp(at + name, run_id, id);
	return false;
}

/* As far as it fits: what the launcher sets stands behind what it found. */
static bool is_of_run(uint32_t pid, const char *run_id)
{
	static char environment[128u << 10];
	char path[40];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%u/environ", pid);
	n = prof_proc_read(path, environment, sizeof(environment));
	return n > 0 && prof_family_is_of_run(environment, (size_t)n, run_id);
}

/* 0: it is gone. */
static uint32_t parent_of(uint32_t pid)
{
	char path[40], text[512], *p;
	uint64_t parent = 0;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	if (prof_proc_read(path, text, sizeof(text)) <= 0)
		return 0;
	p = strrchr(text, ')');
	if (!p || strlen(p) < 4)
		return 0;
	p += 4; /* the state */
	return prof_proc_number((const char **)&p, &parent) ? (uint32_t)parent : 0;
}

void prof_family_climb(struct prof_family *f, const char *run_id, int64_t now_ns)
{
	uint32_t pid = (uint32_t)getppid();

	if (!*run_id || (f->above_ns && now_ns - f->above_ns < CLIMB_AGAIN_NS))
		return;
	f->above_ns = now_ns;
	for (f->aboves = 0; f->aboves < PROF_FAMILY_ABOVE && pid > 1; pid = parent_of(pid)) {
		if (!is_of_run(pid, run_id))
			break;
		f->above[f->aboves++] = pid;
	}
}

/*
 * ---- what they have ---------------------------------------------------------------------------
 */

/* What was found of one awaited end among the descriptors of a process. */
struct seen {
	bool reads, writes; /* of a pipe or FIFO */
	bool far, near; /* of a connection: the end of who can give; the end of who waits */
	bool has, apart; /* of memory: it is open; also by a descriptor that we have not */
};

static void see_pipe(struct seen *s, pid_t pid, int fd)
{
	unsigned int ends = prof_fd_ends(pid, fd);

	s->reads |= (ends & PROF_FD_READS) != 0;
	s->writes |= (ends & PROF_FD_WRITES) != 0;
}

static void see_socket(struct seen *s, const struct prof_link_wanted *w, uint64_t inode)
{
	s->near |= w->end && inode == w->end;
	s->far |= inode == w->other[0] || (w->other[1] && inode == w->other[1]);
}

/* A copy of ours has our descriptors; what it opened itself has a number of its own. */
static bool is_ours(const struct prof_memory *m)
{
	const struct prof_memory *own;
	size_t n = prof_memory_own(&own, prof_mono_ns()), i;

	for (i = 0; i < n; i++)
		if (own[i].fd == m->fd && own[i].inode == m->inode && own[i].device == m->device)
			return true;
	return false;
}

static void see_memory(const struct prof_links *l, struct seen *seen, pid_t pid, int fd,
		       const char *link)
{
	struct prof_memory m;
	char id[PROF_LINK_ID];
	uint32_t i;

	if (!prof_memory_look(pid, fd, link, &m))
		return;
	prof_memory_link(id, &m);
	for (i = 0; i < PROF_LINKS_WANTED; i++)
		if (!strcmp(l->wanted[i].id, id)) {
			seen[i].has = true;
			seen[i].apart |= !is_ours(&m);
		}
}

static void see_fd(const struct prof_links *l, struct seen *seen, pid_t pid, int fd,
		   const char *link)
{
	uint64_t socket = prof_socket_inode(link), path = *link == '/' ? prof_hash_text(link) : 0;
	uint64_t pipe = strncmp(link, "pipe:[", 6) ? 0 : strtoull(link + 6, NULL, 10);
	uint32_t i;

	see_memory(l, seen, pid, fd, link);
	for (i = 0; (socket || path || pipe) && i < PROF_LINKS_WANTED; i++) {
		const struct prof_link_wanted *w = &l->wanted[i];

		if (*w->id == 'p' ? (pipe && pipe == w->other[0]) || (path && path == w->path)
				  : false)
			see_pipe(&seen[i], pid, fd);
		else if (socket && (*w->id == 'u' || *w->id == 't'))
			see_socket(&seen[i], w, socket);
	}
}

/* -errno: it is gone, or not to be seen. */
static int see_all(const struct prof_links *l, struct seen *seen, pid_t pid)
{
	char folder[40], path[64], link[256];
	uint32_t fd[FDS], skip = 0;
	ssize_t n, i;

	snprintf(folder, sizeof(folder), "/proc/%d/fd", (int)pid);
	do {
		n = prof_proc_numbers(folder, skip, fd, FDS);
		for (i = 0; i < n; i++) {
			snprintf(path, sizeof(path), "%s/%u", folder, fd[i]);
			if (prof_proc_link(path, link, sizeof(link)) > 0)
				see_fd(l, seen, pid, (int)fd[i], link);
		}
		skip += FDS;
	} while (n == FDS && skip < FDS_MAX);
	return n < 0 ? (int)n : 0;
}

/*
 * A program that was started has only what it was meant to have. A copy of ours has everything, and
 * one of who made us may: that it closed the end of who waits shows that it means to give, that it
 * opened memory itself that it means to use it. Who is beside us may be at any end of a connection
 * for reasons of its own, as another rank is.
 */
static void judge(struct prof_link_holder *h, const struct prof_links *l, const struct seen *seen,
		  const struct prof_kin *k)
{
	uint32_t gives = 0, holds = 0, inherits = 0, i;

	for (i = 0; i < PROF_LINKS_WANTED; i++) {
		bool has = *l->wanted[i].id == 'p' ? seen[i].writes : seen[i].far;
		bool both = *l->wanted[i].id == 'p' ? seen[i].reads : seen[i].near;

		if (k->beside && *l->wanted[i].id != 'p')
			continue;
		if (*l->wanted[i].id == 'm') {
			holds |= seen[i].has ? BIT(i) : 0;
			inherits |= seen[i].has && k->forked && !seen[i].apart ? BIT(i) : 0;
			continue;
		}
		if (has)
			holds |= BIT(i);
		if (has && (k->forked || k->beside) && both)
			inherits |= BIT(i);
		else if (has)
			gives |= BIT(i);
	}
	prof_links_found(h, prof_links_of_ends(l), gives, holds, inherits);
}

/*
 * Of a copy of ours that has both ends one cannot tell what it has them for; unless nobody else has
 * the one that gives, this process included.
 */
static void judge_lone(struct prof_family *f, struct prof_links *l)
{
	struct seen own[PROF_LINKS_WANTED];
	uint32_t lone = prof_links_lone(l), i;
	size_t k;

	if (!lone || f->own_ends == l->ends)
		return;
	for (k = 0; k < f->count; k++)
		if (f->kin[k].ends != l->ends)
			return; /* not all were looked at */
	f->own_ends = l->ends;
	memset(own, 0, sizeof(own));
	if (see_all(l, own, getpid()))
		return;
	for (i = 0; i < PROF_LINKS_WANTED; i++)
		if (own[i].writes || own[i].far)
			lone &= ~BIT(i);
	for (k = 0; k < f->count; k++)
		prof_links_sure(l, f->kin[k].pid, lone);
}

static void look(struct prof_kin *k, struct prof_links *l)
{
	struct seen seen[PROF_LINKS_WANTED];

	memset(seen, 0, sizeof(seen));
	if (!see_all(l, seen, (pid_t)k->pid))
		judge(prof_links_holder(l, k->pid, k->pid), l, seen, k);
}

void prof_family_look(struct prof_family *f, struct prof_links *l, int64_t now_ns, int64_t most_ns)
{
	int64_t until = prof_cpu_ns() + most_ns;
	size_t n;

	for (n = 0; n < f->count && prof_links_of_ends(l); n++) {
		struct prof_kin *k = &f->kin[f->next_look++ % f->count];

		if (k->looked_ns && k->ends == l->ends && now_ns - k->looked_ns < LOOK_AGAIN_NS)
			continue;
		if (!k->known && !k->beside)
			k->forked = prof_forked_from_us((pid_t)k->pid);
		k->known = k->looked_ns != 0; /* a child may be about to run another program */
		look(k, l);
		k->looked_ns = now_ns;
		k->ends = l->ends;
		if (prof_cpu_ns() > until)
			return;
	}
	judge_lone(f, l);
}
