/* SPDX-License-Identifier: Apache-2.0 */
/* The judgements that stand apart from what they act on: watchdog, exposed launches. */
#include "cupti/exposure.h"
#include "cupti/governor.h"
#include "cupti/watchdog.h"

#include "harness.h"

#define SECOND 1000000000ll
#define HALF (SECOND / 2)

/*
 * ---- watchdog ---------------------------------------------------------------------------------
 */

static struct prof_watchdog dog;
static struct prof_watchdog_input in;

static enum prof_watchdog_action look(bool traffic, bool alive, uint32_t out);

static void watch(void)
{
	memset(&in, 0, sizeof(in));
	in.now_ns = 1000 * SECOND;
	in.mono_ns = 10 * SECOND;
	in.answered = true;
	prof_watchdog_init(&dog, in.now_ns, in.mono_ns, 4 * SECOND);
	dog.answered = true;
}

/* Half a second later; traffic answers the canaries where @alive. */
static enum prof_watchdog_action look(bool traffic, bool alive, uint32_t out)
{
	in.now_ns += HALF;
	in.mono_ns += HALF;
	in.out = out;
	in.canaries = prof_watchdog_canaries(&dog, in.mono_ns, (uint64_t)out * 16384);
	if (traffic || (in.canaries && alive))
		in.traffic += 2;
	return prof_watchdog_feed(&dog, &in);
}

static void test_busy(void)
{
	int i;

	watch();
	for (i = 0; i < 100; i++) {
		in.ops += 10;
		in.launches += 10;
		EXPECT_INT(look(true, true, 1), PROF_WATCHDOG_NONE);
		EXPECT_UINT(in.canaries, 0);
	}
}

static void test_idle(void)
{
	uint32_t canaries = 0;
	int i;

	watch();
	for (i = 0; i < 100; i++) {
		EXPECT_INT(look(false, true, 0), PROF_WATCHDOG_NONE);
		canaries += in.canaries;
	}
	EXPECT(canaries > 30 && canaries <= 50); /* about one a second */
}

/* Nothing ever comes back from canaries here: then silence says nothing, however long. */
static void test_never_answered(void)
{
	int i;

	watch();
	in.answered = dog.answered = false;
	for (i = 0; i < 1000; i++) {
		EXPECT_INT(look(false, false, 0), PROF_WATCHDOG_NONE);
		EXPECT_UINT(in.canaries, 1);
	}
}

/* CUPTI was taken before the first canary was made: what is out does not fill up. */
static void test_taken_at_once(void)
{
	enum prof_watchdog_action order = PROF_WATCHDOG_NONE;
	int i;

	watch();
	in.answered = dog.answered = false;
	look(true, false, 1);
	for (i = 0; i < 12 && order == PROF_WATCHDOG_NONE; i++)
		order = look(false, false, 1);
	EXPECT_INT(order, PROF_WATCHDOG_YIELD);
	EXPECT(i >= 8 && in.canaries > 400);
	EXPECT_INT(dog.lost_ns, 1000 * SECOND);
}

/* One buffer is withheld by a kernel that never ends: the canary falls into it at first. */
static void test_withheld(void)
{
	int i;

	watch();
	look(true, true, 1);
	for (i = 0; i < 100; i++) {
		EXPECT_INT(look(false, false, 1), PROF_WATCHDOG_NONE);
		if (in.canaries > 400) { /* now a further buffer is asked for */
			in.traffic++;
			EXPECT_INT(prof_watchdog_feed(&dog, &in), PROF_WATCHDOG_NONE);
			return;
		}
	}
	T_FAIL("never enough canaries");
}

