/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One thread: parked, or looking at the thread that makes the batches, at those that make what it
 * waits for in this process, and now and then at others that do something for it. It keeps to two
 * percent of a core.
 */
#include "worker.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/clockpoll.h"
#include "core/config.h"
#include "core/fork_lock.h"
#include "core/ownfds.h"
#include "core/thread.h"
#include "headroom.h"
#include "sample/givers.h"
#include "sample/native.h"
#include "sample/shared.h"
#include "sample/thread_sample.h"
#include "sample/throttle.h"

#define MS 1000000ll
#define SETTLE_NS (500 * MS)
#define OTHERS_NS (100 * MS)
#define OTHERS_MAX 8u
#define THROTTLE_NS (100 * MS)
#define NATIVE_NS (50 * MS)
#define WINDOW_NS (1000 * MS)
#define SHARE 50 /* one in so many: 2 % of a core */
#define SLOWEST 16u
#define MAKERS_MAX 4u

static atomic_bool running;
static bool asked; /* for this process */

static struct {
	struct prof_target *self;
	struct prof_thread_sample sample;
	struct prof_throttle throttle;
	struct prof_givers givers;
	pid_t maker[MAKERS_MAX]; /* threads that make what the first one waits for */
	size_t makers;
	pid_t tid; /* who makes the batches */
	uint64_t throttled_ns;
	int64_t settle_ns, others_ns, throttle_ns, native_ns; /* when next */
	int64_t window_ns, window_cpu_ns, awake_ns; /* the budget */
	int64_t period_ns; /* of this turn */
	uint32_t settled; /* times */
	uint32_t slower; /* than the trainer asks for, so many times */
} w;

bool prof_worker_samples(void)
{
	return atomic_load_explicit(&running, memory_order_relaxed);
}

void prof_worker_forked(void)
{
	atomic_store_explicit(&running, false, memory_order_relaxed);
	asked = false;
}

/*
 * ---- looks ------------------------------------------------------------------------------------
 */

/* As the trainer's (sampler.c). */
static bool enter(void)
{
	int64_t before = prof_mono_ns();

	if (prof_fork_lock_sample_enter())
		return true;
	prof_shared_missed(1 + (uint64_t)((prof_mono_ns() - before) / w.period_ns));
	return false;
}

static bool look_at(pid_t tid, unsigned int what)
{
	int err;

	if (!enter())
		return false;
	err = prof_thread_sample_take(w.self, tid, what, &w.sample);
	prof_fork_lock_sample_leave();
	return !err;
}

static void hand_over(uint8_t role, int64_t period_ns)
{
	w.sample.s.role = role;
	w.sample.s.period_ns = (uint32_t)period_ns;
	w.sample.s.throttled_ns = w.throttled_ns;
	prof_links_await(&w.givers.links, &w.sample, prof_mono_ns());
	prof_links_tell(&w.givers.links, &w.sample);
	prof_shared_sample(&w.sample);
}

static void look_at_maker(int64_t now_ns, int64_t period_ns)
{
	unsigned int what = PROF_SAMPLE_WAIT | PROF_SAMPLE_PYTHON | PROF_SAMPLE_LINKS;

	if (now_ns >= w.native_ns)
		what |= PROF_SAMPLE_NATIVE;
	if (!look_at(w.tid, what))
		return;
	if (w.sample.native[0])
		w.native_ns = now_ns + NATIVE_NS;
	hand_over(WIRE_ROLE_WORKER, period_ns);
}

static void look_at_makers(int64_t now_ns, int64_t period_ns)
{
	size_t i;

	for (i = 0; i < w.makers; i++) {
		if (!enter())
			return;
		prof_givers_thread(&w.givers, w.self, (uint32_t)getpid(), w.maker[i], now_ns);
		prof_fork_lock_sample_leave();
		if (look_at(w.maker[i], PROF_SAMPLE_WAIT | PROF_SAMPLE_PYTHON | PROF_SAMPLE_LINKS))
			hand_over(WIRE_ROLE_PRODUCER, period_ns);
	}
}

static bool is_maker(pid_t tid)
{
	size_t i;

	for (i = 0; i < w.makers; i++)
		if (w.maker[i] == tid)
			return true;
	return false;
}

/* Those that are seen to give come first. */
static void find_makers(int64_t now_ns)
{
	const struct prof_py_thread *list;
	size_t n, i;
	int how;

	if (!enter())
		return;
	prof_givers_turn(&w.givers, now_ns);
	prof_givers_own(&w.givers, w.self, now_ns);
	n = prof_target_pythons(w.self, &list);
	w.makers = 0;
	for (how = 2; how; how--)
		for (i = 0; i < n && w.makers < MAKERS_MAX; i++)
			if (list[i].tid != w.tid &&
			    prof_links_makes(&w.givers.links, (uint32_t)getpid(),
					     (uint32_t)list[i].tid) == how)
				w.maker[w.makers++] = list[i].tid;
	prof_fork_lock_sample_leave();
}

