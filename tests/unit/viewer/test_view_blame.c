/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Causes from evidence, rule by rule: stacks to kinds of code, samples to shares, rows and samples
 * to classes, pieces without samples, hotspots, facts about loaders. All rows here are made by
 * hand; times in us.
 */
#include <errno.h>
#include "harness.h"
#include "analysis/archive.h"
#include "analysis/evidence/cause.h"
#include "analysis/evidence/unsampled.h"
#include "analysis/evidence/hotspots_kept.h"

#define PID 100
#define US 1000
#define MS 1000000

#define USER "work\t/home/me/train.py\t88\nmain\t/home/me/train.py\t9"
#define DECODE                                                                                  \
	"load\t/usr/lib/python3/dist-packages/PIL/ImageFile.py\t250\nwork\t/home/me/train.py\t" \
	"91\nmain\t/home/me/train.py\t9"
#define PACKAGES "/venv/lib/python3.11/site-packages/"
#define NUMERIC "fft\t" PACKAGES "scipy/fft/_basic.py\t20\n" USER
#define FITTED \
	"training_step\t/home/me/model.py\t8\nfit\t" PACKAGES "lightning/pytorch/trainer.py\t9"
#define CPU_ADAM                                                                 \
	"step\t" PACKAGES "deepspeed/ops/adam/cpu_adam.py\t180\nstep\t" PACKAGES \
	"deepspeed/runtime/zero/stage_1_and_2.py\t1900\n" USER
#define ADAM "step\t" PACKAGES "torch/optim/adam.py\t180\n" USER
#define BACKWARD "backward\t" PACKAGES "torch/_tensor.py\t500\n" USER
#define SPIN "acquire_read\t" PACKAGES "vllm/distributed/device_communicators/shm_broadcast.py\t430"
#define NEXT                                                                                          \
	"select\t/usr/lib/python3.11/selectors.py\t415\n_try_get_data\t/x/site-packages/torch/utils/" \
	"data/dataloader.py\t1120\n__next__\t/x/site-packages/torch/utils/data/dataloader.py\t628\n"  \
	"__next__\t<gpustarve>\t77\nmain\t/home/me/train.py\t9"

struct bench { /* evidence under test */
	struct ana_evidence e;
	struct wire_strtab *names;
	struct ana_cause b;
};

static void begin(struct bench *t)
{
	memset(t, 0, sizeof(*t));
	REQUIRE(t->names = wire_strtab_new());
	ana_evidence_bare(&t->e, t->names);
	t->e.pid = PID;
}

static void end(struct bench *t)
{
	ana_cause_fini(&t->b);
	ana_evidence_fini(&t->e);
	wire_strtab_free(t->names);
}

static uint32_t name(struct bench *t, const char *text)
{
	return text ? wire_strtab_intern(t->names, text, strlen(text)) : 0;
}

/* A sample whose counters are not known. */
static struct wire_sample sample(struct bench *t, uint32_t tid, int64_t us, enum wire_wait wait,
				 const char *stack)
{
	return (struct wire_sample){
		.t_ns = us * US,
		.pid = tid < 200 ? PID : tid,
		.tid = tid,
		.role = tid == PID  ? WIRE_ROLE_SUBMITTER
			: tid < 200 ? WIRE_ROLE_OTHER
				    : WIRE_ROLE_WORKER,
		.state = wait ? WIRE_STATE_SLEEPING : WIRE_STATE_RUNNING,
		.wait = (uint8_t)wait,
		.stack = name(t, stack),
	};
}

static void see(struct bench *t, uint32_t tid, int64_t us, enum wire_wait wait, const char *stack)
{
	struct wire_sample s = sample(t, tid, us, wait, stack);

	REQUIRE(!ana_evidence_add_sample(&t->e, &s, INT64_MIN));
}

/* With the kernel's counters, in us. */
static void count(struct bench *t, uint32_t tid, int64_t us, enum wire_wait wait, uint64_t cpu,
		  uint64_t delay)
{
	struct wire_sample s = sample(t, tid, us, wait, USER);

	s.cpu_ns = 1 + cpu * US;
	s.delay_ns = delay * US;
	REQUIRE(!ana_evidence_add_sample(&t->e, &s, INT64_MIN));
}

static void add(struct bench *t, struct wire_batch b, int64_t start, int64_t stop)
{
	b.start_ns = start * US;
	b.end_ns = stop * US;
	b.cpu_ns *= US;
	b.delay_ns *= US;
	REQUIRE(!ana_evidence_add_batch(&t->e, &b, INT64_MIN));
}

static void open_loader(struct bench *t, const char *settings)
{
	add(t,
	    (struct wire_batch){ .what = WIRE_BATCH_OPEN,
				 .pid = PID,
				 .tid = PID,
				 .loader = 1,
				 .text = name(t, settings) },
	    0, 1);
}

static void take(struct bench *t, uint64_t batch, int64_t start, int64_t stop)
{
	add(t,
	    (struct wire_batch){
		    .what = WIRE_BATCH_TAKE, .pid = PID, .tid = PID, .loader = 1, .batch = batch },
	    start, stop);
}

/* Worker number 1, 2, ... is thread 200, 201, ... */
static void fetch(struct bench *t, uint32_t worker, uint64_t batch, int64_t start, int64_t stop,
		  uint64_t cpu, uint64_t delay)
{
	add(t,
	    (struct wire_batch){ .what = WIRE_BATCH_FETCH,
				 .pid = worker ? 199 + worker : PID,
				 .tid = worker ? 199 + worker : PID,
				 .loader = worker ? 1 : 0,
				 .worker = worker,
				 .batch = worker ? batch : UINT64_MAX,
				 .cpu_ns = cpu,
				 .delay_ns = delay },
	    start, stop);
}

static bool wait_of(struct bench *t, int64_t start, int64_t stop)
{
	ana_cause_begin(&t->b, start * US, stop * US, ANA_INPUT_UNKNOWN, ANA_HIGH, true);
	return ana_cause_wait(&t->b, &t->e, PID);
}

static bool host_of(struct bench *t, int64_t start, int64_t stop)
{
	ana_cause_begin(&t->b, start * US, stop * US, ANA_HOST_UNKNOWN, ANA_NONE, false);
	return ana_cause_host(&t->b, &t->e, PID);
}

static int64_t sum(const struct ana_cause *b)
{
	int64_t ns = 0;
	int c;

	for (c = 0; c < ANA_CLASSES; c++)
		ns += b->ns[c];
	return ns;
}

/* All of the piece is of one class. */
#define EXPECT_ALL(t, c, sure)                                       \
	do {                                                         \
		EXPECT_INT((t)->b.ns[c], (t)->b.end - (t)->b.start); \
		EXPECT_INT(sum(&(t)->b), (t)->b.end - (t)->b.start); \
		EXPECT_INT((t)->b.confidence[c], sure);              \
	} while (0)

/* ---- stacks ---------------------------------------------------------------------------------- */

static enum ana_code code_of(const char *text)
{
	struct ana_pystack k;

	ana_pystack_read(&k, text, (uint32_t)strlen(text));
	return (enum ana_code)k.code;
}

