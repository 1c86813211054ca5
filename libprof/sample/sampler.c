/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One thread: sleeps until the next turn, asks sample_rate.c what to do, takes samples, hands rows
 * to evidence.c.
 *
 * Every sample is taken between two forks (core/fork_lock.c); rows are handed over outside of that,
 * for handing over allocates, and an allocator may have atfork handlers, too.
 */
#include "sampler.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/clockpoll.h"
#include "core/config.h"
#include "core/fork_lock.h"
#include "core/notes.h"
#include "core/ownfds.h"
#include "core/procfile.h"
#include "core/thread.h"
#include "evidence.h"
#include "heard.h"
#include "nativesample.h"
#include "ranges/ranges.h"
#include "sample_rate.h"
#include "shared.h"
#include "targets.h"
#include "thread_sample.h"
#include "threadfacts.h"
#include "throttle.h"
#include "waitkind.h"

#define MS 1000000ll
#define SETTLE_NS (500 * MS)
#define FIRST_SETTLES 8u
#define SCAN_NS (100 * MS) /* while something starves */
#define SOON_NS (20 * MS) /* where somebody waits for what nobody was asked for so far */
#define THROTTLE_NS (100 * MS)
#define NATIVE_NS (50 * MS) /* of one thread */
#define AGAIN_NS (3 * MS) /* one that naps wakes, looks and sleeps again within so long, mostly */
#define NUDGE_NS (200 * MS) /* a hook wakes us no oftener */
#define LOADER_NS (500 * MS) /* as if a batch had been waited for so long, all the time */
#define WORKERS_AT_ONCE 4u
#define TASKS_AT_ONCE 3u /* threads of one of them beside the main one */
#define CENSUS_MAX 64u /* threads in one census; the next one goes on behind them ... */
#define CENSUS_MOST_NS 250000ll /* ... as it does when so much CPU time is spent */
#define COUNTED 1024u /* a power of two */

static struct {
	atomic_bool alive, stopping;
	atomic_uint wake, ended;
	_Atomic int64_t drained_ns, cpu_ns, nudge_ns;
	_Atomic uint64_t left_out;

	pid_t pid; /* ours: asking the kernel is dear where each look needs it */
	struct prof_sample_rate rate;
	struct prof_targets targets;
	struct prof_throttle throttle;
	uint64_t throttled_ns;
	bool starving; /* in this turn: links are followed */
	int64_t period_ns; /* of this turn */
	int64_t again_ns; /* those that submit are looked at once more then; 0: none naps */
	int64_t again_period_ns; /* as the look before them */
	int64_t settle_ns, scan_ns, throttle_ns; /* when next */
	bool slowed, least; /* are told */
	unsigned int settles;
	int64_t once_ns; /* CPU time that the first of them took */
	int64_t scanned_ns;
	uint32_t awaited; /* so far, then: what is more was awaited by nobody at the last scan */
	uint32_t census_at; /* threads that the last ones got to */
	struct prof_thread_sample sample;
} sm;

/* Threads of the last censuses and their times, to tell which have run since. */
static struct counted {
	uint32_t tid;
	bool disk; /* it slept for a disk */
	struct prof_sched sched;
} counted[COUNTED];

/*
 * ---- samples -----------------------------------------------------------------------------------
 */

/* A program that forks all the time keeps us out; as many looks are lost as fit into the time. */
static bool enter(void)
{
	int64_t before = prof_mono_ns();

	if (prof_fork_lock_sample_enter())
		return true;
	prof_evidence_missed(1 + (uint64_t)((prof_mono_ns() - before) / sm.period_ns));
	return false;
}

/* True if there is a look to hand over. */
static bool look_at(struct prof_target *t, pid_t tid, unsigned int what)
{
	int err;

	if (!enter())
		return false;
	if (sm.starving && what & PROF_SAMPLE_WAIT)
		what |= PROF_SAMPLE_LINKS;
	err = prof_thread_sample_take(t, tid, what, &sm.sample);
	prof_fork_lock_sample_leave();
	return !err;
}

