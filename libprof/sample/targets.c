/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists of threads and workers, brought up to date.
 */
#include "targets.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/procfile.h"
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
#define OWN_GIVE 6u /* threads of this process that are seen to give, and ... */
#define OWN_HOLD 2u /* ... that are not, at a time */
#define OWN_NATIVE 8u /* native threads; of many most do not run, and cost one look */
#define MAKES_NS 3000000000ll /* so long a process is taken for one that makes */
#define TASKS_NS 150000000ll
#define BEGUN_NS 5000000ll /* of CPU time: a thread that is seen first may be at work */
#define WHERE 3u /* places to look for who makes: our threads, descriptors, children's threads */
#define TASKS_AT_ONCE 2u /* processes whose threads are read */

int prof_targets_init(struct prof_targets *c)
{
	memset(c, 0, sizeof(*c));
	return prof_target_open(&c->self, 0);
}

/*
 * ---- this process's threads -------------------------------------------------------------------
 */

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

static bool has_ended(pid_t tid)
{
	return syscall(SYS_tgkill, getpid(), tid, 0) && errno == ESRCH;
}

static void add_living(struct prof_targets *c)
{
	uint32_t tid[PROF_SUBMITTERS_MAX];
	size_t n = prof_submitters_read(tid), i;

	for (i = 0; i < n; i++) {
		if (!has_ended((pid_t)tid[i])) {
			add(c, (pid_t)tid[i], WIRE_ROLE_SUBMITTER);
			continue;
		}
		prof_submitters_gone(tid[i]);
		c->bereft = true;
	}
	c->bereft &= !c->threads;
}

static void add_submitters(struct prof_targets *c)
{
	uint64_t owner;
	bool known;
	size_t i;

	add_living(c);
	known = c->threads;
	/*
	 * Nobody submits so far: one that opens ranges waits for the loader, perhaps for the first
	 * time.
	 */
	for (i = 0; !known && i < PROF_RANGE_LOGS && c->threads < PROF_SUBMITTERS_MAX; i++)
		if (prof_range_log_at((unsigned int)i, &owner) && !has_ended((pid_t)owner))
			add(c, (pid_t)(uint32_t)owner, WIRE_ROLE_SUBMITTER);
	if (!c->threads)
		add(c, getpid(), WIRE_ROLE_SUBMITTER);
	c->submitters = c->threads;
}

static void keep_times(struct prof_targets *c, struct prof_target_thread *before, size_t n)
{
	size_t i;

	for (i = 0; i < c->threads; i++) {
		const struct prof_target_thread *was = find(before, n, c->thread[i].tid);

		if (was)
			c->thread[i].native_ns = was->native_ns;
	}
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
	keep_times(c, before, n);
}

struct scan {
	struct prof_targets *c;
	struct prof_thread_sample *sample;
	int64_t now_ns;
	unsigned int walks;
};

/*
 * It ran since the last scan, or began, and nobody lives who submits: it may start who will, or be
 * who will.
 */
static bool may_start(const struct prof_targets *c, const struct prof_scanned *before, pid_t tid,
		      uint64_t cpu)
{
	return c->bereft && (before->tid == tid ? before->cpu_ns != cpu : c->scans > 1);
}

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
	else if (may_start(m->c, &before, tid, cpu))
		add(m->c, tid, WIRE_ROLE_FEEDER);
	else if (before.tid == tid &&
		 (int64_t)(cpu - before.cpu_ns) * AT_WORK > m->now_ns - before.t_ns)
		add(m->c, tid, WIRE_ROLE_OTHER);
	s->cpu_ns = cpu;
	s->t_ns = m->now_ns;
}

/*
 * Threads of this process that hold what is awaited, or (@how 0) did so lately; of more than there
 * is room for others each time. Who pins is looked at anyway.
 */
