/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work before a copy: by their lines, what is done before the GPU is given work and what behind;
 * which copies tell of it; and what of it is input. All rows are made by hand; times in us.
 */
#include "harness.h"
#include "analysis/evidence/cause.h"
#include "analysis/walk/copied.h"
#include "analysis/walk/longcalls.h"

#define PID 100
#define US 1000
#define MS 1000000
#define MAIN "main\t/home/me/train.py\t90"
#define DECODE \
	"decode\t/home/me/data.py\t7\nload\t/home/me/data.py\t20\nloop\t/home/me/train.py\t40\n" MAIN
#define LOAD "load\t/home/me/data.py\t21\nloop\t/home/me/train.py\t40\n" MAIN
#define SYNC "wait\t/home/me/gpu.py\t3\nloop\t/home/me/train.py\t44\n" MAIN
#define EARLY "wait\t/home/me/gpu.py\t3\nloop\t/home/me/train.py\t38\n" MAIN
#define SCORE "score\t/home/me/train.py\t9\nloop\t/home/me/train.py\t45\n" MAIN
#define STEP "step\t/home/me/gpu.py\t30\nloop\t/home/me/train.py\t40\n" MAIN
#define MODEL \
	"f\t/venv/lib/python3.11/site-packages/torch/optim/adam.py\t9\nloop\t/home/me/train.py\t43\n" MAIN

/* the same, run by a framework's trainer */
#define FIT "fit\t/venv/lib/python3.11/site-packages/lightning/pytorch/trainer.py\t8\n" MAIN
#define FIT_LOAD "load\t/home/me/data.py\t21\ntraining_step\t/home/me/train.py\t40\n" FIT
#define FIT_SYNC "wait\t/home/me/gpu.py\t3\ntraining_step\t/home/me/train.py\t44\n" FIT
#define FIT_MODEL \
	"f\t/venv/lib/python3.11/site-packages/torch/optim/adam.py\t9\ntraining_step\t/home/me/train.py\t43\n" FIT

#define ROWS "rows\t/home/me/data.py\t3\tg\nparts\t/home/me/data.py\t4\tg\n"
#define NEXT ROWS "loop\t/home/me/train.py\t46\n" MAIN
#define TURNS "steps\t/home/me/train.py\t7\tg\n" MAIN
#define TURNS_SYNC                   \
	"wait\t/home/me/gpu.py\t3\n" \
	"steps\t/home/me/train.py\t6\tg\n" MAIN
#define TURNS_NEXT ROWS TURNS
#define SUM "loop.<locals>.<genexpr>\t/home/me/train.py\t46\tg\nloop\t/home/me/train.py\t46\n" MAIN
#define AWAITED "get\t/home/me/data.py\t3\tg\nrun\t/usr/lib/python3.11/asyncio/events.py\t9\n" MAIN

#define POLL                                              \
	"select\t/usr/lib/python3.11/selectors.py\t415\n" \
	"handle_request\t/usr/lib/python3.11/socketserver.py\t295\n" LOAD
#define SEND                         \
	"send\t/home/me/gpu.py\t8\n" \
	"step\t/home/me/gpu.py\t20\nloop\t/home/me/train.py\t44\n" MAIN
#define LAUNCH                         \
	"launch\t/home/me/gpu.py\t3\n" \
	"step\t/home/me/gpu.py\t22\nloop\t/home/me/train.py\t44\n" MAIN

struct bench {
	struct ana_evidence e;
	struct wire_strtab *names;
	struct ana_cause b;
	struct ana_given given;
	struct ana_longcalls calls;
};

static bool in_long_call(void *arg, uint32_t tid, int64_t t)
{
	struct bench *b = arg;

	return tid == PID && ana_longcalls_at(&b->calls, t);
}

static void begin(struct bench *t)
{
	memset(t, 0, sizeof(*t));
	REQUIRE(t->names = wire_strtab_new());
	ana_evidence_bare(&t->e, t->names);
	t->e.pid = PID;
	t->e.in_long_call = in_long_call;
	t->e.in_call_arg = t;
	t->given.fed = t->given.at_once = t->given.made = true;
}

static void end(struct bench *t)
{
	ana_cause_fini(&t->b);
	ana_evidence_fini(&t->e);
	ana_longcalls_fini(&t->calls);
	wire_strtab_free(t->names);
}

