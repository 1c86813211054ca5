/* SPDX-License-Identifier: Apache-2.0 */
/* How often the sampler looks, what it may cost, and that forks and looks keep apart. */
#include <pthread.h>
#include <stdatomic.h>

#include "core/clockpoll.h"
#include "core/fork_lock.h"
#include "sample/sample_rate.h"
#include "sample/submitters.h"

#include "harness.h"

#define MS 1000000ll

static struct prof_sample_rate pace;
static struct prof_sample_rate_input in;

struct tally {
	int looks, turns, censuses;
};

/* Runs the clock for @ms; each turn costs @turn_ns, each look @look_ns. */
static struct tally run(int64_t ms, bool waiting, int64_t turn_ns, int64_t look_ns)
{
	int64_t end = in.now_ns + ms * MS, since = in.now_ns;
	struct prof_sample_rate_turn t;
	struct tally n = { 0 };

	while (in.now_ns < end) {
		in.waited_ns = waiting ? in.now_ns - since + 1 : 0;
		prof_sample_rate_turn(&pace, &in, &t);
		n.looks += t.look;
		n.censuses += t.census;
		n.turns++;
		in.cpu_ns += turn_ns + (t.look ? look_ns : 0);
		REQUIRE(t.next_ns > in.now_ns);
		in.now_ns = t.next_ns;
	}
	return n;
}

static void start(void)
{
	in = (struct prof_sample_rate_input){ .now_ns = 1000 * MS };
	prof_sample_rate_init(&pace, in.now_ns, 7);
}

#define EXPECT_ABOUT(got, want) \
	EXPECT((got) >= (want) - (want) / 5 - 1 && (got) <= (want) + (want) / 5 + 1)

static void test_rates(void)
{
	struct tally n;

	start();
	run(3000, false, 0, 0); /* the start is watched closely */
	n = run(2000, false, 0, 0);
	EXPECT_ABOUT(n.looks, 40);
	EXPECT_ABOUT(n.turns, 40); /* no turn in between: nothing costs anything */
	EXPECT_ABOUT(n.censuses, 4);
	n = run(100, true, 0, 0);
	EXPECT_ABOUT(n.looks, 20);
	EXPECT_UINT(pace.left_out, 0); /* all were taken */
	n = run(100, false, 0, 0);
	EXPECT(n.looks <= 4);
	EXPECT_ABOUT(n.turns, 20); /* the next wait is looked out for */
	start();
	n = run(1000, true, 0, 0);
	EXPECT_ABOUT(n.looks, 20 + 90);
	n = run(3000, true, 0, 0); /* a wait that began anew */
	EXPECT_ABOUT(n.looks, 20 + 90 + 40);
}

static void test_short_waits(void)
{
	struct prof_sample_rate_turn t;
	struct tally n;

	start();
	run(5000, false, 0, 0);
	in.waited_ns = 200000;
	prof_sample_rate_turn(&pace, &in, &t);
	EXPECT(!t.starving);
	EXPECT(t.next_ns <= in.now_ns + 800000);
	in.now_ns += 800000;
	in.waited_ns = 1000000;
	prof_sample_rate_turn(&pace, &in, &t);
	EXPECT(t.starving && t.look);
	EXPECT(t.period_ns < 6 * MS);
	in.waited_ns = 0;
	in.now_ns = t.next_ns;
	run(500, false, 0, 0);
	n = run(500, false, 0, 0);
	EXPECT_ABOUT(n.turns, 10); /* one wait that was so short does not keep it awake */
}

static void test_drained(void)
{
	struct prof_sample_rate_turn t;

	start();
	run(5000, false, 0, 0);
	in.drained_ns = 50 * MS;
	prof_sample_rate_turn(&pace, &in, &t);
	EXPECT(t.starving && t.look);
	in.drained_ns = 0;
	in.now_ns = t.next_ns;
	prof_sample_rate_turn(&pace, &in, &t);
	EXPECT(!t.starving);
}

/*
 * A dear sampler looks less often, comes back when it is cheap, and busy times do not count twice.
 */
/*
 * A job whose GPU starves for 4 ms of each 8 is looked at as long as turns cost what they may while
 * it starves.
 */
static void test_again_and_again(void)
{
	int looks = 0, i;

	start();
	/* looking out for the first wait is dearer than a thousandth of a core */
	run(2500, false, 20000, 0);
	for (i = 0; i < 400; i++) {
		looks += run(4, true, 20000, 60000).looks;
		run(4, false, 20000, 60000);
	}
	EXPECT(looks >= 100);
	EXPECT_UINT(pace.share[1].divider, 1);
}