static uint32_t in_row(int64_t period_ns)
{
	return period_ns < UINT32_MAX ? (uint32_t)period_ns : UINT32_MAX;
}

/* A thread that has not run since we looked last needs no second look. */
static bool holds(struct prof_target *t, pid_t pid, pid_t tid, int64_t period_ns)
{
	if (!prof_thread_sample_holds(t, tid) ||
	    !prof_evidence_again((uint32_t)pid, (uint32_t)tid, prof_now_ns(), in_row(period_ns)))
		return false;
	if (sm.starving) {
		prof_links_await_on(&sm.targets.givers.links, (uint32_t)pid, (uint32_t)tid,
				    prof_mono_ns());
		prof_nativelink_await_on(&sm.targets.native, tid, prof_mono_ns());
	}
	return true;
}

static void scan_soon(void)
{
	if (sm.scan_ns > sm.scanned_ns + SOON_NS)
		sm.scan_ns = sm.scanned_ns + SOON_NS;
}

static uint32_t awaited_so_far(void)
{
	return sm.targets.givers.links.objects + sm.targets.givers.links.ends;
}

static void hand_over(uint8_t role, int64_t period_ns)
{
	struct wire_sample *s = &sm.sample.s;

	s->role = role;
	s->period_ns = in_row(period_ns);
	s->throttled_ns = sm.throttled_ns;
	if (sm.starving) {
		prof_links_await(&sm.targets.givers.links, &sm.sample, prof_mono_ns());
		prof_links_tell(&sm.targets.givers.links, &sm.sample);
		if (awaited_so_far() != sm.awaited && prof_givers_has_saved(&sm.targets.givers))
			scan_soon();
	}
	prof_evidence_sample(&sm.sample);
}

/*
 * What is awaited may have changed since: whether it holds that, too, is asked more often than of
 * others.
 */
static void look_through(pid_t tid, int64_t now_ns)
{
	if (!enter())
		return;
	prof_givers_first(&sm.targets.givers, sm.targets.self, tid, now_ns);
	prof_givers_again(&sm.targets.givers, sm.targets.self, tid, now_ns);
	prof_fork_lock_sample_leave();
}

static void link_native(const struct prof_target_thread *m, int64_t now_ns)
{
	struct prof_nativesample of = {
		.tid = m->tid,
		.role = m->role,
		.python = prof_target_runs_python(sm.targets.self, m->tid),
		.now_ns = now_ns,
	};

	if (m->role == WIRE_ROLE_OTHER || !prof_fork_lock_sample_enter())
		return;
	prof_nativesample_link(&sm.targets.native, &of, &sm.sample);
	prof_fork_lock_sample_leave();
	if (prof_nativelink_asks(&sm.targets.native))
		scan_soon();
}

/* @now_ns: 0 for no native stack. */
static void look_at_thread(struct prof_target_thread *m, int64_t now_ns, int64_t period_ns)
{
	unsigned int what = PROF_SAMPLE_WAIT | PROF_SAMPLE_PYTHON;
	struct prof_links *l = &sm.targets.givers.links;

	if (sm.starving && m->role == WIRE_ROLE_PRODUCER &&
	    prof_target_runs_python(sm.targets.self, m->tid))
		look_through(m->tid, now_ns);
	if (!(sm.starving && prof_links_news(l, (uint32_t)sm.pid, (uint32_t)m->tid)) &&
	    holds(sm.targets.self, sm.pid, m->tid, period_ns))
		return;
	if (now_ns && now_ns - m->native_ns >= NATIVE_NS)
		what |= PROF_SAMPLE_NATIVE;
	if (!look_at(sm.targets.self, m->tid, what))
		return;
	if (sm.sample.native[0])
		m->native_ns = now_ns;
	if (sm.starving)
		link_native(m, now_ns);
	hand_over(m->role, period_ns);
}