static void test_stacks(void)
{
	struct ana_pystack k;

	EXPECT_INT(code_of(""), ANA_CODE_PLAIN);
	EXPECT_INT(code_of(USER), ANA_CODE_PLAIN);
	EXPECT_INT(code_of(DECODE), ANA_CODE_DATA);
	EXPECT_INT(code_of(NEXT), ANA_CODE_NEXT);
	/* the user's own names are no evidence */
	EXPECT_INT(code_of("load\t/home/me/PIL/Image.py\t1"), ANA_CODE_PLAIN);
	EXPECT_INT(code_of("decode_image\t/home/me/dataset.py\t1"), ANA_CODE_PLAIN);
	/* what is innermost decides: a model that runs inside a map over data is no data code */
	EXPECT_INT(code_of("forward\t/x/site-packages/torch/nn/modules/linear.py\t1\n"
			   "f\t/home/me/a.py\t2\nmap\t/x/site-packages/datasets/a.py\t3"),
		   ANA_CODE_MODEL);
	EXPECT_INT(code_of("interpolate\t/x/site-packages/torch/nn/functional.py\t1\n"
			   "resize\t/x/site-packages/torchvision/transforms/functional.py\t2"),
		   ANA_CODE_DATA);
	/* a reader of the standard library only if nobody else decides */
	EXPECT_INT(code_of("raw_decode\t/usr/lib/python3.11/json/decoder.py\t1\n" USER),
		   ANA_CODE_DATA);
	EXPECT_INT(code_of("loads\t/usr/lib/python3.11/json/__init__.py\t1\n"
			   "step\t/x/site-packages/deepspeed/engine.py\t2\n" USER),
		   ANA_CODE_MODEL);
	EXPECT_INT(code_of("dumps\t/usr/lib/python3.11/json/__init__.py\t1\n" USER),
		   ANA_CODE_PLAIN);
	EXPECT_INT(code_of("_load\t<frozen importlib._bootstrap>\t1\n" USER), ANA_CODE_LOAD);
	/* what a compiler calls is part of compiling; what it compiled is not */
	EXPECT_INT(code_of("__call__\t/x/site-packages/torch/_ops.py\t1\n"
			   "run_node\t/x/site-packages/torch/_dynamo/utils.py\t2\n"
			   "call\t/x/site-packages/torch/_dynamo/variables/torch.py\t3\n" USER),
		   ANA_CODE_LOAD);
	EXPECT_INT(code_of("open\t/x/site-packages/PIL/Image.py\t1\n"
			   "f\t/x/site-packages/torch/_dynamo/convert_frame.py\t3\n" USER),
		   ANA_CODE_LOAD);
	EXPECT_INT(
		code_of("run\t/x/site-packages/torch/_inductor/runtime/triton_heuristics.py\t1\n"
			"compile_wrapper\t/x/site-packages/torch/_dynamo/eval_frame.py\t3\n" USER),
		ANA_CODE_MODEL);
	EXPECT_INT(code_of("_save\t/x/dist-packages/torch/serialization.py\t650\n" USER),
		   ANA_CODE_CHECKPOINT);
	/* what a reader's package writes is no data, but for whoever makes data of it */
	EXPECT_INT(code_of("_ZipWriteFile.write\t/usr/lib/python3.11/zipfile.py\t1168\n"
			   "write_array\t/x/dist-packages/numpy/lib/format.py\t727\n"
			   "_savez\t/x/dist-packages/numpy/lib/npyio.py\t719\n" USER),
		   ANA_CODE_SAVE);
	EXPECT_INT(code_of("read_array\t/x/dist-packages/numpy/lib/format.py\t790\n"
			   "load\t/x/dist-packages/numpy/lib/npyio.py\t440\n" USER),
		   ANA_CODE_DATA);
	EXPECT_INT(code_of("_encode_tile\t/x/dist-packages/PIL/ImageFile.py\t540\n"
			   "_save\t/x/dist-packages/PIL/JpegImagePlugin.py\t800\n"
			   "Image.save\t/x/dist-packages/PIL/Image.py\t2430\n" USER),
		   ANA_CODE_SAVE);
	EXPECT_INT(code_of("Image.save\t/x/dist-packages/PIL/Image.py\t2430\n"
			   "f\t/x/site-packages/torchvision/transforms/v2/_augment.py\t9\n" USER),
		   ANA_CODE_DATA);
	EXPECT_INT(code_of("DataFrame.to_csv\t/x/site-packages/pandas/core/generic.py\t3\n" USER),
		   ANA_CODE_SAVE);
	EXPECT_INT(code_of("__init__\t/x/site-packages/torch/utils/data/dataloader.py\t9\n" USER),
		   ANA_CODE_EPOCH);
	EXPECT_INT(
		code_of("x\t/x/site-packages/transformers/models/vit/image_processing_vit.py\t9"),
		ANA_CODE_DATA);
	EXPECT_INT(code_of("x\t/x/site-packages/transformers/models/vit/modeling_vit.py\t9"),
		   ANA_CODE_MODEL);
	ana_pystack_read(&k, DECODE, strlen(DECODE));
	EXPECT(k.function.len == 4 && !memcmp(k.function.at, "work", 4) && k.line == 91);
	EXPECT(k.leaf_function.len == 4 && !memcmp(k.leaf_function.at, "load", 4));
	EXPECT(!k.user_leaf && !k.waits);
	ana_pystack_read(&k, NEXT, strlen(NEXT)); /* our own frame is nobody's line */
	EXPECT(k.waits && k.line == 9 && !memcmp(k.file.at, "/home/me/train.py", 17));
	/* from Python 3.11 on functions come with their classes */
	EXPECT_INT(code_of("_BaseDataLoaderIter.__next__\t/x/site-packages/torch/utils/data/"
			   "dataloader.py\t628"),
		   ANA_CODE_NEXT);
}

static bool named(const struct ana_pystack *k, const char *file, uint32_t line)
{
	return k->user && k->line == line && k->file.len == strlen(file) &&
	       !memcmp(k->file.at, file, k->file.len);
}

/*
 * Code that was made of a text has no line to look at: that of who calls it is told, if there is
 * one.
 */
static void test_stacks_made(void)
{
#define STANDARD "/usr/lib/python3.11/"
	static const char proxy[] =
		"Connection._recv\t" STANDARD
		"multiprocessing/connection.py\t378\nBaseProxy._callmethod\t" STANDARD
		"multiprocessing/managers.py\t810\nget\t<string>\t2\n" USER,
			  command[] = "Queue.get\t" STANDARD "queue.py\t171\nmain\t<string>\t5\n"
				      "<module>\t<string>\t9",
			  spawned[] = "worker\t" STANDARD
				      "multiprocessing/pool.py\t114\nspawn_main\t" STANDARD
				      "multiprocessing/spawn.py\t122\n<module>\t<string>\t1",
			  typed[] = "get\t<stdin>\t3\n" USER,
			  data[] = "__init__\t<string>\t4\n" USER;
	struct ana_pystack k;

	ana_pystack_read(&k, proxy, strlen(proxy));
	EXPECT(named(&k, "/home/me/train.py", 88));
	ana_pystack_read(&k, data, strlen(data));
	EXPECT(named(&k, "/home/me/train.py", 88) && k.own);
	ana_pystack_read(&k, command, strlen(command)); /* python -c */
	EXPECT(named(&k, "<string>", 5));
	ana_pystack_read(&k, typed, strlen(typed));
	EXPECT(named(&k, "<stdin>", 3));
	ana_pystack_read(&k, spawned, strlen(spawned)); /* no line of the program's */
	EXPECT(!k.user && k.line == 114);
#undef STANDARD
}

/* The interpreter's end: what runs then was begun by no program. */
static void test_stacks_over(void)
{
	static const struct {
		const char *text;
		bool over;
	} stacks[] = {
		{ "", false },
		{ USER, false },
		{ "_shutdown\t/usr/lib/python3.11/threading.py\t1590", true },
		{ "upload\t/home/me/train.py\t5\nfinish\t/x/site-packages/wandb/exits.py\t9",
		  true },
		{ "main\t/home/me/train.py\t5\n<module>\t/x/site-packages/tool/cli.py\t9", false },
		{ "main\t/x/site-packages/tool/cli.py\t5\n_run_module_as_main\t<frozen runpy>\t198",
		  false },
		{ "main\t/x/site-packages/tool/cli.py\t5\n_run_module_as_main\t"
		  "/usr/lib/python3.8/runpy.py\t194",
		  false },
	};
	char deep[WIRE_STACK_FRAMES_MAX * 64];
	struct ana_pystack k;
	size_t i, at = 0;

	for (i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++) {
		ana_pystack_read(&k, stacks[i].text, (uint32_t)strlen(stacks[i].text));
		EXPECT(k.over == stacks[i].over);
	}
	for (i = 0; i < WIRE_STACK_FRAMES_MAX; i++) /* who began it is not known */
		at += (size_t)sprintf(deep + at, "%sf\t/usr/lib/python3.11/threading.py\t1",
				      i ? "\n" : "");
	ana_pystack_read(&k, deep, (uint32_t)at);
	EXPECT(!k.over);
	ana_pystack_read(&k, strchr(deep, '\n') + 1, (uint32_t)strlen(strchr(deep, '\n') + 1));
	EXPECT(k.over);
}

/* Bytes that are no stack. */
static void test_stacks_hostile(void)
{
	static const char *const text[] = { "\n",
					    "\t",
					    "\t\t\t\n\n",
					    "f",
					    "f\t",
					    "f\tg\t99999999999",
					    "|__next__|\ttorch",
					    "a\tsite-packages/",
					    "\t/lib/python3/" };
	struct ana_pystack k;
	size_t i;

	for (i = 0; i < sizeof(text) / sizeof(*text); i++) {
		ana_pystack_read(&k, text[i], (uint32_t)strlen(text[i]));
		EXPECT_INT(k.code, ANA_CODE_PLAIN);
	}
}

/* ---- shares ---------------------------------------------------------------------------------- */

static void test_shares_exact(void)
{
	struct ana_shares h;
	struct bench t;

	begin(&t);
	count(&t, 200, 0, WIRE_WAIT_NONE, 0, 0);
	count(&t, 200, 10000, WIRE_WAIT_READ, 3000, 1000);
	count(&t, 200, 20000, WIRE_WAIT_NONE, 5000, 5000);
	EXPECT(ana_shares_of(t.e.thread[0], 0, 40000 * US, &h));
	EXPECT_INT(h.run, 10000 * US); /* 5 of 20 ms, over 40 ms */
	EXPECT_INT(h.delay, 10000 * US);
	EXPECT_INT(h.blocked, 20000 * US);
	EXPECT_INT(h.running, 30000 * US);
	EXPECT_INT(h.waiting, 10000 * US);
	EXPECT_INT(ana_shares_part(t.e.thread[0], &h, 1), 20000 * US);
	EXPECT(!ana_shares_of(t.e.thread[0], 20001 * US, 40000 * US, &h));
	EXPECT(!ana_shares_of(NULL, 0, 1, &h));
	end(&t);
}