/* @cpu, @delay: ns, as the kernel counted; 0: it did not. */
static void see_counted(struct bench *t, int64_t us, enum wire_wait wait, const char *stack,
			int64_t cpu, int64_t delay)
{
	struct wire_sample s = {
		.t_ns = us * US,
		.cpu_ns = cpu,
		.delay_ns = delay,
		.pid = PID,
		.tid = PID,
		.role = WIRE_ROLE_SUBMITTER,
		.state = wait ? WIRE_STATE_SLEEPING : WIRE_STATE_RUNNING,
		.wait = (uint8_t)wait,
		.stack = wire_strtab_intern(t->names, stack, strlen(stack)),
	};

	REQUIRE(!ana_evidence_add_sample(&t->e, &s, INT64_MIN));
}

static void see(struct bench *t, int64_t us, enum wire_wait wait, const char *stack)
{
	see_counted(t, us, wait, stack, 0, 0);
}

/* A step of 20 ms from @us on: 16 ms of work there, then 4 ms in a call of the driver. */
static void step(struct bench *t, int64_t us, enum wire_wait wait, const char *stack,
		 const char *call)
{
	int64_t i;

	for (i = 0; i < 4; i++)
		see(t, us + i * 4000, wait, stack);
	REQUIRE(!ana_longcalls_add(&t->calls, (us + 15500) * US, (us + 19500) * US));
	see(t, us + 16000, WIRE_WAIT_NONE, call);
}

/* The class of all of the work of the third step. */
static int third(struct bench *t)
{
	int c;

	ana_cause_begin(&t->b, (int64_t)40000 * US, (int64_t)55000 * US, ANA_HOST_UNKNOWN, ANA_NONE,
			false);
	t->b.given = t->given;
	REQUIRE(ana_cause_host(&t->b, &t->e, PID));
	for (c = 0; c < ANA_CLASSES; c++)
		if (t->b.ns[c] == (int64_t)15000 * US)
			return c;
	return -1;
}

static int class_of(const char *work, const char *call, void (*with)(struct bench *))
{
	struct bench t;
	int c;

	begin(&t);
	step(&t, 0, WIRE_WAIT_NONE, work, call);
	step(&t, 20000, WIRE_WAIT_NONE, work, call);
	step(&t, 40000, WIRE_WAIT_NONE, work, call);
	if (with)
		with(&t);
	c = third(&t);
	end(&t);
	return c;
}

static void nothing_made(struct bench *t)
{
	t->given.made = false;
}

static void no_calls(struct bench *t)
{
	ana_longcalls_fini(&t->calls);
}

/* At that line somebody was seen to wait for who calls. */
static void requests_there(struct bench *t)
{
	static const char links[] = "?t1 ?a1";
	struct wire_sample s = {
		.pid = PID,
		.stack = wire_strtab_intern(t->names, DECODE, strlen(DECODE)),
		.links = wire_strtab_intern(t->names, links, strlen(links)),
	};

	REQUIRE(!ana_callers_add(&t->e.callers, &s, ana_linktexts_get(&t->e.links, s.links), PID));
}

static void test_classes(void)
{
	EXPECT_INT(class_of(DECODE, SYNC, NULL), ANA_INPUT_INLINE);
	EXPECT_INT(class_of(DECODE, SYNC, requests_there), ANA_HOST_CPU_WORK);
	EXPECT_INT(class_of(SCORE, SYNC, NULL), ANA_HOST_CPU_WORK); /* behind it */
	EXPECT_INT(class_of(DECODE, STEP, NULL), ANA_HOST_CPU_WORK); /* in one line: who knows */
	EXPECT_INT(class_of(DECODE, SYNC, nothing_made), ANA_HOST_CPU_WORK);
	EXPECT_INT(class_of(DECODE, SYNC, no_calls), ANA_HOST_CPU_WORK);
	EXPECT_INT(class_of(DECODE, MODEL, no_calls), ANA_INPUT_INLINE); /* a framework's code */
	EXPECT_INT(class_of(FIT_LOAD, FIT_SYNC, NULL), ANA_INPUT_INLINE);
	EXPECT_INT(class_of(FIT_LOAD, FIT_MODEL, no_calls), ANA_INPUT_INLINE);
	EXPECT_INT(class_of(FIT_LOAD, FIT_SYNC, no_calls), ANA_HOST_CPU_WORK);
}

