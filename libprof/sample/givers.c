/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which thread is looked through next, and when to stop.
 */
#include "givers.h"

#include <string.h>
#include <unistd.h>

#include "core/clockpoll.h"
#include "python/reach.h"
#include "target_parts.h"

#define SHARE 100 /* of a core, one in so many */
#define BUDGET_MOST_NS 2000000ll /* a fork waits for no more than that */
#define NEWEST 4u
#define OWN_AT_ONCE 24u /* threads whose times are read */
#define RAN_AGAIN_NS 20000000ll /* one that runs, while new things are awaited */
#define RUNS_ON_NS 200000000ll /* one that runs, while nothing new is */
#define SLEEPS_ON_NS 500000000ll /* one that sleeps, while new things are */
#define BIT(i) (UINT32_C(1) << (i))

void prof_givers_turn(struct prof_givers *g, int64_t now_ns)
{
	g->budget_ns += g->fed_ns ? (now_ns - g->fed_ns) / SHARE : BUDGET_MOST_NS;
	g->fed_ns = now_ns;
	if (g->budget_ns > BUDGET_MOST_NS)
		g->budget_ns = BUDGET_MOST_NS;
	prof_links_age(&g->links, now_ns);
}

bool prof_givers_want(const struct prof_givers *g)
{
	return prof_links_of_objects(&g->links) || prof_links_of_ends(&g->links);
}

/* ---- threads ---------------------------------------------------------------------------------- */

/* One that has not run has the stack that it had. */
static bool is_due(const struct prof_givers *g, const struct prof_link_holder *h, uint64_t cpu_ns,
		   int64_t now_ns)
{
	int64_t since = now_ns - h->looked_ns;
	bool ran = h->cpu_ns != cpu_ns || !cpu_ns, new = h->objects != g->links.objects;

	if (!h->looked_ns)
		return true;
	if (ran)
		return since >= (new ? RAN_AGAIN_NS : RUNS_ON_NS);
	return new && since >= SLEEPS_ON_NS;
}

/* The objects that are wanted, those that were awaited last first. */
static size_t wanted(const struct prof_links *l, uint64_t object[PROF_PY_WANTED],
		     uint8_t bit[PROF_PY_WANTED])
{
	uint32_t left = prof_links_of_objects(l), i, last;
	size_t n;

	for (n = 0; left && n < PROF_PY_WANTED; n++) {
		last = PROF_LINKS_WANTED;
		for (i = 0; i < PROF_LINKS_WANTED; i++)
			if (left & BIT(i) &&
			    (last == PROF_LINKS_WANTED ||
			     l->wanted[i].seen_ns > l->wanted[last].seen_ns))
				last = i;
		object[n] = l->wanted[last].object;
		bit[n] = (uint8_t)last;
		left &= ~BIT(last);
	}
	return n;
}

/* What cannot be read now is what it was. */
static void look_through(struct prof_givers *g, struct prof_target *t, pid_t tid,
			 struct prof_link_holder *h)
{
	const struct prof_py_thread *thread = prof_target_python(t, tid);
	struct prof_py_hold hold[PROF_PY_WANTED];
	uint64_t object[PROF_PY_WANTED];
	uint8_t bit[PROF_PY_WANTED];
	size_t n = wanted(&g->links, object, bit), i;
	uint32_t of = 0, gives = 0, holds = 0;

	if (!thread || !n || prof_py_holds(t->py, thread, object, n, hold) < 0)
		return;
	for (i = 0; i < n; i++) {
		of |= BIT(bit[i]);
		gives |= hold[i].held && hold[i].gives ? BIT(bit[i]) : 0;
		holds |= hold[i].held ? BIT(bit[i]) : 0;
	}
	prof_links_found(h, of, gives, holds, 0);
}

static void look_if_due(struct prof_givers *g, struct prof_target *t, uint32_t pid, pid_t tid,
			int64_t now_ns)
{
	struct prof_link_holder *h = prof_links_holder(&g->links, pid, (uint32_t)tid);
	uint64_t cpu = 0;

	if (!t->py || (t->pid && !t->forked) || prof_target_cpu(t, tid, &cpu) ||
	    !is_due(g, h, cpu, now_ns))
		return;
	look_through(g, t, tid, h);
	h->looked_ns = now_ns;
	h->cpu_ns = cpu;
	h->objects = g->links.objects;
}

void prof_givers_thread(struct prof_givers *g, struct prof_target *t, uint32_t pid, pid_t tid,
			int64_t now_ns)
{
	int64_t begin = prof_cpu_ns();

	if (g->budget_ns <= 0 || !prof_links_of_objects(&g->links))
		return;
	look_if_due(g, t, pid, tid, now_ns);
	g->budget_ns -= prof_cpu_ns() - begin;
}

void prof_givers_own(struct prof_givers *g, struct prof_target *self, int64_t now_ns)
{
	const struct prof_py_thread *list;
	size_t n, i;

	if (g->budget_ns <= 0 || !prof_links_of_objects(&g->links))
		return;
	n = prof_target_pythons(self, &list);
	for (i = 0; i < n && i < NEWEST; i++)
		prof_givers_thread(g, self, (uint32_t)getpid(), list[i].tid, now_ns);
	for (i = 0; i < n && i < OWN_AT_ONCE && g->budget_ns > 0; i++)
		prof_givers_thread(g, self, (uint32_t)getpid(), list[g->next++ % n].tid, now_ns);
}

/* The main thread, which is the oldest, and the newest ones. */
void prof_givers_child(struct prof_givers *g, struct prof_target *t, uint32_t pid, int64_t now_ns)
{
	const struct prof_py_thread *list;
	size_t n, i;

	if (g->budget_ns <= 0 || !prof_links_of_objects(&g->links))
		return;
	n = prof_target_pythons(t, &list);
	prof_givers_thread(g, t, pid, (pid_t)pid, now_ns);
	for (i = 0; i < n && i < NEWEST; i++)
		if (list[i].tid != (pid_t)pid)
			prof_givers_thread(g, t, pid, list[i].tid, now_ns);
}

/* ---- descriptors ------------------------------------------------------------------------------ */

void prof_givers_family(struct prof_givers *g, const uint32_t *tid, size_t tids, int64_t now_ns)
{
	int64_t begin = prof_cpu_ns();

	if (g->budget_ns <= 0 || !prof_links_of_ends(&g->links))
		return;
	prof_family_read(&g->family, tid, tids);
	prof_family_look(&g->family, &g->links, now_ns, g->budget_ns);
	g->budget_ns -= prof_cpu_ns() - begin;
}