static void test_shares_running(void)
{
	struct ana_shares h;
	struct bench t;

	begin(&t);
	/* runs flat out, counters lag: what they lack is shared as they are */
	count(&t, 200, 0, WIRE_WAIT_NONE, 0, 0);
	count(&t, 200, 20000, WIRE_WAIT_NONE, 9000, 3000);
	EXPECT(ana_shares_of(t.e.thread[0], 0, 20001 * US, &h));
	EXPECT_INT(h.delay / (250 * US), 20); /* a quarter */
	EXPECT_INT(h.run + h.delay, 20001 * US);
	/* runnable and not one tick for 20 ms: it waits for a CPU */
	count(&t, 201, 0, WIRE_WAIT_NONE, 7, 0);
	count(&t, 201, 20000, WIRE_WAIT_NONE, 7, 0);
	EXPECT(ana_shares_of(t.e.thread[1], 0, 20001 * US, &h));
	EXPECT_INT(h.delay, 20001 * US);
	/* it ran for a moment, and waits since then: what it waits is counted when it is over */
	count(&t, 203, 0, WIRE_WAIT_NONE, 0, 0);
	count(&t, 203, 50000, WIRE_WAIT_NONE, 1000, 0);
	EXPECT(ana_shares_of(t.e.thread[2], 0, 50001 * US, &h));
	EXPECT_INT(h.run / US, 1000);
	/* too close together for counters: by states, and the cell before tells run from delay */
	count(&t, 202, 0, WIRE_WAIT_NONE, 0, 0);
	count(&t, 202, 5000, WIRE_WAIT_NONE, 1000, 3000);
	EXPECT(ana_shares_of(t.e.thread[3], 5000 * US, 9000 * US, &h));
	EXPECT_INT(h.run, 1000 * US);
	EXPECT_INT(h.delay, 3000 * US);
	end(&t);
}

/* A group that was throttled: nobody counts it as delay. */
static void test_shares_throttled(void)
{
	struct ana_shares h;
	struct wire_sample s;
	struct bench t;
	int i;

	begin(&t);
	for (i = 0; i < 2; i++) {
		s = sample(&t, 200, i * 20000, WIRE_WAIT_NONE, USER);
		s.cpu_ns = 1 + (uint64_t)i * 5000 * US;
		s.throttled_ns = 1 + (uint64_t)i * 10000 * US;
		REQUIRE(!ana_evidence_add_sample(&t.e, &s, INT64_MIN));
	}
	EXPECT(ana_shares_of(t.e.thread[0], 0, 20001 * US, &h));
	EXPECT_INT(h.delay / (667 * US), 19); /* 10 of 15, and of the 5 that are left two thirds */
	end(&t);
}

/* ---- waits ----------------------------------------------------------------------------------- */

static void test_wait_without_evidence(void)
{
	struct bench t;

	begin(&t);
	EXPECT(!wait_of(&t, 0, 1000));
	see(&t, PID, 2000, WIRE_WAIT_READ, USER);
	EXPECT(!wait_of(&t, 0, 1000));
	end(&t);
}

static void test_wait_first(void)
{
	struct bench t;

	begin(&t);
	take(&t, 0, 0, 1000);
	EXPECT(wait_of(&t, 0, 1000));
	EXPECT_ALL(&t, ANA_INPUT_EPOCH, ANA_HIGH);
	EXPECT(!t.b.decided);
	add(&t,
	    (struct wire_batch){ .what = WIRE_BATCH_CLOSE, .pid = PID, .tid = PID, .loader = 1 },
	    5000, 5600);
	EXPECT(wait_of(&t, 5000, 6000));
	EXPECT_ALL(&t, ANA_INPUT_EPOCH, ANA_HIGH);
	end(&t);
}

/* No workers: the trainer's own samples. */
static void test_wait_own(void)
{
	static const struct {
		enum wire_wait wait;
		enum ana_class c;
	} is[] = {
		{ WIRE_WAIT_READ, ANA_INPUT_FETCH },
		{ WIRE_WAIT_WRITE, ANA_INPUT_FETCH },
		{ WIRE_WAIT_FAULT, ANA_INPUT_FETCH },
		{ WIRE_WAIT_SOCKET, ANA_INPUT_FETCH },
		{ WIRE_WAIT_PIPE, ANA_INPUT_FETCH },
		{ WIRE_WAIT_SLEEP, ANA_INPUT_FETCH },
		{ WIRE_WAIT_NONE, ANA_INPUT_PREP },
		{ WIRE_WAIT_LOCK, ANA_INPUT_PIPELINE },
		{ WIRE_WAIT_LOCK_SHARED, ANA_INPUT_PIPELINE },
		{ WIRE_WAIT_GIL, ANA_INPUT_PIPELINE },
		{ WIRE_WAIT_UNKNOWN, ANA_INPUT_UNKNOWN },
		{ WIRE_WAIT_GPU, ANA_INPUT_UNKNOWN },
	};
	size_t i;
	int k;

	for (i = 0; i < sizeof(is) / sizeof(*is); i++) {
		struct bench t;

		begin(&t);
		take(&t, 1, 0, 10000);
		see(&t, PID, 2000, is[i].wait, USER);
		EXPECT(wait_of(&t, 0, 10000));
		EXPECT_ALL(&t, is[i].c, is[i].c == ANA_INPUT_UNKNOWN ? ANA_HIGH : ANA_MEDIUM);
		for (k = 1; k < 3; k++)
			see(&t, PID, 2000 + k, is[i].wait, USER);
		EXPECT(wait_of(&t, 0, 10000));
		EXPECT_ALL(&t, is[i].c, ANA_HIGH);
		end(&t);
	}
}

/* A row of its own fetch is exact; samples tell in what the rest was blocked. */
static void test_wait_own_row(void)
{
	struct bench t;

	begin(&t);
	take(&t, 1, 0, 10000);
	fetch(&t, 0, 0, 100, 9900, 9000, 100);
	EXPECT(wait_of(&t, 0, 10000));
	EXPECT_ALL(&t, ANA_INPUT_PREP, ANA_HIGH);
	take(&t, 2, 20000, 30000);
	fetch(&t, 0, 0, 20000, 30000, 1000, 0);
	EXPECT(!wait_of(&t, 20000, 30000)); /* blocked, and nobody saw in what */
	see(&t, PID, 25000, WIRE_WAIT_SOCKET, USER);
	EXPECT(wait_of(&t, 20000, 30000));
	EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_MEDIUM);
	take(&t, 3, 40000, 50000); /* seen shortly before: low */
	fetch(&t, 0, 0, 40000, 50000, 1000, 0);
	EXPECT(wait_of(&t, 40000, 50000));
	EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_LOW);
	take(&t, 4, 60000, 70000); /* no CPU for a third of it */
	fetch(&t, 0, 0, 60000, 70000, 6000, 3000);
	see(&t, PID, 65000, WIRE_WAIT_READ, USER);
	EXPECT(wait_of(&t, 60000, 70000));
	EXPECT_INT(t.b.ns[ANA_INPUT_CPU_STARVED], 3000 * US);
	EXPECT_INT(t.b.ns[ANA_INPUT_PREP], 7000 * US);
	EXPECT_INT(t.b.confidence[ANA_INPUT_CPU_STARVED], ANA_HIGH);
	end(&t);
}

/* The worker that owns the awaited batch, not the others. */
static void test_wait_owner(void)
{
	struct bench t;

	begin(&t);
	open_loader(&t, "workers=2 prefetch=2");
	fetch(&t, 1, 0, 10, 100, 90, 0);
	fetch(&t, 2, 1, 10, 100, 90, 0);
	fetch(&t, 2, 3, 900, 20000, 19000, 0);
	fetch(&t, 1, 2, 1000, 9000, 100, 0);
	take(&t, 2, 1000, 10000);
	see(&t, 201, 3000, WIRE_WAIT_NONE, USER);
	see(&t, 200, 3000, WIRE_WAIT_READ, USER);
	EXPECT(wait_of(&t, 1000, 10000));
	EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_MEDIUM); /* 8 of 9 ms; the rest was its way */
	end(&t);
}

static void test_wait_handoff(void)
{
	struct bench t;

	begin(&t);
	open_loader(&t, "workers=1 prefetch=2");
	fetch(&t, 1, 1, 0, 2000, 2000, 0);
	take(&t, 1, 1000, 10000);
	EXPECT(wait_of(&t, 1000, 10000));
	EXPECT_ALL(&t, ANA_INPUT_HANDOFF, ANA_HIGH);
	end(&t);
}

