/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists of threads and workers, brought up to date.
 */
#include "crew.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "marks.h"
#include "roster.h"
#include "shared.h"

#define NEW_WORKERS 4u /* targets opened at a time: each reads some hundred words of memory */
#define SETTLE_NS 500000000ll
#define AT_WORK 10 /* one tenth of a core makes a thread worth looking at */

int prof_crew_init(struct prof_crew *c)
{
	memset(c, 0, sizeof(*c));
	return prof_target_open(&c->self, 0);
}

/* ---- this process's threads ------------------------------------------------------------------- */

static struct prof_member *find(struct prof_member *list, size_t n, pid_t tid)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (list[i].tid == tid)
			return &list[i];
	return NULL;
}

static void add(struct prof_crew *c, pid_t tid, uint8_t role)
{
	if (c->members == PROF_CREW_OWN || find(c->member, c->members, tid))
		return;
	c->member[c->members++] = (struct prof_member){ .tid = tid, .role = role };
}

static void add_submitters(struct prof_crew *c)
{
	uint32_t tid[PROF_ROSTER_MAX];
	size_t n = prof_roster_read(tid), i;
	uint64_t owner;

	for (i = 0; i < n; i++)
		add(c, (pid_t)tid[i], WIRE_ROLE_SUBMITTER);
	/* A thread that opens ranges waits for the loader, perhaps for the first time just now. */
	for (i = 0; i < PROF_LOGS && c->members < PROF_ROSTER_MAX; i++)
		if (prof_log_at((unsigned int)i, &owner))
			add(c, (pid_t)(uint32_t)owner, WIRE_ROLE_SUBMITTER);
	if (!c->members)
		add(c, getpid(), WIRE_ROLE_SUBMITTER);
	c->submitters = c->members;
}

void prof_crew_submitters(struct prof_crew *c)
{
	struct prof_member before[PROF_CREW_OWN];
	size_t n = c->members, others = c->submitters, i;

	memcpy(before, c->member, sizeof(before));
	c->members = 0;
	add_submitters(c);
	for (i = others; i < n; i++)
		add(c, before[i].tid, before[i].role);
	for (i = 0; i < c->members; i++) {
		const struct prof_member *was = find(before, n, c->member[i].tid);

		if (was)
			c->member[i].native_ns = was->native_ns;
	}
}

/* The CPU time that the thread had at the last muster; 0: it was not there. */
static uint64_t cpu_before(const struct prof_crew *c, pid_t tid)
{
	size_t i;

	for (i = 0; i < c->seens; i++)
		if (c->seen[i].tid == tid)
			return c->seen[i].cpu_ns;
	return 0;
}

static void muster_one(struct prof_crew *c, pid_t tid, int64_t passed_ns, struct prof_look *look,
		       struct prof_seen *now, size_t *n)
{
	uint64_t before = cpu_before(c, tid);

	if (prof_look_at(c->self, tid, PROF_LOOK_PYTHON, look))
		return;
	if (*n < PROF_CREW_SEEN)
		now[(*n)++] = (struct prof_seen){ tid, look->s.cpu_ns };
	if (strstr(look->stack, "_pin_memory_loop\t"))
		add(c, tid, WIRE_ROLE_PIN);
	else if (before && (int64_t)(look->s.cpu_ns - before) * AT_WORK > passed_ns)
		add(c, tid, WIRE_ROLE_OTHER);
}

void prof_crew_muster(struct prof_crew *c, int64_t now_ns, struct prof_look *look)
{
	const struct prof_py_thread *list;
	struct prof_seen now[PROF_CREW_SEEN];
	size_t n = prof_target_pythons(c->self, &list), seens = 0, i;

	c->members = c->submitters;
	for (i = 0; i < n && i < PROF_CREW_SEEN; i++)
		if (!find(c->member, c->submitters, list[i].tid))
			muster_one(c, list[i].tid, now_ns - c->muster_ns, look, now, &seens);
	memcpy(c->seen, now, seens * sizeof(now[0]));
	c->seens = seens;
	c->muster_ns = now_ns;
}

/* ---- workers ---------------------------------------------------------------------------------- */

static bool still_there(const struct prof_children *children, pid_t pid)
{
	size_t i;

	for (i = 0; i < children->count; i++)
		if (children->pid[i] == (uint32_t)pid)
			return true;
	return false;
}

static void forget_dead(struct prof_crew *c)
{
	size_t i, kept = 0;

	for (i = 0; i < c->workers; i++) {
		if (still_there(&c->children, c->worker[i].pid))
			c->worker[kept++] = c->worker[i];
		else
			prof_target_close(c->worker[i].target);
	}
	c->workers = kept;
}

static bool known(const struct prof_crew *c, pid_t pid)
{
	size_t i;

	for (i = 0; i < c->workers; i++)
		if (c->worker[i].pid == pid)
			return true;
	return false;
}

static void open_worker(struct prof_crew *c, pid_t pid)
{
	struct prof_worker w = { .pid = pid };

	if (c->workers < PROF_CREW_WORKERS && !prof_target_open(&w.target, pid))
		c->worker[c->workers++] = w;
}

static void open_new(struct prof_crew *c)
{
	size_t i, opened = 0;

	for (i = 0; i < c->children.count && opened < NEW_WORKERS; i++) {
		if (known(c, (pid_t)c->children.pid[i]) ||
		    prof_shared_samples_itself((pid_t)c->children.pid[i]))
			continue;
		open_worker(c, (pid_t)c->children.pid[i]);
		opened++;
	}
}

static void settle_some(struct prof_crew *c, int64_t now_ns)
{
	size_t i, n = 0;

	for (i = 0; i < c->workers && n < NEW_WORKERS; i++) {
		struct prof_worker *w = &c->worker[i];

		if (w->settled_ns &&
		    (now_ns - w->settled_ns < SETTLE_NS || prof_shared_samples_itself(w->pid)))
			continue;
		prof_target_settle(w->target, false);
		w->settled_ns = now_ns;
		n++;
	}
}

void prof_crew_workers(struct prof_crew *c, int64_t now_ns)
{
	uint32_t tid[PROF_CREW_OWN + 1] = { (uint32_t)getpid() };
	size_t i;

	for (i = 0; i < c->members; i++)
		tid[i + 1] = (uint32_t)c->member[i].tid;
	prof_children_read(&c->children, tid, c->members + 1);
	forget_dead(c);
	open_new(c);
	settle_some(c, now_ns);
}

struct prof_worker *prof_crew_next(struct prof_crew *c)
{
	if (!c->workers)
		return NULL;
	return &c->worker[c->turn++ % c->workers];
}