static void test_budget(void)
{
	struct tally n;

	start();
	run(2500, false, 0, 0);
	run(3000, false, 0, 2 * MS); /* 20 x 2 ms a second: 4 % */
	EXPECT(pace.halvings > 0);
	EXPECT(pace.share[0].divider > 1);
	EXPECT(pace.left_out > 0);
	EXPECT_UINT(pace.share[1].divider, 1);
	run(20000, false, 0, 2 * MS);
	EXPECT_UINT(pace.share[0].divider, 16);
	n = run(100, true, 0, 0);
	EXPECT_ABOUT(n.looks, 20);
	run(200000, false, 0, 0);
	EXPECT_UINT(pace.share[0].divider, 1);
}

/* Once so much more may be spent: until then who makes what is awaited was found. */
static void test_saved(void)
{
	int64_t spent;

	start();
	run(500, true, 0, 1 * MS); /* 20, then 100 looks a second: 10 % */
	EXPECT_UINT(pace.share[1].divider, 1);
	spent = in.cpu_ns;
	EXPECT(spent >= 50 * MS);
	run(20000, true, 0, 1 * MS);
	EXPECT(pace.share[1].divider > 1);
	EXPECT(in.cpu_ns < 80 * MS + 20500 * MS / 50 + 50 * MS);
	EXPECT(pace.saved_ns < 20 * MS);
}

/* What costs too much at any rate: all but the submitters are left out, and tried again later. */
static void test_least(void)
{
	uint64_t left_out;
	int looks;
	struct prof_sample_rate_turn t;

	start();
	run(900, true, 0,
	    20 * MS); /* a core of its own: halved each time that a second's worth is spent */
	EXPECT_UINT(pace.share[1].divider, 16);
	left_out = pace.left_out;
	looks = run(4000, true, 0, 20 * MS).looks;
	EXPECT_UINT(pace.left_out, left_out + (uint64_t)looks * 15); /* each stands for sixteen */
	EXPECT(pace.share[1].least && pace.leasts == 1);
	in.waited_ns = 1000 * MS;
	prof_sample_rate_turn(&pace, &in, &t);
	EXPECT(t.least && t.starving);
	EXPECT_UINT(t.divider, 16);
	run(4500, true, 0, 0); /* many programs started: that is over soon */
	EXPECT(!pace.share[1].least);
	EXPECT_UINT(pace.share[1].divider, 16);
	run(3000, true, 0, 20 * MS);
	EXPECT(pace.share[1].least && pace.leasts == 2);
	run(4500, true, 0, 0); /* it was not: it is tried later than the first time */
	EXPECT(pace.share[1].least);
	run(3000, true, 0, 0);
	EXPECT(!pace.share[1].least);
	run(20000, true, 0, 0);
	EXPECT_UINT(pace.share[1].divider, 1);
}

static void *fork_once(void *arg)
{
	prof_fork_lock_prepare();
	atomic_fetch_add((atomic_int *)arg, 1);
	prof_fork_lock_parent();
	return NULL;
}

static void test_gate(void)
{
	atomic_int forked = 0;
	pthread_t t;
	int64_t begin;
	int early;

	EXPECT(prof_fork_lock_sample_enter());
	begin = prof_mono_ns();
	REQUIRE(!pthread_create(&t, NULL, fork_once, &forked));
	usleep(5000);
	early = atomic_load(&forked);
	/* It waits for the look, but not for ever: a busy machine may have slept us too long. */
	EXPECT(!early || prof_mono_ns() - begin > 15 * MS);
	prof_fork_lock_sample_leave();
	pthread_join(t, NULL);
	EXPECT_INT(atomic_load(&forked), 1);
	EXPECT(prof_fork_lock_sample_enter()); /* never left: a fork waits, but not for ever */
	begin = prof_mono_ns();
	prof_fork_lock_prepare();
	EXPECT(prof_mono_ns() - begin < 1000 * MS);
	prof_fork_lock_sample_leave();
	begin = prof_mono_ns();
	EXPECT(!prof_fork_lock_sample_enter()); /* nor does a look wait for ever */
	EXPECT(prof_mono_ns() - begin < 2000 * MS);
	prof_fork_lock_parent();
	EXPECT(prof_fork_lock_sample_enter());
	prof_fork_lock_child();
	EXPECT(prof_fork_lock_sample_enter());
	prof_fork_lock_sample_leave();
}

static void test_submitters(void)
{
	uint32_t tid[PROF_SUBMITTERS_MAX], i;

	EXPECT_UINT(prof_submitters_read(tid), 0);
	for (i = 1; i <= PROF_SUBMITTERS_MAX + 2; i++)
		prof_submitters_saw(i);
	prof_submitters_saw(0);
	EXPECT_UINT(prof_submitters_read(tid), PROF_SUBMITTERS_MAX);
	prof_submitters_age(1000 * MS);
	prof_submitters_saw(3);
	prof_submitters_age(70000 * MS);
	EXPECT_UINT(prof_submitters_read(tid), 1);
	EXPECT_UINT(tid[0], 3);
}

int main(void)
{
	return RUN(test_rates, test_short_waits, test_drained, test_again_and_again, test_budget,
		   test_saved, test_least, test_gate, test_submitters);
}