/* The owner is at its next batch and keeps Python's lock from the thread that sends. */
static void test_wait_unsent(void)
{
	struct wire_sample s;
	struct bench t;

	begin(&t);
	open_loader(&t, "workers=1 prefetch=2");
	fetch(&t, 1, 1, 0, 1000, 1000, 0);
	fetch(&t, 1, 2, 1000, 10000, 9000, 0);
	take(&t, 1, 1000, 10000);
	s = sample(&t, 200, 3000, WIRE_WAIT_NONE, USER);
	s.flags = WIRE_SAMPLE_FL_GIL;
	REQUIRE(!ana_evidence_add_sample(&t.e, &s, INT64_MIN));
	EXPECT(wait_of(&t, 1000, 10000));
	EXPECT_ALL(&t, ANA_INPUT_PREP, ANA_HIGH);
	fetch(&t, 1, 3, 20000, 30000, 10000, 0); /* at work without the lock */
	take(&t, 2, 20000, 30000);
	see(&t, 200, 22000, WIRE_WAIT_NONE, USER);
	EXPECT(wait_of(&t, 20000, 30000));
	EXPECT_ALL(&t, ANA_INPUT_HANDOFF, ANA_HIGH);
	end(&t);
}

/* The owner has nothing to do before it gets the index; at its start it is still starting. */
static void test_wait_idle(void)
{
	struct bench t;

	begin(&t);
	open_loader(&t, "workers=1 prefetch=1");
	fetch(&t, 1, 1, 6000, 7000, 1000, 0);
	take(&t, 1, 0, 7000);
	EXPECT(wait_of(&t, 0, 7000));
	EXPECT_ALL(&t, ANA_INPUT_EPOCH, ANA_HIGH);
	fetch(&t, 1, 2, 16000, 17000, 1000, 0);
	take(&t, 2, 10000, 17000);
	EXPECT(wait_of(&t, 10000, 17000));
	EXPECT_ALL(&t, ANA_INPUT_PIPELINE, ANA_HIGH);
	end(&t);
}

/* One slow batch: a later one is ready, and the other workers are not let on. */
static void test_wait_order(void)
{
	struct bench t;

	begin(&t);
	open_loader(&t, "workers=2 prefetch=1");
	fetch(&t, 2, 2, 50, 1000, 10, 0);
	fetch(&t, 1, 1, 100, 30000, 10, 0);
	take(&t, 1, 500, 30000);
	see(&t, 200, 20000, WIRE_WAIT_SLEEP, USER);
	EXPECT(wait_of(&t, 500, 30000));
	EXPECT_ALL(&t, ANA_INPUT_PIPELINE, ANA_HIGH);
	end(&t);
	begin(&t); /* the others have work: more of it, not another order, is what lacks */
	open_loader(&t, "workers=2 prefetch=2");
	fetch(&t, 2, 2, 50, 1000, 10, 0);
	fetch(&t, 1, 1, 100, 30000, 10, 0);
	fetch(&t, 2, 4, 1000, 40000, 10, 0);
	take(&t, 1, 500, 30000);
	see(&t, 200, 20000, WIRE_WAIT_SLEEP, USER);
	EXPECT(wait_of(&t, 500, 30000));
	EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_MEDIUM);
	end(&t);
}

static void test_wait_split(void)
{
	struct bench t;

	begin(&t);
	open_loader(&t, "workers=1 prefetch=2");
	fetch(&t, 1, 1, 0, 9000, 4500, 0);
	take(&t, 1, 0, 9001);
	see(&t, 200, 3000, WIRE_WAIT_READ, USER);
	EXPECT(wait_of(&t, 0, 9001));
	EXPECT_INT(t.b.ns[ANA_INPUT_FETCH], 4500 * US);
	EXPECT_INT(t.b.ns[ANA_INPUT_PREP], 4500 * US);
	EXPECT_INT(t.b.ns[ANA_INPUT_HANDOFF], 1 * US);
	EXPECT_INT(t.b.confidence[ANA_INPUT_FETCH], ANA_MEDIUM);
	EXPECT_INT(sum(&t.b), 9001 * US);
	end(&t);
}

/* No rows at all: every worker's samples count the same. */
static void test_wait_samples(void)
{
	struct bench t;
	int i;

	begin(&t);
	for (i = 0; i < 4; i++) {
		see(&t, 200, i * 1000, WIRE_WAIT_READ, USER);
		see(&t, 201, i * 1000, WIRE_WAIT_READ, USER);
		see(&t, 202, i * 1000, WIRE_WAIT_QUEUE, USER);
		see(&t, PID, i * 1000, WIRE_WAIT_QUEUE, NEXT);
	}
	EXPECT(wait_of(&t, 0, 4000));
	EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_HIGH);
	for (i = 0; i < 4; i++) {
		see(&t, 200, 10000 + i * 1000, WIRE_WAIT_NONE, USER);
		see(&t, 201, 10000 + i * 1000, WIRE_WAIT_QUEUE, USER);
		see(&t, PID, 10000 + i * 1000, WIRE_WAIT_QUEUE, NEXT);
	}
	EXPECT(wait_of(&t, 10000, 14000)); /* half of them idle */
	EXPECT_ALL(&t, ANA_INPUT_PIPELINE, ANA_HIGH);
	for (i = 0; i < 4; i++) {
		see(&t, 200, 20000 + i * 1000, WIRE_WAIT_NONE, USER);
		see(&t, PID, 20000 + i * 1000, WIRE_WAIT_NONE, NEXT);
	}
	EXPECT(wait_of(&t, 20000, 24000)); /* the trainer has it already */
	EXPECT_ALL(&t, ANA_INPUT_HANDOFF, ANA_HIGH);
	end(&t);
}

static void test_wait_pinned(void)
{
	struct wire_sample s;
	struct bench t;

	begin(&t);
	see(&t, 200, 0, WIRE_WAIT_QUEUE, USER);
	see(&t, PID, 0, WIRE_WAIT_LOCK, NEXT);
	s = sample(&t, 101, 0, WIRE_WAIT_NONE, USER);
	s.role = WIRE_ROLE_PIN;
	REQUIRE(!ana_evidence_add_sample(&t.e, &s, INT64_MIN));
	EXPECT(wait_of(&t, 0, 1000));
	EXPECT_INT(t.b.ns[ANA_INPUT_HANDOFF], 1000 * US);
	end(&t);
}

/* ---- outside of waits ------------------------------------------------------------------------ */

static void test_host_rules(void)
{
	static const struct {
		enum wire_wait wait;
		const char *stack;
		enum ana_class c;
	} is[] = {
		{ WIRE_WAIT_NONE, USER, ANA_HOST_CPU_WORK },
		{ WIRE_WAIT_NONE, NUMERIC, ANA_HOST_CPU_WORK },
		{ WIRE_WAIT_NONE, FITTED, ANA_HOST_CPU_WORK },
		{ WIRE_WAIT_NONE, CPU_ADAM, ANA_HOST_CPU_WORK },
		{ WIRE_WAIT_NONE, ADAM, ANA_HOST_DISPATCH },
		{ WIRE_WAIT_NONE, BACKWARD, ANA_HOST_DISPATCH },
		{ WIRE_WAIT_NONE, NULL, ANA_HOST_DISPATCH },
		{ WIRE_WAIT_NONE, SPIN, ANA_HOST_NO_WORK },
		{ WIRE_WAIT_LOCK, SPIN, ANA_HOST_NO_WORK },
		{ WIRE_WAIT_QUEUE, SPIN, ANA_HOST_NO_WORK },
		{ WIRE_WAIT_GIL, SPIN, ANA_HOST_LOCK },
		{ WIRE_WAIT_NONE, DECODE, ANA_INPUT_INLINE },
		{ WIRE_WAIT_READ, USER, ANA_INPUT_INLINE },
		{ WIRE_WAIT_FAULT, USER, ANA_INPUT_INLINE },
		{ WIRE_WAIT_READ, DECODE, ANA_INPUT_INLINE },
		{ WIRE_WAIT_READ, NULL, ANA_HOST_UNKNOWN },
		{ WIRE_WAIT_WRITE, USER, ANA_HOST_CHECKPOINT },
		{ WIRE_WAIT_SOCKET, USER, ANA_HOST_NET },
		{ WIRE_WAIT_SOCKET, DECODE, ANA_HOST_NET }, /* no copy to the GPU was seen */
		{ WIRE_WAIT_GIL, USER, ANA_HOST_LOCK },
		{ WIRE_WAIT_LOCK, USER, ANA_HOST_WAIT }, /* nobody was seen to hold it */
		{ WIRE_WAIT_LOCK, DECODE, ANA_HOST_WAIT },
		{ WIRE_WAIT_SLEEP, USER, ANA_HOST_UNKNOWN },
		{ WIRE_WAIT_CHILD, USER, ANA_HOST_WAIT },
		{ WIRE_WAIT_GPU, USER, ANA_HOST_UNKNOWN },
	};
	size_t i;

	for (i = 0; i < sizeof(is) / sizeof(*is); i++) {
		bool unknown = is[i].c == ANA_HOST_UNKNOWN;
		struct bench t;
		int k;

		begin(&t);
		EXPECT(!host_of(&t, 0, 10000));
		see(&t, PID, 2000, is[i].wait, is[i].stack);
		EXPECT(host_of(&t, 0, 10000));
		EXPECT_ALL(&t, is[i].c, unknown ? ANA_NONE : ANA_MEDIUM);
		for (k = 1; k < 3; k++)
			see(&t, PID, 2000 + k, is[i].wait, is[i].stack);
		EXPECT(host_of(&t, 0, 10000));
		EXPECT_ALL(&t, is[i].c, unknown ? ANA_NONE : ANA_HIGH);
		end(&t);
	}
}