static void test_stolen(void)
{
	enum prof_watchdog_action order = PROF_WATCHDOG_NONE;
	int64_t theft, begin;
	int i;

	watch();
	for (i = 0; i < 10; i++)
		look(true, true, 1);
	theft = in.now_ns;
	for (i = 0; i < 10 && order == PROF_WATCHDOG_NONE; i++)
		order = look(false, false, 1);
	EXPECT_INT(order, PROF_WATCHDOG_YIELD);
	EXPECT(dog.foreign);
	EXPECT_INT(dog.lost_ns, theft - HALF); /* it may have come before that look's flush */
	EXPECT(in.now_ns - theft <= 3 * SECOND);
	begin = in.mono_ns;
	for (order = 0, i = 0; i < 100 && order == PROF_WATCHDOG_NONE; i++) {
		order = look(false, false, 0);
		EXPECT(order != PROF_WATCHDOG_NONE || !in.canaries); /* it yields */
	}
	EXPECT_INT(order, PROF_WATCHDOG_REARM);
	EXPECT(in.mono_ns - begin >= 3 * SECOND && in.mono_ns - begin < 6 * SECOND);
	for (order = 0, i = 0; i < 10 && order == PROF_WATCHDOG_NONE; i++)
		order = look(false, true, 0);
	EXPECT_INT(order, PROF_WATCHDOG_BACK);
	EXPECT(!dog.foreign);
}

/* Lent, nothing is done however long it takes; back, it is as it was before. */
static void test_lent(void)
{
	int i;

	watch();
	look(true, true, 1);
	prof_watchdog_handed_over(&dog, in.now_ns);
	for (i = 0; i < 2000; i++)
		EXPECT_INT(look(false, false, 0), PROF_WATCHDOG_NONE);
	EXPECT(dog.foreign && dog.handed_over);
	EXPECT_UINT(in.canaries, 0);
	EXPECT_INT(dog.lost_ns, 1000 * SECOND + HALF);
	prof_watchdog_back(&dog, in.now_ns, in.mono_ns, false);
	EXPECT(!dog.foreign && !dog.handed_over);
	for (i = 0; i < 100; i++)
		EXPECT_INT(look(i % 3 == 0, true, 0), PROF_WATCHDOG_NONE);
	EXPECT_INT(dog.rearms, 0);
}

/* Who falls silent soon after it came back was detached: it is registered for at once, but once. */
static void test_detached(void)
{
	int i, rearmed = 0;

	watch();
	look(true, true, 1);
	prof_watchdog_handed_over(&dog, in.now_ns);
	prof_watchdog_back(&dog, in.now_ns, in.mono_ns, false);
	for (i = 0; i < 8 && !rearmed; i++)
		rearmed = look(false, false, 0) == PROF_WATCHDOG_REARM;
	EXPECT(rearmed);
	EXPECT_INT(dog.rearms, 0);
	for (i = 0; i < 7; i++) /* not again before the pause is over */
		EXPECT_INT(look(false, false, 0), PROF_WATCHDOG_NONE);
	in.ops++;
	EXPECT_INT(look(true, true, 0), PROF_WATCHDOG_NONE); /* others may run on */
	EXPECT_INT(look(true, true, 0), PROF_WATCHDOG_BACK);
}

/*
 * What was launched before we registered again runs on, unrecorded: that is foreign time as well.
 * An operation that was recorded ran behind it; without one it is over after a while.
 */
static void test_queue_runs_on(void)
{
	int i, waits;

	for (waits = 0; waits < 2; waits++) {
		watch();
		look(true, true, 1);
		prof_watchdog_handed_over(&dog, in.now_ns);
		prof_watchdog_back(&dog, in.now_ns, in.mono_ns, false);
		for (i = 0; i < 8; i++)
			if (look(false, false, 0) == PROF_WATCHDOG_REARM)
				break;
		for (i = 0; i < 3; i++) {
			in.launches += 100;
			EXPECT_INT(look(true, true, 1), PROF_WATCHDOG_NONE);
			EXPECT(dog.foreign);
		}
		in.ops += !waits;
		for (i = 0; i < 2 && dog.foreign; i++)
			EXPECT_INT(look(true, true, 1),
				   i ? PROF_WATCHDOG_BACK : PROF_WATCHDOG_NONE);
		EXPECT(!dog.foreign);
		EXPECT_UINT(dog.launches_without_ops, 0);
	}
}