static void add_makers(struct prof_targets *c, int how, size_t most)
{
	struct prof_links *l = &c->givers.links;
	uint32_t pid = (uint32_t)getpid();
	size_t n, i, before = c->threads;

	for (n = 0; n < PROF_LINKS_HOLDERS && c->threads < before + most; n++) {
		i = (c->maker_at + n) % PROF_LINKS_HOLDERS;
		if (l->holder[i].pid == pid && (l->holder[i].holds || l->holder[i].made_ns) &&
		    (how || l->holder[i].made_ns) &&
		    prof_links_makes(l, pid, l->holder[i].tid) == how)
			add(c, (pid_t)l->holder[i].tid, WIRE_ROLE_PRODUCER);
	}
	c->maker_at = (c->maker_at + n) % PROF_LINKS_HOLDERS;
}

/* The same of native threads, and who feeds a submitter without Python. */
static void add_native(struct prof_targets *c)
{
	pid_t main = prof_target_runs_python(c->self, getpid()) ? getpid() : 0,
	      feeder = prof_nativelink_feeder(&c->native, main), tid[OWN_NATIVE];
	size_t n = prof_nativelink_makers(&c->native, tid, OWN_NATIVE), i;

	if (feeder)
		add(c, feeder, WIRE_ROLE_FEEDER);
	for (i = 0; i < n; i++)
		add(c, tid[i], WIRE_ROLE_PRODUCER);
}

static void scan_again(struct scan *m)
{
	struct prof_targets *c = m->c;
	struct prof_target_thread before[PROF_TARGETS_OWN];
	size_t n = c->threads, others = c->submitters, i;

	memcpy(before, c->thread, sizeof(before));
	c->threads = c->submitters;
	for (i = others; i < n; i++)
		if (before[i].role == WIRE_ROLE_PIN)
			scan_one(m, before[i].tid);
	for (i = others; c->bereft && i < n; i++) /* it sleeps on until it starts the next */
		if (before[i].role == WIRE_ROLE_FEEDER && !has_ended(before[i].tid))
			add(c, before[i].tid, WIRE_ROLE_FEEDER);
	add_native(c);
	add_makers(c, 2, OWN_GIVE);
	add_makers(c, 1, OWN_HOLD);
	add_makers(c, 0, OWN_HOLD);
	for (i = others; i < n; i++)
		scan_one(m, before[i].tid);
	keep_times(c, before, n);
}

void prof_targets_scan(struct prof_targets *c, int64_t now_ns, struct prof_thread_sample *sample)
{
	struct scan m = { .c = c, .sample = sample, .now_ns = now_ns };
	const struct prof_py_thread *list;
	size_t n = prof_target_pythons(c->self, &list), i;

	c->scans++;
	scan_again(&m);
	for (i = 0; i < n && i < SCAN_NEWEST; i++)
		scan_one(&m, list[i].tid);
	for (i = 0; i < n && i < SCAN_OTHERS && m.walks < SCAN_WALKS; i++)
		scan_one(&m, list[c->scan_at++ % n].tid);
}

/*
 * ---- workers ----------------------------------------------------------------------------------
 */

static bool still_there(const struct prof_children *children, pid_t pid)
{
	size_t i;

	for (i = 0; i < children->count; i++)
		if (children->pid[i] == (uint32_t)pid)
			return true;
	return false;
}

/* A stranger stays for as long as it makes, and some time longer. */
static bool is_wanted(const struct prof_targets *c, const struct prof_target_worker *w,
		      int64_t now_ns)
{
	if (!w->stranger)
		return still_there(&c->children, w->pid);
	return now_ns - w->made_ns < MAKES_NS &&
	       prof_family_kin(&c->givers.family, (uint32_t)w->pid) &&
	       !still_there(&c->children, w->pid); /* it was about to be seen as a worker */
}