/* Code that is read from the disk as it is used for the first time. */
static void test_host_code(void)
{
	static const char *const stack[] = { USER, DECODE, NUMERIC, NULL };
	size_t i;

	for (i = 0; i < sizeof(stack) / sizeof(*stack); i++) {
		struct wire_sample s;
		struct bench t;

		begin(&t);
		s = sample(&t, PID, 2000, WIRE_WAIT_FAULT, stack[i]);
		s.target = name(&t, "/opt/lib/libkernels.so");
		REQUIRE(!ana_evidence_add_sample(&t.e, &s, INT64_MIN));
		EXPECT(host_of(&t, 0, 10000));
		EXPECT_ALL(&t, ANA_HOST_WARMUP, ANA_MEDIUM);
		end(&t);
	}
}

/* Shorter than CPU_WORK_NS, or in an operator of the framework, it is the framework's own. */
static void test_host_cpu_work(void)
{
	struct bench t;

	begin(&t);
	see(&t, PID, 2000, WIRE_WAIT_NONE, USER);
	EXPECT(host_of(&t, 0, 4999));
	EXPECT_ALL(&t, ANA_HOST_DISPATCH, ANA_MEDIUM);
	EXPECT(host_of(&t, 0, 5000));
	EXPECT_ALL(&t, ANA_HOST_CPU_WORK, ANA_MEDIUM);
	ana_cause_begin(&t.b, 0, 10000 * US, ANA_HOST_DISPATCH, ANA_MEDIUM, false);
	EXPECT(ana_cause_host(&t.b, &t.e, PID));
	EXPECT_ALL(&t, ANA_HOST_DISPATCH, ANA_MEDIUM);
	end(&t);

	begin(&t);
	see(&t, PID, 2000, WIRE_WAIT_NONE, CPU_ADAM);
	EXPECT(host_of(&t, 0, 3000));
	EXPECT_ALL(&t, ANA_HOST_CPU_WORK, ANA_MEDIUM);
	end(&t);
}

/* A terminal or a listener says it by itself, whosever code waits there. */
static void test_host_no_work(void)
{
	struct wire_sample s;
	struct bench t;

	begin(&t);
	s = sample(&t, PID, 2000, WIRE_WAIT_READ, USER);
	s.target = name(&t, "/dev/pts/3");
	REQUIRE(!ana_evidence_add_sample(&t.e, &s, INT64_MIN));
	EXPECT(host_of(&t, 0, 10000));
	EXPECT_ALL(&t, ANA_HOST_NO_WORK, ANA_MEDIUM);
	end(&t);

	begin(&t);
	s = sample(&t, PID, 2000, WIRE_WAIT_SOCKET, USER);
	s.links = name(&t, "?u12-13 ?l0.0.0.0:8000");
	REQUIRE(!ana_evidence_add_sample(&t.e, &s, INT64_MIN));
	EXPECT(host_of(&t, 0, 10000));
	EXPECT_ALL(&t, ANA_HOST_NO_WORK, ANA_MEDIUM);
	end(&t);
}

static void test_host_starved(void)
{
	struct bench t;

	begin(&t);
	count(&t, PID, 0, WIRE_WAIT_NONE, 0, 0);
	count(&t, PID, 10000, WIRE_WAIT_NONE, 4000, 6000);
	EXPECT(host_of(&t, 0, 10001));
	EXPECT_INT(t.b.ns[ANA_HOST_CPU_STARVED] / (6 * US), 1000);
	EXPECT_INT(t.b.ns[ANA_HOST_CPU_WORK] / (4 * US), 1000);
	EXPECT_INT(sum(&t.b), 10001 * US);
	end(&t);
}

/* That somebody of the process is at work on data meanwhile proves nothing. */
static void test_host_coincidence(void)
{
	struct bench t;

	begin(&t);
	see(&t, PID, 0, WIRE_WAIT_LOCK, USER);
	see(&t, 101, 10, WIRE_WAIT_NONE, DECODE);
	EXPECT(host_of(&t, 0, 1000));
	EXPECT_ALL(&t, ANA_HOST_WAIT, ANA_MEDIUM);
	end(&t);
}

static void test_host_collects(void)
{
	struct wire_sample s;
	struct bench t;

	begin(&t);
	s = sample(&t, PID, 0, WIRE_WAIT_NONE, USER);
	s.flags = WIRE_SAMPLE_FL_GC | WIRE_SAMPLE_FL_GIL;
	REQUIRE(!ana_evidence_add_sample(&t.e, &s, INT64_MIN));
	EXPECT(host_of(&t, 0, 1000));
	EXPECT_ALL(&t, ANA_HOST_GC, ANA_MEDIUM);
	end(&t);
}

/* No range, but samples show the loader's next(): a wait, and not surer than medium. */
static void test_host_waits(void)
{
	struct bench t;
	int i;

	begin(&t);
	for (i = 0; i < 4; i++) {
		see(&t, PID, i * 1000, WIRE_WAIT_QUEUE, NEXT);
		see(&t, 200, i * 1000, WIRE_WAIT_READ, USER);
	}
	EXPECT(host_of(&t, 0, 4000));
	EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_MEDIUM);
	end(&t);
}

/*
 * ---- the decision, pieces without samples, hotspots, loaders ------------------------------------
 */

static void test_split(void)
{
	int64_t weight[4] = { 1, 1, 1, 0 }, out[4];
	const int64_t far = INT64_MAX / 4;

	ana_split(10, weight, 4, out);
	EXPECT(out[0] == 4 && out[1] == 3 && out[2] == 3 && out[3] == 0);
	memcpy(weight, (int64_t[]){ far, far, 2, 0 }, sizeof(weight));
	ana_split(far, weight, 4, out);
	EXPECT_INT(out[0] + out[1] + out[2], far);
	memset(weight, 0, sizeof(weight));
	ana_split(10, weight, 4, out);
	EXPECT(!out[0] && !out[1]);
}

static bool next_unsampled(struct ana_unsampled *k, int64_t floor, struct ana_unsampled_piece *o,
			   int64_t ns[ANA_CLASSES])
{
	struct ana_told told;
	uint32_t i;

	if (!ana_unsampled_next(k, floor, o, &told))
		return false;
	memset(ns, 0, ANA_CLASSES * sizeof(*ns));
	for (i = 0; i < told.count; i++)
		ns[told.class[i]] = told.ns[i];
	return true;
}

static void decided(struct ana_unsampled *k, int64_t ms, int c, int64_t ns)
{
	int64_t of[ANA_CLASSES] = { 0 };

	of[c] = ns;
	REQUIRE(!ana_unsampled_decided(k, ms * MS, of, 0));
}

static void test_kin(void)
{
	struct ana_unsampled_piece o = { .start = 10000 * (int64_t)MS, .end = 10001 * (int64_t)MS },
				   got;
	int64_t ns[ANA_CLASSES];
	struct ana_unsampled k = { 0 };

	decided(&k, 7999, ANA_HOST_LOCK, 5); /* more than 2 s before */
	decided(&k, 8000, ANA_INPUT_FETCH, 300);
	REQUIRE(!ana_unsampled_add(&k, &o));
	decided(&k, 12000, ANA_INPUT_PREP, 100);
	decided(&k, 12001, ANA_HOST_GC, 7); /* more than 2 s after */
	EXPECT(!next_unsampled(&k, INT64_MIN, &got, ns));
	EXPECT(!next_unsampled(&k, 12000 * (int64_t)MS, &got, ns)); /* neighbours may still come */
	EXPECT(next_unsampled(&k, 12001 * (int64_t)MS, &got, ns));
	EXPECT_INT(ns[ANA_INPUT_FETCH], 750000);
	EXPECT_INT(ns[ANA_INPUT_PREP], 250000);
	EXPECT(!next_unsampled(&k, INT64_MAX, &got, ns));
	/* one that comes late looks back */
	o.start = o.end - 2;
	REQUIRE(!ana_unsampled_add(&k, &o));
	decided(&k, 9000, ANA_INPUT_FETCH, 100);
	EXPECT(next_unsampled(&k, INT64_MAX, &got, ns));
	EXPECT_INT(ns[ANA_INPUT_FETCH] + ns[ANA_INPUT_PREP], 2);
	/* none */
	o.start = o.end = 90000 * (int64_t)MS;
	o.end += 5;
	REQUIRE(!ana_unsampled_add(&k, &o));
	EXPECT(next_unsampled(&k, INT64_MAX, &got, ns));
	EXPECT(!ns[ANA_INPUT_FETCH] && !ns[ANA_INPUT_PREP] && !ns[ANA_HOST_GC]);
	ana_unsampled_fini(&k);
}