/* Taken back while the program goes on launching: what it launched before is foreign yet. */
static void test_back_while_busy(void)
{
	int i;

	watch();
	look(true, true, 1);
	prof_watchdog_handed_over(&dog, in.now_ns);
	prof_watchdog_back(&dog, in.now_ns, in.mono_ns, true);
	EXPECT(dog.foreign && !dog.handed_over);
	EXPECT_INT(look(true, true, 1), PROF_WATCHDOG_NONE);
	in.ops++;
	EXPECT_INT(look(true, true, 1), PROF_WATCHDOG_NONE);
	EXPECT_INT(look(true, true, 1), PROF_WATCHDOG_BACK);
	prof_watchdog_handed_over(&dog, in.now_ns);
	prof_watchdog_back(&dog, in.now_ns, in.mono_ns, true);
	for (i = 0; i < 4; i++) /* detached later yet: tried again soon */
		EXPECT_INT(look(false, false, 0), i < 3 ? PROF_WATCHDOG_NONE : PROF_WATCHDOG_REARM);
}

/* Until the next try, in looks. */
static int tried_after(int most)
{
	int i;

	for (i = 1; i <= most; i++)
		if (look(false, false, 0) == PROF_WATCHDOG_REARM)
			return i;
	return 0;
}

/*
 * In vain again and again, it tries less and less often, but never gives up; left alone for a
 * while, as at first.
 */
static void test_tries_less_often(void)
{
	int rearms = 0, i;

	watch();
	look(true, true, 1);
	for (i = 0; i < 20000; i++)
		rearms += look(false, false, 0) == PROF_WATCHDOG_REARM;
	EXPECT(rearms > 20 && rearms < 30);
	EXPECT(tried_after(7200) > 1000);
	look(true, true, 0);
	in.ops++;
	look(true, true, 0);
	look(true, true, 0);
	EXPECT(!dog.foreign);
	tried_after(10); /* taken again at once */
	EXPECT(dog.foreign);
	i = tried_after(7200);
	EXPECT(i > 7000);
	look(true, true, 0);
	in.ops++;
	for (i = 0; i < 1300; i++)
		look(true, true, 0);
	EXPECT(!dog.foreign);
	EXPECT(tried_after(20)); /* the silence, and four seconds */
}

/*
 * Many launches into captures, one after the other: they make no operation, and nobody is a thief.
 */
static void test_captures(void)
{
	int i, k;

	watch();
	in.ops = in.launches = 20;
	look(true, true, 0);
	for (i = 0; i < 30; i++) {
		for (k = 0; k < 4; k++) {
			in.launches += 500;
			EXPECT_INT(look(true, true, k & 1), PROF_WATCHDOG_NONE);
		}
		in.captures++; /* instantiated while nothing is out, then waited for */
		EXPECT_INT(look(true, true, 0), PROF_WATCHDOG_NONE);
		in.waits++;
		EXPECT_INT(look(true, true, 0), PROF_WATCHDOG_NONE);
	}
}

/* A run that ends before the watchdog is sure. */
static void test_missing_at_the_end(void)
{
	int i;

	watch();
	in.ops = in.launches = 20;
	look(true, true, 0);
	EXPECT_INT(prof_watchdog_missing(&dog), 0);
	in.launches += 100;
	look(true, true, 1);
	EXPECT_INT(prof_watchdog_missing(&dog), 0); /* nothing has waited: they may run yet */
	in.waits++;
	look(true, true, 1);
	EXPECT_INT(prof_watchdog_missing(&dog), dog.ops_ns);
	EXPECT(dog.ops_ns && !dog.foreign);
	in.ops++;
	look(true, true, 1);
	EXPECT_INT(prof_watchdog_missing(&dog), 0);
	for (i = 0; i < 3; i++) /* until a canary is made, and has no answer */
		look(false, false, 0);
	EXPECT(in.canaries && !dog.foreign);
	EXPECT_INT(prof_watchdog_missing(&dog), dog.traffic_ns);
	look(true, true, 0);
	EXPECT_INT(prof_watchdog_missing(&dog), 0);
}