static bool is_target(pid_t tid)
{
	size_t i;

	for (i = 0; i < sm.targets.threads; i++)
		if (sm.targets.thread[i].tid == tid)
			return true;
	return false;
}

/* Somebody waits for Python's lock: who has it? */
static void look_at_holder(pid_t tid, int64_t period_ns)
{
	struct prof_target_thread holder = { .tid = tid, .role = WIRE_ROLE_OTHER };

	if (!is_target(tid))
		look_at_thread(&holder, 0, period_ns);
}

/*
 * Of a thread that sleeps one look does not tell whether it sleeps once, or looks again and again
 * for what others give. Looks are further apart than many a wait is long.
 */
static void look_again(void)
{
	size_t i;

	sm.again_ns = 0;
	prof_targets_submitters(&sm.targets);
	for (i = 0; i < sm.targets.submitters; i++)
		look_at_thread(&sm.targets.thread[i], 0, sm.again_period_ns);
}

static bool naps(const struct prof_target_thread *t)
{
	return sm.sample.s.tid == (uint32_t)t->tid && t->role == WIRE_ROLE_SUBMITTER &&
	       sm.sample.s.wait == WIRE_WAIT_SLEEP;
}

static void look_at_own(int64_t now_ns, int64_t period_ns, bool starving)
{
	size_t n, i;
	pid_t holder = 0;
	bool again = false;

	prof_targets_submitters(&sm.targets);
	sm.sample.s.tid = 0;
	n = starving ? sm.targets.threads : sm.targets.submitters;
	for (i = 0; i < n; i++) {
		look_at_thread(&sm.targets.thread[i], starving ? now_ns : 0, period_ns);
		if (sm.sample.s.wait == WIRE_WAIT_GIL && sm.sample.holder &&
		    sm.sample.s.tid == (uint32_t)sm.targets.thread[i].tid)
			holder = sm.sample.holder;
		again |= starving && naps(&sm.targets.thread[i]);
	}
	sm.again_ns = again ? now_ns + AGAIN_NS : 0;
	sm.again_period_ns = period_ns;
	if (holder)
		look_at_holder(holder, period_ns);
	if (starving && enter()) {
		prof_givers_others(&sm.targets.givers, sm.targets.self, now_ns);
		prof_fork_lock_sample_leave();
	}
}

/* Another program has no line of Python to be known by. */
static void name_program(const struct prof_target *t)
{
	char word[PROF_LINK_ID];

	prof_link_name(word, prof_target_program(t));
	prof_link_add(sm.sample.links, PROF_LINK_NAMED, word);
}

static void look_at_task(struct prof_target_worker *w, pid_t tid, int64_t period_ns)
{
	bool makes = prof_links_makes(&sm.targets.givers.links, (uint32_t)w->pid, (uint32_t)tid);

	if (holds(w->target, w->pid, tid, period_ns) ||
	    !look_at(w->target, tid, PROF_SAMPLE_WAIT | PROF_SAMPLE_PYTHON))
		return;
	if (sm.starving)
		name_program(w->target);
	hand_over(makes && !prof_wait_in_loader(sm.sample.stack) ? WIRE_ROLE_PRODUCER
		  : tid == w->pid				 ? WIRE_ROLE_WORKER
								 : WIRE_ROLE_WORKER_OTHER,
		  period_ns);
}

static bool may_make(const struct prof_target_worker *w, const struct prof_target_task *t)
{
	return t->tid && !t->works &&
	       prof_links_makes(&sm.targets.givers.links, (uint32_t)w->pid, (uint32_t)t->tid) == 2;
}

/*
 * Its main thread, and of one that makes what is awaited those that are at work, and some of the
 * others in turn: what the process has all its threads have, and one may be blocked in reading the
 * batch.
 */