/* Generators that the loop resumes make what it takes, wherever it does; unless the loop is one. */
static void test_generators(void)
{
	EXPECT_INT(class_of(NEXT, SYNC, NULL), ANA_INPUT_INLINE);
	EXPECT_INT(class_of(NEXT, SYNC, nothing_made), ANA_HOST_CPU_WORK);
	EXPECT_INT(class_of(NEXT, SYNC, no_calls), ANA_HOST_CPU_WORK);
	EXPECT_INT(class_of(TURNS, TURNS_SYNC, NULL), ANA_HOST_CPU_WORK);
	EXPECT_INT(class_of(TURNS_NEXT, TURNS_SYNC, NULL), ANA_HOST_CPU_WORK); /* not told apart */
	EXPECT_INT(class_of(SUM, SYNC, NULL), ANA_HOST_CPU_WORK);
	EXPECT_INT(class_of(AWAITED, SYNC, NULL), ANA_HOST_CPU_WORK);
}

/* What is done next counts, line by line, whatever else is done before the call. */
static void test_two_lines(void)
{
	struct bench t;
	int64_t us;

	begin(&t);
	for (us = 0; us < 60000; us += 20000) {
		see(&t, us, WIRE_WAIT_NONE, SCORE);
		see(&t, us + 6000, WIRE_WAIT_NONE, DECODE);
		see(&t, us + 11000, WIRE_WAIT_NONE, LOAD);
		REQUIRE(!ana_longcalls_add(&t.calls, (us + 15500) * US, (us + 19500) * US));
		see(&t, us + 16000, WIRE_WAIT_NONE, SYNC);
	}
	third(&t);
	EXPECT_INT(t.b.weight[ANA_INPUT_INLINE], (int64_t)9000 * US);
	EXPECT_INT(t.b.weight[ANA_HOST_CPU_WORK], (int64_t)6000 * US);
	end(&t);
}

/* One who asks again and again whether it may go on, or waits for others, makes nothing. */
static void waits_mostly(enum wire_wait wait, const char *stack)
{
	struct bench t;
	int64_t us;

	begin(&t);
	for (us = 0; us < 60000; us += 20000) {
		see(&t, us, wait, stack);
		see(&t, us + 6000, wait, stack);
		see(&t, us + 11000, WIRE_WAIT_NONE, stack);
		REQUIRE(!ana_longcalls_add(&t.calls, (us + 15500) * US, (us + 19500) * US));
		see(&t, us + 16000, WIRE_WAIT_NONE, SYNC);
	}
	third(&t);
	EXPECT_INT(t.b.weight[ANA_INPUT_INLINE], 0);
	end(&t);
}

static void test_waits(void)
{
	waits_mostly(WIRE_WAIT_SLEEP, DECODE);
	waits_mostly(WIRE_WAIT_LOCK, DECODE);
	waits_mostly(WIRE_WAIT_PIPE, NEXT);
}

/* Who sleeps and asks again shows as running for as long as he gets no CPU. */
static void poll(struct bench *t, int64_t run)
{
	int64_t us, cpu = 1, delay = 1;

	begin(t);
	for (us = 0; us < 60000; us += 20000) {
		see_counted(t, us, WIRE_WAIT_NONE, DECODE, cpu, delay);
		see_counted(t, us + 6000, WIRE_WAIT_SLEEP, DECODE, cpu + run,
			    delay + 6000 * US - run);
		see_counted(t, us + 11000, WIRE_WAIT_NONE, DECODE, cpu + run,
			    delay + 6000 * US - run);
		REQUIRE(!ana_longcalls_add(&t->calls, (us + 15500) * US, (us + 19500) * US));
		see_counted(t, us + 16000, WIRE_WAIT_NONE, SYNC, cpu + run,
			    delay + 6000 * US - run);
		cpu += run;
		delay += 6000 * US - run;
	}
	third(t);
}

static void test_poll(void)
{
	struct bench t;

	poll(&t, 50 * US);
	EXPECT_INT(t.b.weight[ANA_INPUT_INLINE], 0);
	end(&t);
	EXPECT_INT(class_of(POLL, SYNC, NULL), ANA_HOST_CPU_WORK); /* about to wait */
}

/*
 * A thread may lose its CPU anywhere, where it copies, too: seen there once it makes no batch
 * there.
 */
static void test_once(void)
{
	struct bench t;

	begin(&t);
	step(&t, 20000, WIRE_WAIT_NONE, DECODE, SYNC);
	see(&t, 40000, WIRE_WAIT_NONE, DECODE);
	ana_cause_begin(&t.b, (int64_t)40000 * US, (int64_t)55000 * US, ANA_HOST_UNKNOWN, ANA_NONE,
			false);
	t.b.given = t.given;
	EXPECT(!ana_cause_host(&t.b, &t.e, PID)); /* as its neighbours */
	ana_cause_begin(&t.b, (int64_t)40000 * US, (int64_t)140000 * US, ANA_HOST_UNKNOWN, ANA_NONE,
			false);
	t.b.given = t.given;
	EXPECT(ana_cause_host(&t.b, &t.e, PID)); /* no chance */
	EXPECT_INT(t.b.ns[ANA_INPUT_INLINE], (int64_t)100000 * US);
	end(&t);
}

