/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which thread is looked through next, and when to stop.
 */
#include "givers.h"

#include <string.h>
#include <unistd.h>

#include "core/clockpoll.h"
#include "core/config.h"
#include "python/reach.h"
#include "target_parts.h"

/* of a core, one in so many, for the search, and again for those who made before */
#define SHARE 200
#define BUDGET_MOST_NS 2000000ll /* a fork waits for no more than that */
/* of CPU time, beyond that, once; the sampler has as much saved, and more (sample_rate.c) */
#define SAVED_NS 40000000ll
#define NEWEST 4u
#define OWN_AT_ONCE 24u /* threads whose times are read */
#define GAVE_AGAIN_NS 5000000ll /* one that gave, while new things are awaited */
#define RAN_AGAIN_NS 20000000ll /* one that runs, while new things are awaited */
#define RUNS_ON_NS 200000000ll /* one that runs, while nothing new is */
#define SLEEPS_ON_NS 500000000ll /* one that sleeps, while new things are */
#define BIT(i) (UINT32_C(1) << (i))
#define ALL UINT32_MAX

static void feed(int64_t *budget_ns, int64_t *fed_ns, int64_t now_ns)
{
	*budget_ns += *fed_ns ? (now_ns - *fed_ns) / SHARE : BUDGET_MOST_NS;
	*fed_ns = now_ns;
	if (*budget_ns > BUDGET_MOST_NS)
		*budget_ns = BUDGET_MOST_NS;
}

/* Nobody is known at first, and a chain through many threads and processes is found by steps. */
static void spend_saved(struct prof_givers *g)
{
	int64_t more = BUDGET_MOST_NS - g->budget_ns;

	if (more > SAVED_NS - g->spent_ns)
		more = SAVED_NS - g->spent_ns;
	g->spent_ns += more;
	g->budget_ns += more;
}

void prof_givers_turn(struct prof_givers *g, int64_t now_ns)
{
	feed(&g->budget_ns, &g->fed_ns, now_ns);
	spend_saved(g);
	prof_links_age(&g->links, now_ns);
}

bool prof_givers_has_saved(const struct prof_givers *g)
{
	return g->spent_ns < SAVED_NS;
}

bool prof_givers_want(const struct prof_givers *g)
{
	return prof_links_of_objects(&g->links) || prof_links_of_ends(&g->links);
}

/*
 * ---- threads ----------------------------------------------------------------------------------
 */

/*
 * One that has not run has the stack that it had. But what can be reached from there others may
 * change: a pool's thread that sleeps has every new result at once, and is asked about it first of
 * all.
 */
static bool is_due(const struct prof_givers *g, const struct prof_link_holder *h, uint64_t cpu_ns,
		   int64_t now_ns)
{
	int64_t since = now_ns - h->looked_ns;
	bool ran = h->cpu_ns != cpu_ns || !cpu_ns, new = h->objects != g->links.objects;

	if (!h->looked_ns)
		return true;
	if (new && h->gave)
		return since >= GAVE_AGAIN_NS;
	if (ran)
		return since >= (new ? RAN_AGAIN_NS : RUNS_ON_NS);
	return new &&since >= SLEEPS_ON_NS;
}

/*
 * Is it the same object in that process? An address is another object's in each: what this process
 * waits for reach.h tells apart in copies of it; what a copy waits for was judged before.
 */
static bool is_same(const struct prof_link_wanted *w, uint32_t pid)
{
	return w->pid == pid || w->shared || w->pid == (uint32_t)getpid();
}

/*
 * The objects that are wanted of a process, its own or others', of those in @among; those that were
 * awaited last first.
 */