static void test_disabled(void)
{
	enum prof_watchdog_action order = PROF_WATCHDOG_NONE;
	int64_t last;
	int i;

	watch();
	for (i = 0; i < 10; i++) {
		in.ops += 20;
		in.launches += 20;
		look(true, true, 0);
	}
	last = in.now_ns;
	for (i = 0; i < 10 && order == PROF_WATCHDOG_NONE; i++) {
		in.launches += 20;
		in.waits++;
		order = look(true, true, 0);
	}
	EXPECT_INT(order, PROF_WATCHDOG_YIELD);
	EXPECT_INT(dog.lost_ns, last - HALF);
	for (order = 0; order != PROF_WATCHDOG_REARM;)
		order = look(true, true, 0);
	in.ops++;
	EXPECT_INT(look(true, true, 0), PROF_WATCHDOG_NONE); /* others may run on */
	EXPECT_INT(look(true, true, 0), PROF_WATCHDOG_BACK);
}

/*
 * A thread that does nothing any more may hold an empty buffer for good: that delays it, no more.
 */
static void test_disabled_with_buffers_out(void)
{
	int i;

	watch();
	for (i = 0; i < 10; i++) {
		in.ops += 20;
		in.launches += 20;
		look(true, true, 2);
	}
	for (i = 0; i < 12; i++) {
		in.launches += 20;
		in.waits++;
		EXPECT_INT(look(true, true, 2), PROF_WATCHDOG_NONE);
	}
	in.launches += 20;
	in.waits++;
	EXPECT_INT(look(true, true, 2), PROF_WATCHDOG_YIELD);
}

/*
 * So many copies or graphs and waits for them, look after look, with so many operations; the
 * orders.
 */
static int copies(int looks, uint64_t maybe_launches, uint64_t ops, enum prof_watchdog_action order)
{
	int n = 0;

	for (; looks; looks--) {
		in.maybe_launches += maybe_launches;
		in.ops += ops;
		in.waits++;
		n += look(true, true, 0) == order;
	}
	return n;
}

/* Copies of nothing, graphs of host functions: nobody is a thief, but the kinds are tried once. */
static void test_nothing_to_record(void)
{
	watch();
	EXPECT_INT(copies(10, 20, 20, PROF_WATCHDOG_NONE), 10);
	EXPECT_INT(copies(4, 20, 0, PROF_WATCHDOG_ENABLE), 1);
	EXPECT_INT(copies(100, 20, 0, PROF_WATCHDOG_NONE), 100);
	EXPECT_INT(copies(1, 20, 1, PROF_WATCHDOG_NONE), 1); /* one of them had some bytes */
	EXPECT_INT(copies(4, 20, 0, PROF_WATCHDOG_ENABLE), 1);
	EXPECT_INT(copies(1, 20, 1, PROF_WATCHDOG_NONE), 1);
	EXPECT(!dog.foreign);
}

static void test_kinds_off(void)
{
	int64_t last;

	watch();
	EXPECT_INT(copies(10, 20, 20, PROF_WATCHDOG_NONE), 10);
	last = in.now_ns;
	EXPECT_INT(copies(4, 20, 0, PROF_WATCHDOG_ENABLE), 1);
	EXPECT_INT(copies(1, 20, 15, PROF_WATCHDOG_WAS_OFF), 1);
	EXPECT_INT(dog.off_ns, last - HALF);
	EXPECT_INT(copies(10, 20, 20, PROF_WATCHDOG_NONE), 10);
}

/*
 * ---- exposed launches -------------------------------------------------------------------------
 */

static void launch(uint64_t corr, int64_t call_ns, int64_t start_ns, int64_t end_ns)
{
	struct wire_event op = {
		.kind = WIRE_KIND_OP, .corr = corr, .start_ns = start_ns, .end_ns = end_ns
	};
	struct wire_event call = {
		.kind = WIRE_KIND_API, .corr = corr, .start_ns = call_ns, .end_ns = call_ns + 3000
	};

	prof_exposure_add(&op);
	prof_exposure_add(&call);
}