/* Now and then it is seen at the line that copies; what it works is behind. */
static void test_rarely(void)
{
	struct bench t;
	int64_t us;

	begin(&t);
	for (us = 0; us < 200000; us += 20000) {
		for (int64_t i = 0; i < 14; i += 2)
			see(&t, us + i * 1000, WIRE_WAIT_NONE, SCORE);
		if (us >= 140000)
			see(&t, us + 15000, WIRE_WAIT_NONE, SEND);
		REQUIRE(!ana_longcalls_add(&t.calls, (us + 15500) * US, (us + 19500) * US));
		see(&t, us + 16000, WIRE_WAIT_NONE, LAUNCH);
	}
	ana_cause_begin(&t.b, (int64_t)195000 * US, (int64_t)195900 * US, ANA_HOST_UNKNOWN,
			ANA_NONE, false);
	t.b.given = t.given;
	see(&t, 195100, WIRE_WAIT_NONE, SEND);
	EXPECT(ana_cause_host(&t.b, &t.e, PID));
	EXPECT_INT(t.b.weight[ANA_INPUT_INLINE], 0);
	end(&t);
}

/*
 * Of each 16 ms of work, @ahead us are ahead of what gives; what of the last such piece, of 15 ms,
 * is input.
 */
static int64_t input_if_ahead(int64_t ahead)
{
	struct bench t;
	int64_t us, ns;

	begin(&t);
	for (us = 0; us < 60000; us += 20000) {
		see(&t, us, WIRE_WAIT_NONE, SCORE);
		see(&t, us + 16000 - ahead, WIRE_WAIT_NONE, DECODE);
		REQUIRE(!ana_longcalls_add(&t.calls, (us + 15500) * US, (us + 19500) * US));
		see(&t, us + 16000, WIRE_WAIT_NONE, SYNC);
	}
	third(&t);
	ns = t.b.weight[ANA_INPUT_INLINE];
	end(&t);
	return ns;
}

/* A fifth is a part of the loop's work; less is where the thread lost its CPU now and then. */
static void test_a_fifth(void)
{
	EXPECT_INT(input_if_ahead(3199), 0);
	EXPECT_INT(input_if_ahead(3200), (int64_t)2200 * US);
	EXPECT_INT(input_if_ahead(8000), (int64_t)7000 * US);
}

/* Most of the calls behind it decide; of as many on both sides it is behind. */
static void test_majority(void)
{
	struct bench t;

	begin(&t);
	step(&t, -20000, WIRE_WAIT_NONE, DECODE, EARLY);
	step(&t, 0, WIRE_WAIT_NONE, DECODE, SYNC);
	step(&t, 20000, WIRE_WAIT_NONE, DECODE, SYNC);
	step(&t, 40000, WIRE_WAIT_NONE, DECODE, SYNC);
	EXPECT_INT(third(&t), ANA_INPUT_INLINE);
	end(&t);

	begin(&t);
	step(&t, 0, WIRE_WAIT_NONE, DECODE, EARLY);
	step(&t, 20000, WIRE_WAIT_NONE, DECODE, SYNC);
	step(&t, 40000, WIRE_WAIT_NONE, DECODE, SYNC);
	EXPECT_INT(third(&t), ANA_HOST_CPU_WORK);
	end(&t);
}

/*
 * Three steps, in each: asleep up to @first, @wait up to @then, on a CPU; the latter's part of the
 * third that is input.
 */
static int64_t input_of(int64_t first, enum wire_wait wait, int64_t then)
{
	struct bench t;
	int64_t us, ns;

	begin(&t);
	for (us = 0; us < 60000; us += 20000) {
		see(&t, us, WIRE_WAIT_SLEEP, DECODE);
		if (first < then)
			see(&t, us + first, wait, DECODE);
		see(&t, us + then, WIRE_WAIT_NONE, LOAD);
		REQUIRE(!ana_longcalls_add(&t.calls, (us + 15500) * US, (us + 19500) * US));
		see(&t, us + 16000, WIRE_WAIT_NONE, SYNC);
	}
	third(&t);
	ns = t.b.weight[ANA_INPUT_INLINE];
	end(&t);
	return ns;
}