static void look_at_worker(struct prof_target_worker *w, int64_t period_ns)
{
	unsigned int looked = 0;
	size_t i;

	look_at_task(w, w->pid, period_ns);
	for (i = 0; i < PROF_TARGETS_TASKS && looked < TASKS_AT_ONCE; i++)
		if (w->task[i].tid && w->task[i].works) {
			look_at_task(w, w->task[i].tid, period_ns);
			looked++;
		}
	for (i = 0; i < PROF_TARGETS_TASKS && looked < TASKS_AT_ONCE; i++) {
		const struct prof_target_task *t = &w->task[w->task_turn++ % PROF_TARGETS_TASKS];

		if (may_make(w, t)) {
			look_at_task(w, t->tid, period_ns);
			looked++;
		}
	}
}

static void look_at_some(int64_t period_ns, bool making, size_t most)
{
	size_t all = prof_targets_count(&sm.targets, making), n = all < most ? all : most, i;
	int64_t turn_ns = n ? period_ns * (int64_t)all / (int64_t)n : 0;

	for (i = 0; i < n; i++) {
		struct prof_target_worker *w = prof_targets_next(&sm.targets, making);

		if (w && !prof_shared_samples_itself(w->pid))
			look_at_worker(w, turn_ns);
	}
}

/* Those who make what is awaited come first. */
static void look_at_workers(int64_t period_ns)
{
	size_t making = prof_targets_count(&sm.targets, true);

	look_at_some(period_ns, true, WORKERS_AT_ONCE);
	look_at_some(period_ns, false, making < WORKERS_AT_ONCE ? WORKERS_AT_ONCE - making : 1);
}

/*
 * ---- census -----------------------------------------------------------------------------------
 */

/* One that has not been put on a CPU since still sleeps as it did: it need not be asked how. */
static bool sleeps_on(const struct counted *c, uint32_t tid, const struct prof_sched *now)
{
	return c->tid == tid && !c->disk && c->sched.turns == now->turns &&
	       c->sched.cpu_ns == now->cpu_ns;
}

static bool read_sched(uint32_t tid, struct prof_sched *now)
{
	int err;

	if (!enter())
		return false;
	err = prof_target_sched(sm.targets.self, (pid_t)tid, now);
	prof_fork_lock_sample_leave();
	return !err;
}

/* Has it run since the last census? One that sleeps on is no news. */
static void count_thread(uint32_t tid, int64_t period_ns)
{
	struct counted *c = &counted[tid % COUNTED];
	struct prof_sched now;
	bool news;

	if (is_target((pid_t)tid) || !read_sched(tid, &now) || sleeps_on(c, tid, &now) ||
	    !look_at(sm.targets.self, (pid_t)tid, 0))
		return;
	news = c->tid == tid && c->sched.cpu_ns != sm.sample.s.cpu_ns;
	now.cpu_ns = sm.sample.s.cpu_ns;
	*c = (struct counted){ .tid = tid,
			       .disk = sm.sample.s.state == WIRE_STATE_DISK,
			       .sched = now };
	if (news || c->disk)
		hand_over(WIRE_ROLE_OTHER, period_ns);
}

static void census(int64_t period_ns)
{
	int64_t until = prof_cpu_ns() + CENSUS_MOST_NS;
	uint32_t tid[CENSUS_MAX];
	ssize_t n, i;

	if (!prof_fork_lock_sample_enter())
		return;
	n = prof_proc_numbers("/proc/self/task", sm.census_at, tid, CENSUS_MAX);
	prof_fork_lock_sample_leave();
	for (i = 0; i < n && prof_cpu_ns() < until; i++)
		count_thread(tid[i], period_ns);
	sm.census_at = i < n || n == CENSUS_MAX ? sm.census_at + (uint32_t)i : 0;
}

/*
 * ---- turns ------------------------------------------------------------------------------------
 */

/*
 * Finding Python and reading tables for unwinding costs some milliseconds once: no rate of looks
 * would make that less, so it is no reason to look less often.
 */