/* A moment of evidence is not stretched over what is much longer, be that one piece or many. */
static void test_kin_stretched(void)
{
	struct ana_unsampled k = { 0 };
	struct ana_unsampled_piece o, got;
	int64_t ns[ANA_CLASSES], i;

	decided(&k, 1000, ANA_INPUT_FETCH, MS);
	o = (struct ana_unsampled_piece){ .start = 1100 * (int64_t)MS, .end = 1685 * (int64_t)MS };
	REQUIRE(!ana_unsampled_add(&k, &o)); /* 585 ms by 1 ms */
	REQUIRE(next_unsampled(&k, INT64_MAX, &got, ns));
	EXPECT(!ns[ANA_INPUT_FETCH]);
	ana_unsampled_fini(&k);

	memset(&k, 0, sizeof(k));
	decided(&k, 1000, ANA_INPUT_FETCH, MS);
	for (i = 0; i < 201; i++) {
		o.start = (1100 + i) * MS;
		o.end = o.start + MS;
		REQUIRE(!ana_unsampled_add(&k, &o)); /* 201 times 1 ms by one look */
	}
	REQUIRE(next_unsampled(&k, INT64_MAX, &got, ns));
	EXPECT(!ns[ANA_INPUT_FETCH]);
	decided(&k, 1200, ANA_INPUT_FETCH, MS); /* by two */
	REQUIRE(next_unsampled(&k, INT64_MAX, &got, ns));
	EXPECT_INT(ns[ANA_INPUT_FETCH], MS);
	ana_unsampled_fini(&k);

	memset(&k, 0, sizeof(k));
	decided(&k, 1000, ANA_INPUT_FETCH, 30 * MS);
	o = (struct ana_unsampled_piece){ .start = 1100 * (int64_t)MS, .end = 1685 * (int64_t)MS };
	REQUIRE(!ana_unsampled_add(&k, &o)); /* by 30 ms, which is a twentieth */
	REQUIRE(next_unsampled(&k, INT64_MAX, &got, ns));
	EXPECT_INT(ns[ANA_INPUT_FETCH], 585 * MS);
	ana_unsampled_fini(&k);
}

/*
 * A piece that one look in ten finds counts like the long one that each look finds: for as long as
 * its look stands for; how much evidence there is, is told by its own length.
 */
static void test_kin_stands(void)
{
	int64_t ns[ANA_CLASSES], brief[ANA_CLASSES] = { 0 }, mixed[ANA_CLASSES] = { 0 }, i;
	struct ana_unsampled_piece o = { .start = 1100 * (int64_t)MS, .end = 1101 * (int64_t)MS };
	struct ana_unsampled_piece got;
	struct ana_unsampled k = { 0 };

	decided(&k, 1000, ANA_INPUT_INLINE, 30 * MS);
	brief[ANA_HOST_DISPATCH] = 5000;
	REQUIRE(!ana_unsampled_decided(&k, 1010 * (int64_t)MS, brief, 10 * MS));
	REQUIRE(!ana_unsampled_add(&k, &o));
	REQUIRE(next_unsampled(&k, INT64_MAX, &got, ns));
	EXPECT_INT(ns[ANA_HOST_DISPATCH], MS / 4);
	EXPECT_INT(ns[ANA_INPUT_INLINE], 3 * MS / 4);

	mixed[ANA_HOST_LOCK] = 20 * MS; /* longer than its look stands for */
	mixed[ANA_HOST_GC] = 20 * MS;
	REQUIRE(!ana_unsampled_decided(&k, 1020 * (int64_t)MS, mixed, 10 * MS));
	REQUIRE(!ana_unsampled_add(&k, &o));
	REQUIRE(next_unsampled(&k, INT64_MAX, &got, ns));
	EXPECT_INT(ns[ANA_HOST_DISPATCH], MS / 8);
	EXPECT_INT(ns[ANA_HOST_LOCK], MS / 4);

	for (i = 2; i <= 10; i++) { /* ten that show the class are more than a chance */
		REQUIRE(!ana_unsampled_decided(&k, (1020 + i) * MS, brief, 10 * MS));
		REQUIRE(!ana_unsampled_add(&k, &o));
		REQUIRE(next_unsampled(&k, INT64_MAX, &got, ns));
		EXPECT_INT(ana_unsampled_sure(&k, ANA_HOST_DISPATCH),
			   i < 10 ? ANA_LOW : ANA_MEDIUM);
		EXPECT_INT(ana_unsampled_sure(&k, ANA_HOST_LOCK), ANA_LOW);
	}
	ana_unsampled_fini(&k);

	memset(&k, 0, sizeof(k));
	REQUIRE(!ana_unsampled_decided(&k, 1000 * (int64_t)MS, brief, 200 * MS));
	o.end = 1301 * (int64_t)MS;
	REQUIRE(!ana_unsampled_add(&k, &o)); /* 201 ms by one look */
	REQUIRE(next_unsampled(&k, INT64_MAX, &got, ns));
	EXPECT(!ns[ANA_HOST_DISPATCH]);
	ana_unsampled_fini(&k);
}

/*
 * What no look found goes to the lines of the class by what looks stand for, in its kind of pieces.
 */
static void test_lines_stand(void)
{
	struct ana_hotspots s = { 0 };
	struct ana_hotspot *list;
	struct bench t;
	size_t n;

	begin(&t);
	see(&t, PID, 1000, WIRE_WAIT_NONE, "step\t/home/me/train.py\t70\n" USER);
	see(&t, PID, 50000, WIRE_WAIT_NONE, USER);
	EXPECT(host_of(&t, 0, 4000)); /* 4 ms at the one line, 4 us at the other */
	EXPECT(t.b.ns[ANA_HOST_DISPATCH]);
	t.b.kind = ANA_PIECE_HOST;
	t.b.stand_ns = 10 * MS;
	REQUIRE(!ana_hotspots_add(&s, &t.e, &t.b));
	EXPECT(host_of(&t, 49998, 50002));
	t.b.kind = ANA_PIECE_HOST;
	t.b.stand_ns = 10 * MS;
	REQUIRE(!ana_hotspots_add(&s, &t.e, &t.b));
	ana_hotspots_add_nearby(&s, ANA_PIECE_HOST, ANA_HOST_DISPATCH, ANA_LOW, 400);
	ana_hotspots_add_nearby(&s, ANA_PIECE_HOST, ANA_HOST_DISPATCH, ANA_MEDIUM, 600);
	ana_hotspots_add_nearby(&s, ANA_PIECE_WAIT, ANA_HOST_DISPATCH, ANA_LOW,
				1001000); /* by time */
	REQUIRE(!ana_hotspots_finish(&s, &list, &n));
	REQUIRE(n == 2);
	EXPECT(list[0].ns == 4000 * US && list[1].ns == 4 * US);
	EXPECT_INT(list[0].nearby_ns, 500 + 1000000);
	EXPECT_INT(list[1].nearby_ns, 500 + 1000);
	EXPECT(list[0].nearby_medium_ns == 300 && list[1].nearby_medium_ns == 300);
	while (n)
		ana_hotspot_fini(&list[--n]);
	free(list);
	ana_hotspots_fini(&s);
	end(&t);
}

static const struct ana_hotspot *site_of(const struct ana_hotspots *s, enum ana_class c,
					 uint32_t line)
{
	uint32_t i;

	for (i = 0; i < s->count; i++)
		if (s->row[i].hotspot.class == c && s->row[i].hotspot.line == line)
			return &s->row[i].hotspot;
	return NULL;
}