/* A clock that is set back must not make the last end lie ahead of all that follows. */
static void clock_stepped(void)
{
	int64_t now = 5000 * SECOND, hour = 3600 * SECOND, last;

	launch(1, now, now, now + 1000);
	launch(2, now + 10000, now + 10000, now + 20000);
	last = prof_exposure_last_end();
	prof_exposure_stepped(-hour, now - hour + 30000);
	EXPECT_INT(prof_exposure_last_end(), last - hour);
	launch(3, now - hour + 40000, now - hour + 40000, now - hour + 50000);
	EXPECT_INT(prof_exposure_last_end(), now - hour + 50000);
	prof_exposure_stepped(hour, now + 60000); /* the last one was already stamped anew */
	EXPECT_INT(prof_exposure_last_end(), now + 50000);
	launch(4, now + hour, now + hour, now + hour + 10);
	prof_exposure_stepped(hour, now + hour + 20);
	EXPECT_INT(prof_exposure_last_end(), now + hour + 20);
}

/* Operations without API records, each behind a gap. */
static void gaps(int64_t t, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		struct wire_event op = { .kind = WIRE_KIND_OP,
					 .start_ns = t + i * 10000,
					 .end_ns = t + i * 10000 + 1000 };

		prof_exposure_add(&op);
	}
}

/* Where no API record ever came, a gap must do, after a while. */
static void test_exposure_without_calls(void)
{
	gaps(1000, 1256);
	EXPECT_UINT(prof_exposure()->exposed, 1000);
	prof_exposure_forget();
}

/*
 * A job that the GPU bounds has gaps too, behind dependencies. When its API records went, because
 * cores were short, kernels must not go because of those.
 */
static void test_gpu_bound_keeps_kernels(void)
{
	struct prof_governor g;
	struct prof_governor_input cost = { .now_ns = SECOND };
	int64_t t = 1000000;
	uint64_t before;
	int i;

	prof_exposure_forget();
	for (i = 0; i < 5000; i++) /* launched a millisecond ahead; one in fifty is waited for */
		launch((uint64_t)i + 1, t + i * 10000 + (i % 50 ? -1000000 : 4000),
		       t + i * 10000 + 5000, t + i * 10000 + 9000);
	EXPECT_UINT(prof_exposure()->exposed, 100);
	before = prof_exposure()->exposed;
	prof_governor_init(&g, 10000, true, cost.now_ns);
	g.step = PROF_STEP_NO_API;
	for (i = 0; i < 10; i++) {
		gaps(t + (i + 1) * 10 * SECOND, 200000);
		cost.now_ns += 10 * SECOND;
		cost.exposed = prof_exposure()->exposed;
		prof_governor_feed(&g, &cost);
		EXPECT(g.step <= PROF_STEP_NO_API);
	}
	EXPECT(prof_exposure()->exposed - before > 39000);
	EXPECT(prof_exposure()->exposed - before < 41000);
}

static void test_exposure(void)
{
	int64_t t = 1000000;
	int i;

	prof_exposure_forget();
	launch(1, t, t + 5000, t + 6000); /* calls are seen from here on */
	EXPECT_UINT(prof_exposure()->exposed, 1);
	for (i = 2; i < 1000; i++) /* queued far ahead, back to back */
		launch((uint64_t)i, t + i, t + i * 1000 + 800, t + i * 1000 + 1700);
	EXPECT_UINT(prof_exposure()->exposed, 1);
	t += 10000000;
	for (i = 0; i < 1000; i++) /* the device waits for every one */
		launch((uint64_t)i + 2000, t + i * 10000, t + i * 10000 + 4500,
		       t + i * 10000 + 5500);
	EXPECT_UINT(prof_exposure()->exposed, 1001);
	t += 100000000;
	for (i = 0; i < 1000; i++) /* gaps, but the launch was long before: a dependency */
		launch((uint64_t)i + 4000, t + i * 10000, t + i * 10000 + 900000,
		       t + i * 10000 + 901000);
	EXPECT_UINT(prof_exposure()->exposed, 1001);
	EXPECT_UINT(prof_exposure()->launches, 2999);
	t += 100000000;
	/* No API records any more: of those behind gaps as many as before, 1,001 of 2,001. */
	gaps(t + 100000000, 256 + 2001);
	EXPECT(prof_exposure()->exposed >= 1001 + 1000 && prof_exposure()->exposed <= 1001 + 1003);
	clock_stepped();
}

/*
 * A loop of kernels of 2 us from @t on: @n launches @period_ns apart, as a device runs them that
 * begins 5 us after a launch, at most 1.2 us behind the kernel before; then the host waits for it.
 */