/*
 * Threads that wait for each other, or for who may call, are no news: some of torch's do all day.
 */
static bool is_at_work(const struct wire_sample *s)
{
	if (s->syscall == SYS_accept + 1 || s->syscall == SYS_accept4 + 1)
		return false;
	return s->state == WIRE_STATE_RUNNING || s->state == WIRE_STATE_DISK ||
	       s->wait == WIRE_WAIT_READ || s->wait == WIRE_WAIT_WRITE ||
	       s->wait == WIRE_WAIT_FAULT || s->wait == WIRE_WAIT_SOCKET;
}

static void look_at_others(int64_t now_ns)
{
	const struct prof_py_thread *list;
	size_t n = prof_target_pythons(w.self, &list), i, looked = 0;

	w.others_ns = now_ns + OTHERS_NS;
	for (i = 0; i < n && looked < OTHERS_MAX; i++) {
		if (list[i].tid == w.tid || is_maker(list[i].tid))
			continue;
		looked++;
		if (look_at(list[i].tid, PROF_SAMPLE_WAIT | PROF_SAMPLE_PYTHON) &&
		    is_at_work(&w.sample.s))
			hand_over(WIRE_ROLE_WORKER_OTHER, OTHERS_NS);
	}
}

/*
 * ---- turns ------------------------------------------------------------------------------------
 */

static void settle(int64_t now_ns)
{
	w.settle_ns = now_ns + SETTLE_NS;
	if (prof_fork_lock_sample_enter()) {
		prof_native_ready();
		prof_fork_lock_sample_leave();
	}
	prof_target_settle(w.self, false);
	if (!w.throttle.count)
		prof_throttle_find(&w.throttle, prof_target_mounts(w.self));
	if (w.settled++)
		return;
	w.window_cpu_ns = prof_cpu_ns(); /* finding Python and the modules happens once */
	w.awake_ns = 0;
}

static void take_turn(int64_t now_ns, int64_t period_ns)
{
	if (now_ns >= w.settle_ns)
		settle(now_ns);
	if (now_ns >= w.throttle_ns) {
		w.throttled_ns = prof_throttle_read(&w.throttle);
		w.throttle_ns = now_ns + THROTTLE_NS;
	}
	w.period_ns = period_ns;
	look_at_maker(now_ns, period_ns);
	look_at_makers(now_ns, period_ns);
	if (now_ns >= w.others_ns) {
		find_makers(now_ns);
		look_at_others(now_ns);
	}
}

/* A second of being awake is over: was it too dear? */
static void judge(int64_t passed_ns)
{
	int64_t spent;

	w.awake_ns += passed_ns;
	if (w.awake_ns < WINDOW_NS)
		return;
	spent = prof_cpu_ns() - w.window_cpu_ns;
	if (spent > w.awake_ns / SHARE && w.slower < SLOWEST)
		w.slower *= 2;
	else if (spent < w.awake_ns / SHARE / 4 && w.slower > 1)
		w.slower /= 2;
	w.window_cpu_ns += spent;
	w.awake_ns = 0;
}

static void loop(void) /* until the process ends */
{
	int64_t now, period;
	uint32_t rate;

	for (;;) {
		rate = prof_shared_rate();
		now = prof_mono_ns();
		if (!rate) {
			prof_shared_sleep(0);
			continue;
		}
		period = 1000 * MS / rate * w.slower;
		take_turn(now, period);
		prof_shared_sleep(now + period);
		judge(prof_mono_ns() - now);
	}
}

static void *run(void *unused)
{
	(void)unused;
	prof_thread_begin("gpustarve-look");
	prof_ownfds_leave(); /* without a table of its own it opens and closes all the time */
	if (!prof_target_open(&w.self, 0))
		loop();
	prof_shared_leave();
	atomic_store(&running, false);
	return NULL;
}

/*
 * ---- starting ---------------------------------------------------------------------------------
 */

/* A spawned worker has read no configuration yet. This is a thread of the program. */
static bool is_wanted(void)
{
	static bool read;

	if (!prof_config()->on && !read)
		prof_config_read();
	read = true;
	return prof_config()->on && prof_config()->sampler;
}

static void start(void)
{
	if (!is_wanted())
		return;
	if (!prof_headroom()) {
		prof_shared_decline();
		return;
	}
	if (prof_shared_join())
		return;
	memset(&w, 0, sizeof(w));
	w.tid = (pid_t)syscall(SYS_gettid);
	w.slower = 1;
	atomic_store(&running, true);
	if (prof_thread_start(run)) {
		atomic_store(&running, false);
		prof_shared_leave();
	}
}

void prof_worker_fetches(void)
{
	int kept = errno;

	if (asked)
		return;
	asked = true;
	start();
	errno = kept;
}
