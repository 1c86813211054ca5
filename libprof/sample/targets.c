/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists of threads and workers, brought up to date.
 */
#include "targets.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "ranges/marks.h"
#include "shared.h"
#include "submitters.h"

#define NEW_WORKERS 4u /* targets opened at a time: each reads some hundred words of memory */
#define SETTLE_NS 500000000ll
#define SCAN_NEWEST 4u /* in every scan ... */
#define SCAN_OTHERS 32u /* ... and so many more, in turn, ... */
#define SCAN_WALKS 8u /* ... until so many stacks were walked */
#define WALKS 3u /* tell what a thread is */
#define AT_WORK 10 /* one tenth of a core makes a thread worth looking at */

int prof_targets_init(struct prof_targets *c)
{
	memset(c, 0, sizeof(*c));
	return prof_target_open(&c->self, 0);
}

/* ---- this process's threads ------------------------------------------------------------------- */

static struct prof_target_thread *find(struct prof_target_thread *list, size_t n, pid_t tid)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (list[i].tid == tid)
			return &list[i];
	return NULL;
}

static void add(struct prof_targets *c, pid_t tid, uint8_t role)
{
	if (c->threads == PROF_TARGETS_OWN || find(c->thread, c->threads, tid))
		return;
	c->thread[c->threads++] = (struct prof_target_thread){ .tid = tid, .role = role };
}

static void add_submitters(struct prof_targets *c)
{
	uint32_t tid[PROF_SUBMITTERS_MAX];
	size_t n = prof_submitters_read(tid), i;
	uint64_t owner;

	for (i = 0; i < n; i++)
		add(c, (pid_t)tid[i], WIRE_ROLE_SUBMITTER);
	/* A thread that opens ranges waits for the loader, perhaps for the first time just now. */
	for (i = 0; i < PROF_RANGE_LOGS && c->threads < PROF_SUBMITTERS_MAX; i++)
		if (prof_range_log_at((unsigned int)i, &owner))
			add(c, (pid_t)(uint32_t)owner, WIRE_ROLE_SUBMITTER);
	if (!c->threads)
		add(c, getpid(), WIRE_ROLE_SUBMITTER);
	c->submitters = c->threads;
}

void prof_targets_submitters(struct prof_targets *c)
{
	struct prof_target_thread before[PROF_TARGETS_OWN];
	size_t n = c->threads, others = c->submitters, i;

	memcpy(before, c->thread, sizeof(before));
	c->threads = 0;
	add_submitters(c);
	for (i = others; i < n; i++)
		add(c, before[i].tid, before[i].role);
	for (i = 0; i < c->threads; i++) {
		const struct prof_target_thread *was = find(before, n, c->thread[i].tid);

		if (was)
			c->thread[i].native_ns = was->native_ns;
	}
}

struct scan {
	struct prof_targets *c;
	struct prof_thread_sample *sample;
	int64_t now_ns;
	unsigned int walks;
};

static void walk(struct scan *m, pid_t tid, struct prof_scanned *s)
{
	m->walks++;
	if (prof_thread_sample_take(m->c->self, tid, PROF_SAMPLE_PYTHON, m->sample))
		return;
	s->walks += m->sample->stack[0] != 0;
	s->pins = strstr(m->sample->stack, "_pin_memory_loop\t");
}

/* One that sleeps on is what it was; CPU time that is not known stays 0. */
static void scan_one(struct scan *m, pid_t tid)
{
	struct prof_scanned *s = &m->c->scanned[(uint32_t)tid % PROF_TARGETS_SCANNED];
	struct prof_scanned before = *s;
	uint64_t cpu;

	if (find(m->c->thread, m->c->threads, tid) ||
	    (before.tid == tid && before.t_ns == m->now_ns) ||
	    prof_target_cpu(m->c->self, tid, &cpu))
		return;
	if (before.tid != tid)
		*s = (struct prof_scanned){ .tid = tid };
	if (!s->pins && s->walks < WALKS && (before.tid != tid || before.cpu_ns != cpu))
		walk(m, tid, s);
	if (s->pins)
		add(m->c, tid, WIRE_ROLE_PIN);
	else if (before.tid == tid &&
		 (int64_t)(cpu - before.cpu_ns) * AT_WORK > m->now_ns - before.t_ns)
		add(m->c, tid, WIRE_ROLE_OTHER);
	s->cpu_ns = cpu;
	s->t_ns = m->now_ns;
}

static void scan_again(struct scan *m)
{
	struct prof_targets *c = m->c;
	struct prof_target_thread before[PROF_TARGETS_OWN];
	size_t n = c->threads, i;

	memcpy(before, c->thread, sizeof(before));
	c->threads = c->submitters;
	for (i = c->submitters; i < n; i++) {
		scan_one(m, before[i].tid);
		if (c->threads && c->thread[c->threads - 1].tid == before[i].tid)
			c->thread[c->threads - 1].native_ns = before[i].native_ns;
	}
}

void prof_targets_scan(struct prof_targets *c, int64_t now_ns, struct prof_thread_sample *sample)
{
	struct scan m = { .c = c, .sample = sample, .now_ns = now_ns };
	const struct prof_py_thread *list;
	size_t n = prof_target_pythons(c->self, &list), i;

	scan_again(&m);
	for (i = 0; i < n && i < SCAN_NEWEST; i++)
		scan_one(&m, list[i].tid);
	for (i = 0; i < n && i < SCAN_OTHERS && m.walks < SCAN_WALKS; i++)
		scan_one(&m, list[c->scan_at++ % n].tid);
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

static void forget_dead(struct prof_targets *c)
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

static bool known(const struct prof_targets *c, pid_t pid)
{
	size_t i;

	for (i = 0; i < c->workers; i++)
		if (c->worker[i].pid == pid)
			return true;
	return false;
}

static void open_worker(struct prof_targets *c, pid_t pid)
{
	struct prof_target_worker w = { .pid = pid };

	if (c->workers < PROF_TARGETS_WORKERS && !prof_target_open(&w.target, pid))
		c->worker[c->workers++] = w;
}

static void open_new(struct prof_targets *c)
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

static void settle_some(struct prof_targets *c, int64_t now_ns)
{
	size_t i, n = 0;

	for (i = 0; i < c->workers && n < NEW_WORKERS; i++) {
		struct prof_target_worker *w = &c->worker[i];

		if (w->settled_ns &&
		    (now_ns - w->settled_ns < SETTLE_NS || prof_shared_samples_itself(w->pid)))
			continue;
		prof_target_settle(w->target, false);
		w->settled_ns = now_ns;
		n++;
	}
}

void prof_targets_workers(struct prof_targets *c, int64_t now_ns)
{
	uint32_t tid[PROF_TARGETS_OWN + 1] = { (uint32_t)getpid() };
	size_t i;

	for (i = 0; i < c->threads; i++)
		tid[i + 1] = (uint32_t)c->thread[i].tid;
	prof_children_read(&c->children, tid, c->threads + 1);
	forget_dead(c);
	open_new(c);
	settle_some(c, now_ns);
}

struct prof_target_worker *prof_targets_next_worker(struct prof_targets *c)
{
	if (!c->workers)
		return NULL;
	return &c->worker[c->turn++ % c->workers];
}