static int64_t loop(int64_t t, uint64_t corr, int n, int64_t period_ns)
{
	int64_t end = t;
	int i;

	for (i = 0; i < n; i++, t += period_ns) {
		int64_t start = t + 5000 > end + 1200 ? t + 5000 : end + 1200;

		end = start + 2000;
		launch(corr + (uint64_t)i, t, start, end);
	}
	return end + 3000;
}

static uint64_t exposed_of(int rounds, int64_t period_ns)
{
	int64_t t = 1000000;
	int i;

	prof_exposure_forget();
	for (i = 0; i < rounds; i++)
		t = loop(t, (uint64_t)i * 500 + 1, 500, period_ns);
	return prof_exposure()->exposed;
}

/* Behind a gap shorter than a device's pause a launch is late, too, if nothing else held it. */
static void test_exposure_of_short_gaps(void)
{
	EXPECT(exposed_of(40, 3800) > 12000); /* once it is known how soon an operation begins */
	EXPECT(exposed_of(40, 9000) > 19000);
	EXPECT(exposed_of(40, 1000) < 200); /* the device is the limit */
	EXPECT(exposed_of(40, 2600) < 200);
	EXPECT(exposed_of(40, 3150) < 100); /* and here by a hair */
	EXPECT_UINT(prof_exposure()->launches, 20000);
}

/* A host that stays some kernels ahead waits for the device: its launches are not late. */
static void test_exposure_behind_a_queue(void)
{
	static int64_t end[20000];
	int64_t at = 1000000;
	int i;

	prof_exposure_forget();
	for (i = 0; i < 20000; i++) {
		int64_t start;

		if (i % 500 == 0 && i)
			at = end[i - 1] + 3000; /* once in a while it waits for all */
		else if (i >= 4 && end[i - 4] + 1000 > at)
			at = end[i - 4] + 1000;
		start = i && end[i - 1] + 1200 > at + 5000 ? end[i - 1] + 1200 : at + 5000;
		end[i] = start + 6000;
		launch((uint64_t)i + 1, at, start, end[i]);
		at += 2000;
	}
	EXPECT(prof_exposure()->exposed < 400);
}

/* Kernels of 2 us without API records, and how many of them are taken for exposed. */
static uint64_t exposed_without_calls(int n, int64_t period_ns)
{
	int64_t t = prof_exposure_last_end() + SECOND;
	uint64_t before = 0;
	int i;

	for (i = 0; i < 256 + n; i++) {
		struct wire_event op = { .kind = WIRE_KIND_OP,
					 .start_ns = t + i * period_ns,
					 .end_ns = t + i * period_ns + 2000 };

		before = i == 256 ? prof_exposure()->exposed : before;
		prof_exposure_add(&op);
	}
	return prof_exposure()->exposed - before;
}

/* Of either kind of gap as many as before; of short ones that were long before, as of those. */
static void test_short_gaps_without_calls(void)
{
	exposed_of(40, 3800);
	EXPECT(exposed_without_calls(10000, 3300) > 7000);
	exposed_of(40, 2600);
	EXPECT(exposed_without_calls(10000, 3200) < 100);
	exposed_of(40, 4300);
	EXPECT(exposed_without_calls(10000, 3800) > 9000);
	prof_exposure_forget();
	EXPECT_UINT(exposed_without_calls(10000, 3800), 0); /* nobody ever saw a call */
	prof_exposure_forget();
}

int main(void)
{
	int watchdog =
		RUN(test_busy, test_idle, test_never_answered, test_taken_at_once, test_withheld,
		    test_stolen, test_lent, test_detached, test_queue_runs_on, test_back_while_busy,
		    test_tries_less_often, test_captures, test_disabled,
		    test_disabled_with_buffers_out, test_nothing_to_record, test_kinds_off);

	return RUN(test_missing_at_the_end, test_exposure_without_calls, test_exposure,
		   test_gpu_bound_keeps_kernels, test_exposure_of_short_gaps,
		   test_exposure_behind_a_queue, test_short_gaps_without_calls) ||
	       watchdog;
}