/* To read is to make, from wherever it comes: it outweighs sleep; to wait for others does not. */
static void test_what_work_is(void)
{
	static const enum wire_wait work[] = { WIRE_WAIT_READ, WIRE_WAIT_FAULT, WIRE_WAIT_SOCKET };
	static const enum wire_wait none[] = { WIRE_WAIT_LOCK, WIRE_WAIT_OTHER };
	size_t i;

	for (i = 0; i < 3; i++)
		EXPECT(input_of(3000, work[i], 13500) >= (int64_t)1500 * US);
	for (i = 0; i < 2; i++)
		EXPECT_INT(input_of(3000, none[i], 13500), 0);
}

/* As long asleep as at work: that is no waiting for others yet. */
static void test_as_much_waiting(void)
{
	EXPECT_INT(input_of(8000, WIRE_WAIT_NONE, 8000), (int64_t)7000 * US);
	EXPECT_INT(input_of(8001, WIRE_WAIT_NONE, 8001), 0);
}

static bool apart(const char *a, const char *b, const char *want)
{
	struct ana_text x = { a, (uint32_t)strlen(a) }, y = { b, (uint32_t)strlen(b) };
	uint32_t at, to, common;

	if (!ana_order_apart(x, y, &at, &to, &common))
		return !want;
	return want && common == strlen(want) && !strcmp(a + strlen(a) - common, want);
}

static void test_apart(void)
{
	EXPECT(apart(DECODE, SYNC, "loop\t/home/me/train.py\t40\n" MAIN));
	EXPECT(apart(DECODE, LOAD,
		     "load\t/home/me/data.py\t20\nloop\t/home/me/train.py\t40\n" MAIN));
	EXPECT(apart(DECODE, STEP, NULL)); /* two functions called from one line */
	EXPECT(apart(MAIN, SYNC, NULL)); /* one is the other's caller */
	EXPECT(apart(SYNC, SYNC, NULL));
	EXPECT(apart("", SYNC, NULL));
	EXPECT(apart("f\ta\t1", "f\tb\t2", NULL));
	EXPECT(apart("f\ta\t1", "f\ta\t2", "f\ta\t1"));
}

/* ---- copies ---------------------------------------------------------------------------------- */

static void test_copies(void)
{
	struct ana_copied c = { 0 };

	EXPECT(ana_copied_given(&c, 0, MS, true, 1024).made);
	EXPECT(!ana_copied_given(&c, 0, MS, true, 1023).made); /* a learning rate */
	EXPECT(!ana_copied_given(&c, 0, MS, false, 1 << 20).made);
	REQUIRE(!ana_copied_add(&c, 0, 1 << 20, true));
	REQUIRE(!ana_copied_add(&c, 1 * MS, 4096, false)); /* a loss */
	EXPECT(ana_copied_given(&c, 2 * MS, 3 * MS, true, 1 << 20).made);
	/*
	 * gradients come, and weights go back in parts: behind the first part nothing came any more
	 */
	REQUIRE(!ana_copied_add(&c, 2 * MS, 1 << 22, false));
	EXPECT(!ana_copied_given(&c, 3 * MS, 4 * MS, true, 1 << 20).made);
	REQUIRE(!ana_copied_add(&c, 4 * MS, 1 << 20, true));
	EXPECT(!ana_copied_given(&c, 5 * MS, 6 * MS, true, 1 << 20).answer);
	EXPECT(!ana_copied_given(&c, 5 * MS, 6 * MS, true, 1 << 20).made);
	EXPECT(ana_copied_given(&c, (int64_t)2003 * MS, (int64_t)2004 * MS, true, 1 << 20).made);
	ana_copied_fini(&c);
}

/*
 * Half as much that comes back as was given, to the byte, is an answer, just now or of the last 2
 * s.
 */
static void test_half_is_answer(void)
{
	struct ana_copied c;
	int less;

	for (less = 0; less <= 1; less++) {
		struct ana_given g;

		c = (struct ana_copied){ 0 };
		REQUIRE(!ana_copied_add(&c, 0, 1 << 20, true));
		REQUIRE(!ana_copied_add(&c, 1 * MS, (1 << 19) - less, false));
		g = ana_copied_given(&c, 2 * MS, 3 * MS, true, 1 << 20);
		EXPECT_INT(g.answer, !less);
		EXPECT_INT(g.made, less);
		ana_copied_fini(&c);
	}
}