static void forget_dead(struct prof_targets *c, int64_t now_ns)
{
	size_t i, kept = 0;

	c->strangers = 0;
	for (i = 0; i < c->workers; i++) {
		if (!is_wanted(c, &c->worker[i], now_ns)) {
			prof_target_close(c->worker[i].target);
			continue;
		}
		c->strangers += c->worker[i].stranger;
		if (kept != i)
			c->worker[kept] = c->worker[i];
		kept++;
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

static void open_worker(struct prof_targets *c, pid_t pid, bool stranger, int64_t now_ns)
{
	struct prof_target_worker *w = &c->worker[c->workers];

	if (c->workers == PROF_TARGETS_WORKERS)
		return;
	*w = (struct prof_target_worker){ .pid = pid, .stranger = stranger };
	if (prof_target_open(&w->target, pid))
		return;
	w->made_ns = stranger ? now_ns : 0;
	c->workers++;
	c->strangers += stranger;
}

static void open_new(struct prof_targets *c, int64_t now_ns)
{
	size_t i, opened = 0;

	for (i = 0; i < c->children.count && opened < NEW_WORKERS; i++) {
		if (known(c, (pid_t)c->children.pid[i]) ||
		    prof_shared_samples_itself((pid_t)c->children.pid[i]))
			continue;
		open_worker(c, (pid_t)c->children.pid[i], false, now_ns);
		opened++;
	}
}

/* Processes of any program that hold what is awaited. */
static void open_strangers(struct prof_targets *c, int64_t now_ns)
{
	const struct prof_family *f = &c->givers.family;
	size_t i, opened = 0;

	for (i = 0; i < f->count && opened < NEW_WORKERS; i++) {
		pid_t pid = (pid_t)f->kin[i].pid;

		if (c->strangers == PROF_TARGETS_STRANGERS)
			return;
		if (known(c, pid) || still_there(&c->children, pid) ||
		    prof_shared_samples_itself(pid) ||
		    !prof_links_makes(&c->givers.links, (uint32_t)pid, (uint32_t)pid))
			continue;
		open_worker(c, pid, true, now_ns);
		opened++;
	}
}

/* All of them in turn: where looks are seldom the first few are due again each time. */
static void settle_some(struct prof_targets *c, int64_t now_ns)
{
	size_t i, n = 0;

	for (i = 0; i < c->workers && n < NEW_WORKERS; i++) {
		struct prof_target_worker *w = &c->worker[c->settle_turn++ % c->workers];

		if (w->settled_ns &&
		    (now_ns - w->settled_ns < SETTLE_NS || prof_shared_samples_itself(w->pid)))
			continue;
		prof_target_settle(w->target, false);
		w->settled_ns = now_ns;
		n++;
	}
}

static size_t parents(const struct prof_targets *c, uint32_t tid[PROF_TARGETS_OWN + 1])
{
	size_t i;

	tid[0] = (uint32_t)getpid();
	for (i = 0; i < c->threads; i++)
		tid[i + 1] = (uint32_t)c->thread[i].tid;
	return c->threads + 1;
}

void prof_targets_workers(struct prof_targets *c, int64_t now_ns)
{
	uint32_t tid[PROF_TARGETS_OWN + 1];
	size_t tids = parents(c, tid);

	prof_children_read(&c->children, tid, tids);
	forget_dead(c, now_ns);
	open_new(c, now_ns);
	open_strangers(c, now_ns);
	settle_some(c, now_ns);
}

/*
 * ---- who makes --------------------------------------------------------------------------------
 */

static bool makes(const struct prof_target_worker *w, int64_t now_ns)
{
	return w->made_ns && now_ns - w->made_ns < MAKES_NS;
}

static struct prof_target_task *task_of(struct prof_target_worker *w, pid_t tid)
{
	size_t i;

	for (i = 0; i < PROF_TARGETS_TASKS; i++)
		if (w->task[i].tid == tid)
			return &w->task[i];
	return NULL;
}

/*
 * Which of its threads are at work beside the main one, of the first ones that it has. A pool's
 * thread that has come since ran all of its time since.
 */
static void read_tasks(struct prof_target_worker *w, int64_t now_ns)
{
	struct prof_target_task now[PROF_TARGETS_TASKS] = { 0 }, *was;
	uint32_t tid[PROF_TARGETS_TASKS];
	int64_t passed = now_ns - w->tasks_ns, ran;
	char path[40];
	ssize_t n, i;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)w->pid);
	n = prof_proc_numbers(path, 0, tid, PROF_TARGETS_TASKS);
	for (i = 0; i < n; i++) {
		if ((pid_t)tid[i] == w->pid ||
		    prof_target_cpu(w->target, (pid_t)tid[i], &now[i].cpu_ns))
			continue;
		now[i].tid = (pid_t)tid[i];
		was = task_of(w, (pid_t)tid[i]);
		ran = (int64_t)(now[i].cpu_ns - (was ? was->cpu_ns : 0));
		now[i].works = w->tasks_ns ? ran * AT_WORK > passed : ran >= BEGUN_NS;
	}
	memcpy(w->task, now, sizeof(now));
	w->tasks_ns = now_ns;
}