static void settle(int64_t now_ns)
{
	int64_t before = prof_cpu_ns();

	sm.settle_ns = now_ns + SETTLE_NS;
	if (prof_fork_lock_sample_enter()) {
		prof_native_ready();
		prof_fork_lock_sample_leave();
	}
	prof_target_settle(sm.targets.self, true);
	if (!sm.throttle.count)
		prof_throttle_find(&sm.throttle, prof_target_mounts(sm.targets.self));
	if (sm.settles++ < FIRST_SETTLES)
		sm.once_ns += prof_cpu_ns() - before;
}

/* Workers that look at themselves wait, too: perhaps for processes that are below them. */
static void hear(int64_t now_ns)
{
	static struct prof_heard heard[PROF_HEARD_MAX];
	size_t n = prof_heard_take(heard), i;

	for (i = 0; i < n; i++) {
		memset(&sm.sample.s, 0, sizeof(sm.sample.s));
		memset(sm.sample.end, 0, sizeof(sm.sample.end));
		sm.sample.stack[0] = sm.sample.target[0] = 0;
		sm.sample.s.role = WIRE_ROLE_WORKER;
		sm.sample.s.pid = heard[i].pid;
		sm.sample.s.tid = heard[i].tid;
		memcpy(sm.sample.links, heard[i].links, sizeof(heard[i].links));
		prof_links_await(&sm.targets.givers.links, &sm.sample, now_ns);
	}
}

static void scan(int64_t now_ns, uint32_t divider)
{
	hear(now_ns);
	sm.scanned_ns = now_ns;
	sm.awaited = awaited_so_far();
	sm.scan_ns = now_ns + SCAN_NS * divider;
	if (prof_fork_lock_sample_enter()) {
		prof_targets_makers(&sm.targets, now_ns);
		prof_targets_scan(&sm.targets, now_ns, &sm.sample);
		prof_fork_lock_sample_leave();
	}
	prof_targets_workers(&sm.targets, now_ns);
}

static void read_throttle(int64_t now_ns)
{
	sm.throttle_ns = now_ns + THROTTLE_NS;
	sm.throttled_ns = prof_throttle_read(&sm.throttle);
}

static void take_turn(const struct prof_sample_rate_turn *t, int64_t now_ns)
{
	bool others = t->starving && !t->least;

	sm.starving = others;
	sm.period_ns = t->period_ns ? t->period_ns : PROF_SAMPLE_RATE_LOOK_NS;
	if (now_ns >= sm.settle_ns)
		settle(now_ns);
	if (t->look && now_ns >= sm.throttle_ns && t->starving)
		read_throttle(now_ns);
	if (others && now_ns >= sm.scan_ns)
		scan(now_ns, t->divider);
	if (t->look)
		look_at_own(now_ns, t->period_ns, others);
	else if (others && sm.again_ns && now_ns >= sm.again_ns)
		look_again();
	if (t->look && others)
		look_at_workers(t->period_ns);
	if (t->census && !t->least)
		census(PROF_SAMPLE_RATE_CENSUS_NS);
}

/* Once each: a turn is too short to find that a note is there. */
static void tell_rate(void)
{
	if (sm.rate.halvings && !sm.slowed)
		prof_note(
			"the sampler looked less often for some time to cost no more than 2 %% of a "
			"core");
	if (sm.rate.leasts && !sm.least)
		prof_note("the sampler left out workers and all threads but those that submit for "
			  "some time: looking at the others costs more than 2 %% of a core");
	sm.slowed = sm.rate.halvings != 0;
	sm.least = sm.rate.leasts != 0;
}