static enum ana_read read_beside(const struct ana_copied *c, uint64_t bytes)
{
	struct wire_sample look[] = { { .t_ns = 0, .rchar_bytes = 7 },
				      { .t_ns = 2 * MS, .rchar_bytes = 7 + bytes } };
	struct ana_thread_samples s = { .reads = true, .sample = look, .tail = 2 };

	return ana_copied_read(c, &s, 3 * MS, 4 * MS);
}

/*
 * 4 KiB for each copy to the device are words, and no more; nor what is a sixteenth of what was
 * copied.
 */
static void test_words(void)
{
	struct ana_copied c = { 0 };

	EXPECT_INT(read_beside(&c, 1), ANA_READ_NOT_KNOWN);
	REQUIRE(!ana_copied_add(&c, 1 * MS, 1 << 20, true));
	REQUIRE(!ana_copied_add(&c, 2 * MS, 1 << 20, true));
	REQUIRE(!ana_copied_add(&c, 2 * MS, 1 << 20, false));
	EXPECT_INT(read_beside(&c, 8192), ANA_READ_WORDS);
	EXPECT_INT(read_beside(&c, 8193), ANA_READ_DATA);
	ana_copied_fini(&c);

	REQUIRE(!ana_copied_add(&c, 1 * MS, 16384, true));
	EXPECT_INT(read_beside(&c, 1023), ANA_READ_WORDS);
	EXPECT_INT(read_beside(&c, 1024), ANA_READ_DATA);
	ana_copied_fini(&c);
}

/* A batch of two parts every 10 ms; every second one has a gap before it, then fewer. */
static void test_comes_often(void)
{
	struct ana_copied c = { 0 };
	int64_t i, t = 0;

	for (i = 0; i < 9; i++, t += i % 2 ? 100 * MS : 10 * MS) {
		ana_copied_computed(&c);
		REQUIRE(!ana_copied_add(&c, t, 1 << 20, true));
		REQUIRE(!ana_copied_add(&c, t + US, 1 << 20, true));
	}
	EXPECT(ana_copied_given(&c, t - 100 * MS, t, true, 1 << 20).made);
	for (i = 0; i < 3; i++, t += 10 * MS) {
		ana_copied_computed(&c);
		REQUIRE(!ana_copied_add(&c, t, 1 << 20, true));
	}
	EXPECT(!ana_copied_given(&c, t, t + 100 * MS, true, 1 << 20).made);
	EXPECT(ana_copied_given(&c, t, t + 20 * MS, true, 1 << 20).made);
	ana_copied_fini(&c);
}

static void test_long_calls(void)
{
	struct ana_longcalls c = { 0 };
	int64_t i;

	EXPECT(!ana_longcalls_at(&c, 0));
	REQUIRE(!ana_longcalls_add(&c, 0, 19 * US)); /* too short */
	EXPECT(!ana_longcalls_at(&c, 5));
	REQUIRE(!ana_longcalls_add(&c, 100 * US, 200 * US));
	REQUIRE(!ana_longcalls_add(&c, 150 * US, 180 * US)); /* in it */
	EXPECT(!ana_longcalls_at(&c, 100 * US - 1) && ana_longcalls_at(&c, 100 * US));
	EXPECT(ana_longcalls_at(&c, 190 * US) && !ana_longcalls_at(&c, 200 * US));
	for (i = 1; i < 100000; i++)
		REQUIRE(!ana_longcalls_add(&c, i * MS, i * MS + 50 * US));
	EXPECT(c.tail - c.head <= 20002);
	EXPECT(ana_longcalls_at(&c, (int64_t)99999 * MS) && !ana_longcalls_at(&c, 100 * US));
	ana_longcalls_fini(&c);
}

static const struct t_case cases[] = {
	T_CASE(test_classes),
	T_CASE(test_generators),
	T_CASE(test_two_lines),
	T_CASE(test_waits),
	T_CASE(test_poll),
	T_CASE(test_once),
	T_CASE(test_rarely),
	T_CASE(test_a_fifth),
	T_CASE(test_majority),
	T_CASE(test_what_work_is),
	T_CASE(test_as_much_waiting),
	T_CASE(test_apart),
	T_CASE(test_copies),
	T_CASE(test_half_is_answer),
	T_CASE(test_words),
	T_CASE(test_comes_often),
	T_CASE(test_long_calls),
};

int main(void)
{
	return t_run(cases, sizeof(cases) / sizeof(cases[0]));
}