static void note_makers(struct prof_targets *c, int64_t now_ns)
{
	struct prof_links *l = &c->givers.links;
	size_t i, k;

	for (i = 0; i < PROF_LINKS_HOLDERS; i++) {
		const struct prof_link_holder *h = &l->holder[i];

		if (!h->holds || !prof_links_makes(l, h->pid, h->tid))
			continue;
		for (k = 0; k < c->workers; k++)
			if ((uint32_t)c->worker[k].pid == h->pid)
				c->worker[k].made_ns = now_ns;
	}
}

/* Until it is known who makes, anybody may. */
static void read_some_tasks(struct prof_targets *c, int64_t now_ns)
{
	const bool known = prof_targets_count(c, true) != 0;
	size_t n, read = 0;

	for (n = 0; n < c->workers && read < TASKS_AT_ONCE; n++) {
		struct prof_target_worker *w = &c->worker[c->tasks_turn++ % c->workers];

		if ((known && !makes(w, now_ns)) || now_ns - w->tasks_ns < TASKS_NS)
			continue;
		read_tasks(w, now_ns);
		read++;
	}
}

static void look_at_children(struct prof_targets *c, int64_t now_ns)
{
	struct prof_givers *g = &c->givers;
	size_t n;

	for (n = 0; n < c->workers && g->budget_ns > 0; n++) {
		struct prof_target_worker *w = &c->worker[g->next_target++ % c->workers];

		if (!prof_shared_samples_itself(w->pid))
			prof_givers_child(g, w->target, (uint32_t)w->pid, now_ns);
	}
}

/* Each may use up what time there is: another one begins each time. */
static void look_at_native(struct prof_targets *c, int64_t now_ns)
{
	const struct prof_py_thread *list;
	size_t n = prof_target_pythons(c->self, &list);

	prof_nativelink_scan(&c->native, list, n, now_ns);
}

void prof_targets_makers(struct prof_targets *c, int64_t now_ns)
{
	struct prof_givers *g = &c->givers;
	uint32_t tid[PROF_TARGETS_OWN + 1], i;
	size_t tids = parents(c, tid);

	c->now_ns = now_ns;
	look_at_native(c, now_ns);
	prof_givers_turn(g, now_ns);
	if (!prof_givers_want(g))
		return;
	for (i = 0; i < c->workers; i++)
		prof_givers_judge(g, c->self, c->worker[i].target, (uint32_t)c->worker[i].pid);
	for (i = 0; i < WHERE; i++)
		switch ((c->where + i) % WHERE) {
		case 0:
			prof_givers_own(g, c->self, now_ns);
			break;
		case 1:
			prof_givers_family(g, tid, tids, now_ns);
			break;
		default:
			look_at_children(c, now_ns);
		}
	c->where++;
	note_makers(c, now_ns);
	read_some_tasks(c, now_ns);
}

size_t prof_targets_count(const struct prof_targets *c, bool making)
{
	size_t n = 0, i;

	for (i = 0; i < c->workers; i++)
		n += makes(&c->worker[i], c->now_ns) == making;
	return n;
}

struct prof_target_worker *prof_targets_next(struct prof_targets *c, bool making)
{
	size_t *turn = making ? &c->makers_turn : &c->turn, n;

	for (n = 0; n < c->workers; n++) {
		struct prof_target_worker *w = &c->worker[(*turn)++ % c->workers];

		if (makes(w, c->now_ns) == making)
			return w;
	}
	return NULL;
}