static void ask_rate(struct prof_sample_rate_turn *t, int64_t now_ns)
{
	int64_t since = prof_ranges_loader_mono();
	int64_t drained = atomic_load_explicit(&sm.drained_ns, memory_order_relaxed);
	struct prof_sample_rate_input in = { .now_ns = now_ns };

	if (since)
		in.waited_ns = now_ns - since;
	if (drained)
		in.drained_ns = now_ns - drained;
	if (prof_config()->loader)
		/* who makes batches is wanted, whether one is waited for or not */
		in.waited_ns = LOADER_NS;
	in.cpu_ns = prof_cpu_ns();
	atomic_store_explicit(&sm.cpu_ns, in.cpu_ns, memory_order_relaxed);
	in.cpu_ns -= sm.once_ns;
	prof_sample_rate_turn(&sm.rate, &in, t);
	atomic_store_explicit(&sm.left_out, sm.rate.left_out, memory_order_relaxed);
	tell_rate();
}

/* Those who look at themselves do so while we do, no more often. */
static void tell_workers(const struct prof_sample_rate_turn *t)
{
	if (!t->starving)
		prof_shared_idle(false, 0);
	else if (t->look)
		prof_shared_idle(true, (uint32_t)(1000 * MS / t->period_ns));
}

static int64_t next_turn(const struct prof_sample_rate_turn *t)
{
	return sm.again_ns && sm.again_ns < t->next_ns ? sm.again_ns : t->next_ns;
}

static void loop(void)
{
	struct prof_sample_rate_turn t;
	unsigned int seen;
	int64_t now;

	while (!atomic_load_explicit(&sm.stopping, memory_order_relaxed)) {
		/* Whoever stops us stores `stopping`, then bumps: who has seen that sees both. */
		seen = atomic_load_explicit(&sm.wake, memory_order_acquire);
		now = prof_mono_ns();
		ask_rate(&t, now);
		tell_workers(&t);
		take_turn(&t, now);
		if (!atomic_load_explicit(&sm.stopping, memory_order_relaxed))
			prof_word_wait(&sm.wake, seen, next_turn(&t));
	}
}

static void *run(void *unused)
{
	(void)unused;
	prof_thread_begin("gpustarve-look");
	sm.pid = getpid();
	prof_ownfds_leave(); /* without a table of its own it opens and closes all the time */
	if (prof_targets_init(&sm.targets)) {
		prof_note("threads are not looked at: no memory");
	} else {
		prof_sample_rate_init(&sm.rate, prof_mono_ns(), (uint32_t)sm.pid);
		loop();
	}
	atomic_store(&sm.alive, false);
	prof_word_bump(&sm.ended);
	return NULL;
}

void prof_sampler_start(void)
{
	if (!prof_config()->sampler)
		return;
	atomic_store(&sm.alive, true);
	if (prof_thread_start(run)) {
		atomic_store(&sm.alive, false);
		prof_note("threads are not looked at: no thread could be started");
	}
}

void prof_sampler_stop(int64_t deadline_ns)
{
	if (!atomic_load(&sm.alive))
		return;
	atomic_store(&sm.stopping, true);
	prof_shared_idle(false, 0);
	prof_word_bump(&sm.wake);
	prof_word_reach(&sm.ended, 1, deadline_ns);
}

void prof_sampler_nudge(void)
{
	int64_t now_ns = prof_mono_ns();

	if (now_ns < atomic_load_explicit(&sm.nudge_ns, memory_order_relaxed) ||
	    !atomic_load_explicit(&sm.alive, memory_order_relaxed))
		return;
	atomic_store_explicit(&sm.nudge_ns, now_ns + NUDGE_NS, memory_order_relaxed);
	prof_word_bump(&sm.wake);
}

void prof_sampler_drained(int64_t since_ns)
{
	atomic_store_explicit(&sm.drained_ns, since_ns, memory_order_relaxed);
}

int64_t prof_sampler_cpu_ns(void)
{
	return atomic_load_explicit(&sm.cpu_ns, memory_order_relaxed);
}

uint64_t prof_sampler_left_out(void)
{
	return atomic_load_explicit(&sm.left_out, memory_order_relaxed);
}