static void test_sites(void)
{
	struct ana_hotspots s = { 0 }, all = { 0 };
	const struct ana_hotspot *x;
	struct ana_hotspot *list;
	struct wire_sample w;
	struct bench t;
	size_t n;

	begin(&t);
	open_loader(&t, "workers=2 prefetch=2");
	fetch(&t, 1, 1, 0, 9000, 100, 0);
	take(&t, 1, 0, 9000);
	w = sample(&t, 200, 1000, WIRE_WAIT_READ, DECODE);
	w.target = name(&t, "/data/a/1.jpg");
	w.fs = name(&t, "nfs4");
	w.native = name(&t, "/lib/libc.so.6\tff\tabc\n/lib/libjpeg.so.62\t1a\t\n<python>");
	REQUIRE(!ana_evidence_add_sample(&t.e, &w, INT64_MIN));
	w.t_ns = 4000 * US;
	w.target = name(&t, "/data/a/22.jpg");
	REQUIRE(!ana_evidence_add_sample(&t.e, &w, INT64_MIN));
	see(&t, 200, 7000, WIRE_WAIT_READ, USER);
	see(&t, PID, 7000, WIRE_WAIT_QUEUE, NEXT);
	EXPECT(wait_of(&t, 0, 9000));
	EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_HIGH);
	REQUIRE(!ana_hotspots_add(&s, &t.e, &t.b));
	x = site_of(&s, ANA_INPUT_FETCH, 91);
	REQUIRE(x);
	EXPECT_INT(x->ns + site_of(&s, ANA_INPUT_FETCH, 88)->ns, 9000 * US);
	EXPECT_INT(x->ns / (7 * US), 1000);
	EXPECT(x->samples == 2 && x->threads == 1 && x->workers == 1);
	EXPECT(x->role == WIRE_ROLE_WORKER && x->wait == WIRE_WAIT_READ && !x->runnable);
	EXPECT_STR(x->function, "work");
	EXPECT_STR(x->file, "/home/me/train.py");
	EXPECT_STR(x->target, "/data/a/*");
	EXPECT_STR(x->fs, "nfs4");
	EXPECT_STR(x->native, "/lib/libjpeg.so.62\t1a\t"); /* libc blocks for everybody */
	EXPECT_STR(x->leaf, "load\t/usr/lib/python3/dist-packages/PIL/ImageFile.py");
	EXPECT(!site_of(&s, ANA_INPUT_FETCH, 9)); /* not the line that waits */
	ana_hotspots_add_nearby(&s, ANA_PIECE_WAIT, ANA_INPUT_FETCH, ANA_LOW, 900);
	ana_hotspots_add_nearby(&s, ANA_PIECE_WAIT, ANA_INPUT_PREP, ANA_LOW,
				70); /* of which no line was seen */
	REQUIRE(!ana_hotspots_merge(&all, &s));
	REQUIRE(!ana_hotspots_merge(&all, &s));
	ana_hotspots_add_nearby(&all, ANA_PIECE_WAIT, ANA_INPUT_FETCH, ANA_LOW, 1);
	REQUIRE(!ana_hotspots_finish(&all, &list, &n));
	EXPECT(n == 2 && list[0].ns / (14 * US) == 1000 && list[0].threads == 2);
	EXPECT_INT(list[0].nearby_ns + list[1].nearby_ns, 1801);
	EXPECT_INT(list[0].nearby_ns, 1801 * list[0].ns / (list[0].ns + list[1].ns));
	while (n)
		ana_hotspot_fini(&list[--n]);
	free(list);
	ana_hotspots_fini(&all);
	ana_hotspots_fini(&s);
	end(&t);
}

/* Kept lines come back; what no analysis can have left is refused, whichever of its times it is. */
static void test_sites_kept(void)
{
	struct ana_hotspots s = { 0 };
	struct bench t;
	int k;

	begin(&t);
	see(&t, PID, 1000, WIRE_WAIT_NONE, USER);
	EXPECT(host_of(&t, 0, 4000));
	REQUIRE(!ana_hotspots_add(&s, &t.e, &t.b));
	REQUIRE(s.count == 1);
	for (k = 0; k < 6; k++) {
		struct ana_hotspot_row *r = s.row;
		int64_t *time[] = { NULL,
				    &r->hotspot.ns,
				    &r->by[ANA_LOW],
				    &r->stand_ns[0],
				    &s.nearby_ns[0][0],
				    &s.medium_ns[1][2] };
		struct ana_archive a = { 0 }, b;
		struct ana_hotspots got = { 0 };
		const int64_t was = k ? *time[k] : 0;

		if (k)
			*time[k] = k == 5 ? 1 : -1; /* more medium than there is */
		ana_hotspots_archive(&s, &a);
		EXPECT_INT(a.err, k ? -EBADMSG : 0);
		if (k)
			*time[k] = was;
		b = (struct ana_archive){ .reading = true, .at = a.at, .len = a.len };
		if (!k)
			ana_hotspots_archive(&got, &b);
		EXPECT(!b.err && (k || (got.count == 1 && got.row[0].hotspot.ns == 4000 * US)));
		ana_hotspots_fini(&got);
		free(a.at);
	}
	ana_hotspots_fini(&s);
	end(&t);
}

/* Samples that know the other end of a socket, and that do not yet. */
static void test_sites_sockets(void)
{
	static const char *const seen[][4] = {
		{ "socket", "socket:10.0.0.1:80", "socket", "socket:10.0.0.1:80" },
		{ "socket:10.0.0.1:80", "socket", "socket:10.0.0.1:81", "socket:10.0.0.1:*" },
		{ "socket:10.0.0.1:80", "socket:10.0.0.2:80", "socket", "socket:*" },
	};
	struct ana_hotspots s;
	struct wire_sample w;
	struct bench t;
	size_t i, k;

	for (i = 0; i < sizeof(seen) / sizeof(seen[0]); i++) {
		s = (struct ana_hotspots){ 0 };
		begin(&t);
		open_loader(&t, "workers=2 prefetch=2");
		fetch(&t, 1, 1, 0, 9000, 100, 0);
		take(&t, 1, 0, 9000);
		w = sample(&t, 200, 1000, WIRE_WAIT_SOCKET, DECODE);
		for (k = 0; k < 3; k++) {
			w.t_ns = (int64_t)(1000 + 1000 * k) * US;
			w.target = name(&t, seen[i][k]);
			REQUIRE(!ana_evidence_add_sample(&t.e, &w, INT64_MIN));
		}
		EXPECT(wait_of(&t, 0, 9000));
		REQUIRE(!ana_hotspots_add(&s, &t.e, &t.b));
		REQUIRE(site_of(&s, ANA_INPUT_FETCH, 91));
		EXPECT_STR(site_of(&s, ANA_INPUT_FETCH, 91)->target, seen[i][3]);
		ana_hotspots_fini(&s);
		end(&t);
	}
}

/* Who lacked a CPU while a batch was on its way is the trainer, not the worker that made it. */
static void test_sites_starved(void)
{
	struct ana_hotspots s = { 0 };
	const struct ana_hotspot *x;
	struct bench t;

	begin(&t);
	open_loader(&t, "workers=1 prefetch=2");
	fetch(&t, 1, 1, 0, 1000, 900, 0);
	take(&t, 1, 1000, 41000);
	see(&t, 200, 20000, WIRE_WAIT_NONE, DECODE);
	count(&t, PID, 2000, WIRE_WAIT_NONE, 0, 0);
	count(&t, PID, 32000, WIRE_WAIT_NONE, 3000, 27000);
	EXPECT(wait_of(&t, 1000, 41000));
	EXPECT_INT(t.b.ns[ANA_INPUT_CPU_STARVED], 36000 * US);
	EXPECT_INT(t.b.ns[ANA_INPUT_HANDOFF], 4000 * US);
	REQUIRE(!ana_hotspots_add(&s, &t.e, &t.b));
	x = site_of(&s, ANA_INPUT_CPU_STARVED, 88);
	REQUIRE(x);
	EXPECT(x->ns == 36000 * US && x->runnable && x->role == WIRE_ROLE_SUBMITTER);
	EXPECT(!site_of(&s, ANA_INPUT_CPU_STARVED, 91));
	ana_hotspots_fini(&s);
	end(&t);
}

/* Who ran meanwhile has the CPU; nobody where none ran for a third of it, is not told. */
static void test_sites_cpu(void)
{
	struct ana_hotspots s = { 0 }, all = { 0 };
	struct ana_hotspot *list;
	struct bench t;
	size_t n;

	begin(&t);
	count(&t, PID, 2000, WIRE_WAIT_NONE, 0, 0);
	count(&t, PID, 32000, WIRE_WAIT_NONE, 1000, 29000);
	count(&t, 210, 2000, WIRE_WAIT_NONE, 0, 0);
	count(&t, 210, 32000, WIRE_WAIT_NONE, 25000, 0);
	count(&t, 211, 2000, WIRE_WAIT_LOCK, 0, 0);
	count(&t, 211, 32000, WIRE_WAIT_LOCK, 14000, 0);
	EXPECT(host_of(&t, 1000, 41000));
	EXPECT(t.b.ns[ANA_HOST_CPU_STARVED] > 30000 * US);
	REQUIRE(!ana_hotspots_add(&s, &t.e, &t.b));
	EXPECT_STR(site_of(&s, ANA_HOST_CPU_STARVED, 88)->has_cpu,
		   "a worker\twork\t/home/me/train.py\t88");
	REQUIRE(!ana_hotspots_merge(&all, &s));
	/* for longer than that nobody ran */
	count(&t, PID, 102000, WIRE_WAIT_NONE, 1100, 29000);
	count(&t, PID, 202000, WIRE_WAIT_NONE, 1200, 128000);
	count(&t, 210, 102000, WIRE_WAIT_NONE, 25100, 0);
	count(&t, 210, 202000, WIRE_WAIT_LOCK, 45000, 0);
	EXPECT(host_of(&t, 100000, 210000));
	REQUIRE(!ana_hotspots_add(&all, &t.e, &t.b));
	REQUIRE(!ana_hotspots_finish(&all, &list, &n));
	EXPECT(n && list[0].runnable && !list[0].has_cpu);
	while (n)
		ana_hotspot_fini(&list[--n]);
	free(list);
	ana_hotspots_fini(&all);
	REQUIRE(!ana_hotspots_finish(&s, &list, &n));
	EXPECT(n && list[0].runnable && list[0].has_cpu);
	while (n)
		ana_hotspot_fini(&list[--n]);
	free(list);
	ana_hotspots_fini(&s);
	end(&t);
}