static size_t wanted(const struct prof_links *l, uint32_t pid, bool own, uint32_t among,
		     uint64_t object[PROF_PY_WANTED], uint8_t bit[PROF_PY_WANTED])
{
	uint32_t left = 0, i, last;
	size_t n;

	for (i = 0; i < PROF_LINKS_WANTED; i++)
		if (among & BIT(i) && l->wanted[i].object && (l->wanted[i].pid == pid) == own &&
		    is_same(&l->wanted[i], pid))
			left |= BIT(i);
	for (n = 0; left && n < PROF_PY_WANTED; n++) {
		last = PROF_LINKS_WANTED;
		for (i = 0; i < PROF_LINKS_WANTED; i++)
			if (left & BIT(i) && (last == PROF_LINKS_WANTED ||
					      l->wanted[i].seen_ns > l->wanted[last].seen_ns))
				last = i;
		object[n] = l->wanted[last].object;
		bit[n] = (uint8_t)last;
		left &= ~BIT(last);
	}
	return n;
}

enum what { /* is looked for: what threads of the process wait for, or those of others */
	OWN,
	NEAR,
	OTHERS
};

static int (*const search[])(struct prof_py *py, const struct prof_py_thread *t,
			     const uint64_t *wanted, size_t n, struct prof_py_hold *out) = {
	[OWN] = prof_py_holds_own,
	[NEAR] = prof_py_holds_near,
	[OTHERS] = prof_py_holds,
};

/* What cannot be read now is what it was. */
static void look_through(struct prof_givers *g, struct prof_target *t, pid_t tid, enum what what,
			 uint32_t among, struct prof_link_holder *h)
{
	const struct prof_py_thread *thread = prof_target_python(t, tid);
	struct prof_py_hold hold[PROF_PY_WANTED];
	uint64_t object[PROF_PY_WANTED];
	uint8_t bit[PROF_PY_WANTED];
	size_t n = wanted(&g->links, h->pid, what != OTHERS, among, object, bit), i;
	uint32_t of = 0, gives = 0, holds = 0;

	if (!thread || !n || search[what](t->py, thread, object, n, hold) < 0)
		return;
	for (i = 0; i < n; i++) {
		of |= BIT(bit[i]);
		gives |= hold[i].held && hold[i].gives ? BIT(bit[i]) : 0;
		holds |= hold[i].held ? BIT(bit[i]) : 0;
	}
	prof_links_found(h, of, gives, holds, 0);
}

void prof_givers_judge(struct prof_givers *g, struct prof_target *self, struct prof_target *t,
		       uint32_t pid)
{
	uint32_t i;

	for (i = 0; i < PROF_LINKS_WANTED; i++) {
		struct prof_link_wanted *w = &g->links.wanted[i];

		if (!w->object || w->judged || w->pid != pid)
			continue;
		w->judged = true;
		w->shared = self->py && t->py && prof_py_shares(self->py, t->py, w->object);
	}
}

static void look_if_due(struct prof_givers *g, struct prof_target *t, uint32_t pid, pid_t tid,
			int64_t now_ns)
{
	struct prof_link_holder *h = prof_links_holder(&g->links, pid, (uint32_t)tid);
	uint64_t cpu = 0;

	if (!t->py || (t->pid && !t->forked) || prof_target_cpu(t, tid, &cpu) ||
	    !is_due(g, h, cpu, now_ns))
		return;
	look_through(g, t, tid, OWN, ALL, h);
	look_through(g, t, tid, OTHERS, ALL, h);
	prof_links_looked(&g->links, h, now_ns);
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

void prof_givers_again(struct prof_givers *g, struct prof_target *self, pid_t tid, int64_t now_ns)
{
	if (g->budget_ns >= BUDGET_MOST_NS / 2)
		prof_givers_thread(g, self, (uint32_t)getpid(), tid, now_ns);
}

void prof_givers_own(struct prof_givers *g, struct prof_target *self, int64_t now_ns)
{
	const struct prof_py_thread *list;
	size_t n, i;

	if (g->budget_ns <= 0 || !prof_links_of_objects(&g->links))
		return;
	n = prof_target_pythons(self, &list);
	for (i = 0; i < n && i < NEWEST; i++)
		if (!prof_links_holder(&g->links, (uint32_t)getpid(), (uint32_t)list[i].tid)
			     ->looked_ns)
			prof_givers_thread(g, self, (uint32_t)getpid(), list[i].tid, now_ns);
	for (i = 0; i < n && i < OWN_AT_ONCE && g->budget_ns > 0; i++)
		prof_givers_thread(g, self, (uint32_t)getpid(), list[g->next++ % n].tid, now_ns);
}

/*
 * Where each step has an object of its own, a future, whoever made the last one is asked as soon as
 * the next one is awaited, and for nothing else: it takes a tenth of the time if all is found at
 * once.
 */
static void ask_first(struct prof_givers *g, struct prof_target *t, pid_t tid, uint32_t bits,
		      int64_t now_ns)
{
	struct prof_link_holder *h =
		prof_links_holder(&g->links, (uint32_t)getpid(), (uint32_t)tid);
	int64_t begin = prof_cpu_ns();

	if (h->firsts == g->links.firsts || bits & h->awaits ||
	    now_ns - h->asked_ns < (h->made_ns ? GAVE_AGAIN_NS : RUNS_ON_NS) ||
	    (h->asked_ns > h->made_ns && g->first_ns < BUDGET_MOST_NS / 2)) /* in vain */
		return;
	look_through(g, t, tid, NEAR, bits, h);
	if (h->holds & bits)
		prof_links_looked(&g->links, h, now_ns);
	h->firsts = g->links.firsts;
	h->asked_ns = now_ns;
	g->first_ns -= prof_cpu_ns() - begin;
}

void prof_givers_first(struct prof_givers *g, struct prof_target *self, pid_t tid, int64_t now_ns)
{
	uint32_t bits = prof_links_of_firsts(&g->links, now_ns);

	feed(&g->first_ns, &g->first_fed_ns, now_ns);
	if (self->py && bits && g->first_ns > 0)
		ask_first(g, self, tid, bits, now_ns);
}

void prof_givers_others(struct prof_givers *g, struct prof_target *self, int64_t now_ns)
{
	uint32_t bits = prof_links_of_firsts(&g->links, now_ns);
	const struct prof_py_thread *list;
	size_t n, i;

	feed(&g->first_ns, &g->first_fed_ns, now_ns);
	if (!self->py || !bits || g->first_ns <= 0 || prof_links_held(&g->links, bits))
		return;
	n = prof_target_pythons(self, &list);
	for (i = 0; i < n && i < OWN_AT_ONCE && g->first_ns > 0; i++)
		ask_first(g, self, list[g->next_first++ % n].tid, bits, now_ns);
}

/* The main thread, which is the oldest, and the newest ones. */
void prof_givers_child(struct prof_givers *g, struct prof_target *t, uint32_t pid, int64_t now_ns)
{
	const struct prof_py_thread *list;
	int64_t begin = prof_cpu_ns();
	size_t n, i;

	if (g->budget_ns <= 0 || !prof_links_of_objects(&g->links))
		return;
	n = prof_target_pythons(t, &list);
	g->budget_ns -= prof_cpu_ns() - begin;
	prof_givers_thread(g, t, pid, (pid_t)pid, now_ns);
	for (i = 0; i < n && i < NEWEST; i++)
		if (list[i].tid != (pid_t)pid)
			prof_givers_thread(g, t, pid, list[i].tid, now_ns);
}

/*
 * ---- descriptors ------------------------------------------------------------------------------
 */

void prof_givers_family(struct prof_givers *g, const uint32_t *tid, size_t tids, int64_t now_ns)
{
	int64_t begin = prof_cpu_ns();

	if (g->budget_ns <= 0 || !prof_links_of_ends(&g->links))
		return;
	prof_family_climb(&g->family, prof_config()->run_id, now_ns);
	prof_family_read(&g->family, tid, tids);
	prof_family_look(&g->family, &g->links, now_ns, g->budget_ns);
	g->budget_ns -= prof_cpu_ns() - begin;
}