/* More lines than there is room for: the rest is counted. */
static void test_sites_bound(void)
{
	struct ana_hotspots s = { 0 };
	int64_t listed = 0;
	struct bench t;
	uint32_t i;

	begin(&t);
	for (i = 0; i < ANA_HOTSPOTS_MAX + 100; i++) {
		char stack[64];

		snprintf(stack, sizeof(stack), "f\t/home/me/a.py\t%u", i + 1);
		see(&t, PID, (int64_t)i * 10, WIRE_WAIT_NONE, stack);
		EXPECT(host_of(&t, (int64_t)i * 10, (int64_t)i * 10 + 10));
		REQUIRE(!ana_hotspots_add(&s, &t.e, &t.b));
	}
	for (i = 0; i < s.count; i++)
		listed += s.row[i].hotspot.ns;
	EXPECT_INT(s.count, ANA_HOTSPOTS_MAX);
	EXPECT_INT(s.other_ns, 100 * 10 * US);
	EXPECT_INT(listed, ANA_HOTSPOTS_MAX * 10 * US);
	ana_hotspots_fini(&s);
	end(&t);
}

static void test_loaders(void)
{
	struct ana_loader_facts *f;
	struct ana_loaders all = { 0 };
	struct bench t;
	size_t n;

	begin(&t);
	open_loader(&t,
		    "kind=torch workers=4 prefetch=2 batch=32 pin=1 persistent=0 start=spawn "
		    "dataset=Images in_order=1 junk =x workers=x made=/srv/my%20job%25/a:b.py:45");
	fetch(&t, 1, 0, 10, 30, 5, 6);
	fetch(&t, 2, 1, 10, 20, 5, 6);
	take(&t, 0, 0, 31);
	REQUIRE(!ana_loaders_merge(&all, &t.e.loaders));
	REQUIRE(!ana_loaders_merge(&all, &t.e.loaders));
	REQUIRE(!ana_loaders_finish(&all, &f, &n));
	EXPECT_INT(n, 1);
	EXPECT(f->workers == 4 && f->prefetch == 2 && f->batch_size == 32 && f->pin);
	EXPECT(!f->persistent && f->in_order && f->known == 63);
	EXPECT_STR(f->start, "spawn");
	EXPECT_STR(f->dataset, "Images");
	EXPECT_STR(f->kind, "torch");
	EXPECT_STR(f->made_file, "/srv/my job%/a:b.py");
	EXPECT_UINT(f->made_line, 45);
	EXPECT(f->trainers == 2 && f->iterators == 2 && f->made == 4 && f->taken == 2);
	EXPECT(f->fetch_ns == 60 * US && f->fetch_cpu_ns == 20 * US &&
	       f->fetch_delay_ns == 24 * US);
	EXPECT(f->fetch_median_ns == 10 * US && f->fetch_p95_ns == 20 * US);
	EXPECT(f->take_ns == 62 * US && f->seen_ns == 31 * US);
	free(f->start);
	free(f->dataset);
	free(f->kind);
	free(f->made_file);
	free(f);
	ana_loaders_fini(&all);
	end(&t);
}

static void open_over(struct bench *t, uint32_t iterator, uint32_t over)
{
	add(t,
	    (struct wire_batch){ .what = WIRE_BATCH_OPEN,
				 .pid = PID,
				 .tid = PID,
				 .loader = iterator,
				 .samples = over,
				 .text = name(t, "workers=2") },
	    iterator, iterator + 1);
}

/* One loader for settings and sums, whatever it goes over; that it was several things is known. */
static void test_loaders_over(void)
{
	static const struct {
		uint32_t over[4];
		bool several;
		uint32_t apart;
	} cases[] = {
		{ { 0, 0, 0, 0 }, false, 1 }, /* of an earlier version */
		{ { 1, 1, 1, 1 }, false, 1 }, { { 1, 2, 1, 2 }, true, 2 },
		{ { 2, 1, 2, 2 }, true, 2 },  { { 1, 2, 3, 4 }, true, 4 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ana_loaders apart = { .apart = true };
		struct ana_loaders all = { 0 };
		struct bench t;

		begin(&t);
		apart.table = t.names;
		for (uint32_t k = 0; k < 4; k++) {
			struct wire_batch b = { .what = WIRE_BATCH_OPEN,
						.loader = k + 1,
						.samples = cases[i].over[k],
						.text = name(&t, "workers=2") };

			open_over(&t, k + 1, cases[i].over[k]);
			REQUIRE(!ana_loaders_add(&apart, &b));
		}
		REQUIRE(!ana_loaders_merge(&all, &t.e.loaders));
		REQUIRE(!ana_loaders_merge(&all, &t.e.loaders));
		EXPECT_INT(all.count, 1);
		EXPECT(all.loader[0].facts.several == cases[i].several);
		EXPECT_INT(apart.count, cases[i].apart);
		EXPECT(ana_loaders_get(&apart, 4)->workers == 2);
		EXPECT((ana_loaders_get(&apart, 1) == ana_loaders_get(&apart, 3)) ==
		       (cases[i].over[0] == cases[i].over[2]));
		ana_loaders_fini(&all);
		ana_loaders_fini(&apart);
		end(&t);
	}
}

/* Of a hostile trace: what is no file with a line tells nothing, and a path never ends early. */
static void test_made_at(void)
{
	static const char *const settings[] = {
		"made=",
		"made=:1",
		"made=a.py",
		"made=a.py:",
		"made=a.py:0",
		"made=a.py:4294967296",
		"made=a.py:x1 kind=torch made",
		"made=9",
	};
	struct ana_loader_facts *f;
	struct ana_loaders all = { 0 };
	struct bench t;
	size_t n;

	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		begin(&t);
		open_loader(&t, settings[i]);
		EXPECT(!ana_loaders_get(&t.e.loaders, 1)->made_file);
		end(&t);
	}
	begin(&t);
	open_loader(&t, "made=%00a%2%zz%e9.py:4294967295");
	REQUIRE(!ana_loaders_merge(&all, &t.e.loaders));
	REQUIRE(!ana_loaders_finish(&all, &f, &n));
	EXPECT_STR(f->made_file, "%00a%2%zz\xe9.py");
	EXPECT_UINT(f->made_line, UINT32_MAX);
	free(f->made_file);
	free(f);
	ana_loaders_fini(&all);
	end(&t);
}

/* What lies behind is forgotten, what an interval may ask is not; time does not go back. */
static void test_forgetting(void)
{
	struct wire_sample s;
	struct bench t;
	int64_t i;

	begin(&t);
	for (i = 0; i < 100000; i++) {
		s = sample(&t, 200, i * 10000, WIRE_WAIT_NONE, USER);
		REQUIRE(!ana_evidence_add_sample(&t.e, &s, i * 10000 * US));
	}
	EXPECT(t.e.thread[0]->room <=
	       2048); /* 600 in the 6 s that are kept, and as many to be dropped */
	EXPECT_INT(t.e.count, 100000);
	EXPECT(t.e.thread[0]->sample[t.e.thread[0]->head].t_ns <=
	       (99999 * 10000 - 2000000) * (int64_t)US);
	s.t_ns = 5;
	REQUIRE(!ana_evidence_add_sample(&t.e, &s, 0));
	EXPECT_INT(t.e.thread[0]->sample[t.e.thread[0]->tail - 1].t_ns,
		   99999 * 10000 * (int64_t)US);
	end(&t);
}

static const struct t_case cases[] = {
	T_CASE(test_stacks),
	T_CASE(test_stacks_made),
	T_CASE(test_stacks_over),
	T_CASE(test_stacks_hostile),
	T_CASE(test_shares_exact),
	T_CASE(test_shares_running),
	T_CASE(test_shares_throttled),
	T_CASE(test_wait_without_evidence),
	T_CASE(test_wait_first),
	T_CASE(test_wait_own),
	T_CASE(test_wait_own_row),
	T_CASE(test_wait_owner),
	T_CASE(test_wait_handoff),
	T_CASE(test_wait_unsent),
	T_CASE(test_wait_idle),
	T_CASE(test_wait_order),
	T_CASE(test_wait_split),
	T_CASE(test_wait_samples),
	T_CASE(test_wait_pinned),
	T_CASE(test_host_rules),
	T_CASE(test_host_code),
	T_CASE(test_host_cpu_work),
	T_CASE(test_host_no_work),
	T_CASE(test_host_starved),
	T_CASE(test_host_coincidence),
	T_CASE(test_host_collects),
	T_CASE(test_host_waits),
	T_CASE(test_split),
	T_CASE(test_kin),
	T_CASE(test_kin_stretched),
	T_CASE(test_kin_stands),
	T_CASE(test_lines_stand),
	T_CASE(test_sites),
	T_CASE(test_sites_kept),
	T_CASE(test_sites_sockets),
	T_CASE(test_sites_starved),
	T_CASE(test_sites_cpu),
	T_CASE(test_sites_bound),
	T_CASE(test_loaders),
	T_CASE(test_loaders_over),
	T_CASE(test_made_at),
	T_CASE(test_forgetting),
};

int main(void)
{
	return t_run(cases, sizeof(cases) / sizeof(cases[0]));
}
