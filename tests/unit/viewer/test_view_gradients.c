/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Backward passes seen running: which stacks and threads are such, whose they may be, and how often
 * one has to be looked for before it is said that there is none.
 */
#include "engine_trace.h"

#include "analysis/evidence/gradients.h"

#define MS(n) (INT64_C(1000000000) + (n)*INT64_C(1000000))
#define PACKAGES "/usr/lib/python3/dist-packages/"
#define STEP "step\t/srv/train.py\t9\n<module>\t/srv/train.py\t30"
#define NEXT "_BaseDataLoaderIter.__next__\t" PACKAGES "torch/utils/data/dataloader.py\t634\n" STEP
#define ENGINE "backward\t" PACKAGES "torch/autograd/__init__.py\t197\n"
#define LOOKS 20
#define LOOKS_MAX 80

static const char pass[] = ENGINE "Tensor.backward\t" PACKAGES "torch/_tensor.py\t488\n" STEP;

static void test_stacks(void)
{
	static const struct {
		bool is;
		const char *text;
	} stacks[] = {
		{ true, pass },
		{ true, "Tensor.backward\t" PACKAGES "torch/_tensor.py\t488\n" STEP },
		{ true, "_engine_run_backward\t" PACKAGES "torch/autograd/graph.py\t769\n" STEP },
		{ true, "grad\t" PACKAGES "torch/autograd/__init__.py\t300\n" STEP },
		{ true, "hook\t/srv/train.py\t4\n" ENGINE STEP },
		{ true, "vjp\t" PACKAGES "jax/_src/api.py\t2\n"
			"value_and_grad.<locals>.value_and_grad_f\t" PACKAGES
			"jax/_src/api.py\t700\n" STEP },
		/* ... below jit, which traces what it compiles */
		{ true, "value_and_grad_f\t" PACKAGES "jax/_src/api.py\t700\n" STEP
			"\ntrace_to_jaxpr_dynamic\t" PACKAGES
			"jax/_src/interpreters/partial_eval.py\t2300\n" STEP },
		{ true, "grad_f\t" PACKAGES "jax/_src/api.py\t600\n" STEP },
		{ true, "GradientTape.gradient\t" PACKAGES
			"tensorflow/python/eager/backprop.py\t1066\n" STEP },
		{ true, "Tensor.backward\t" PACKAGES "tinygrad/tensor.py\t900\n" STEP },
		{ true, "backward\t" PACKAGES "mxnet/autograd.py\t240\n" STEP },
		{ true, "NDArray.backward\t" PACKAGES "mxnet/ndarray/ndarray.py\t2860\n" STEP },
		{ true,
		  "backward\t" PACKAGES "paddle/base/dygraph/tensor_patch_methods.py\t345\n" STEP },
		/* what is imported may train */
		{ true,
		  ENGINE STEP "\n_call_with_frames_removed\t<frozen importlib._bootstrap>\t2" },
		{ false, "" },
		{ false, STEP },
		{ false, NEXT },
		{ false, "<module>\t" PACKAGES "torch/autograd/__init__.py\t1\n" STEP },
		{ false, "_make_grads\t" PACKAGES "torch/autograd/__init__.py\t40\n" STEP },
		{ false, "Function.apply\t" PACKAGES "torch/autograd/function.py\t2\n" STEP },
		{ false, "backward\t/srv/search.py\t7\n" STEP },
		{ false, "vjp\t" PACKAGES "jax/_src/api.py\t2\n" STEP },
		{ false, "upgrad\t" PACKAGES "torch/autograd/__init__.py\t300\n" STEP },
		/* the compiler's own, of which an evaluation has no less */
		{ false, ENGINE "joint\t" PACKAGES
				"torch/_functorch/_aot_autograd/graph_capture.py\t9\n" STEP },
		{ false, ENGINE "compile\t" PACKAGES "torch/_dynamo/convert_frame.py\t9\n" STEP },
		/* ... which is itself part of a pass: it compiles it at its first use */
		{ true, "compile_fx\t" PACKAGES "torch/_inductor/compile_fx.py\t9\n" ENGINE STEP },
	};

	for (size_t i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++)
		if (ana_gradients_in_stack(stacks[i].text, strlen(stacks[i].text)) != stacks[i].is)
			T_FAIL("%zu: %s", i, stacks[i].text);
}

static void test_threads(void)
{
	static const char *const yes[] = { "=pt_autograd_0", "?n7f00 =pt_autograd_12 ~n7f08" };
	static const char *const no[] = { "", "=pt_autograd", "=python", "?pt_autograd_0",
					  "=my_pt_autograd_0" };

	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		EXPECT(ana_gradients_in_links(yes[i], strlen(yes[i])));
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		EXPECT(!ana_gradients_in_links(no[i], strlen(no[i])));
}

/* A process that takes two batches or more, with so many looks at it in between. */
struct play {
	const char *what;
	const char *stack, *links; /* of the last look */
	uint32_t looks;
	uint32_t pid; /* whom they are at */
	uint8_t role, state;
	uint8_t hints; /* what follows */
	const char *every; /* the stack of all others; NULL: STEP */
	int64_t late; /* they come so much later, ms */
	bool untaken; /* it has no loader */
	uint32_t takes; /* 0: two */
	uint32_t taker; /* the thread; 0: the one that is looked at */
	const char *range; /* an optimizer's */
};

#define TAKES 100u

/* Calls of next() over nine tenths of 895 ms, as short as @n lets them be. */
static void put_takes(struct t_proc *p, uint32_t n, uint32_t tid)
{
	int64_t each = (MS(900) - MS(5)) / n;
	struct wire_batch take[TAKES];

	for (uint32_t i = 0; i < n; i++)
		take[i] = (struct wire_batch){ .start_ns = MS(5) + i * each,
					       .end_ns = MS(5) + i * each + each * 9 / 10,
					       .what = WIRE_BATCH_TAKE,
					       .pid = 10,
					       .tid = tid };
	t_batches(p, take, n);
}

static void put_two(struct t_proc *p, uint32_t tid)
{
	struct wire_batch take[2] = {
		{ .start_ns = MS(5), .end_ns = MS(10) },
		{ .start_ns = MS(890), .end_ns = MS(900) },
	};

	for (int i = 0; i < 2; i++) {
		take[i].what = WIRE_BATCH_TAKE;
		take[i].pid = 10;
		take[i].tid = tid;
	}
	t_batches(p, take, 2);
}

static void put_process(struct t_run *r, const struct play *play)
{
	uint32_t taker = play->taker ? play->taker : 10;
	struct wire_sample s[LOOKS_MAX];
	struct t_proc p;

	t_proc_begin(r, &p, 10, 0, MS(0));
	for (uint32_t i = 0; i < play->looks; i++)
		s[i] = (struct wire_sample){ .t_ns = MS(20 + play->late + i),
					     .pid = play->pid ? play->pid : 10,
					     .tid = 10,
					     .role = play->role,
					     .state = play->state,
					     .stack =
						     t_name(&p, play->every ? play->every : STEP) };
	if (play->stack)
		s[play->looks - 1].stack = *play->stack ? t_name(&p, play->stack) : 0;
	if (play->links)
		s[play->looks - 1].links = t_name(&p, play->links);
	if (play->looks)
		t_samples(&p, s, play->looks);
	if (play->takes)
		put_takes(&p, play->takes, taker);
	else if (!play->untaken)
		put_two(&p, taker);
	t_launch(&p, MS(10), MS(20), MS(900), 1);
	if (play->range)
		t_range(&p, WIRE_RANGE_OPTIMIZER, play->range, MS(20), MS(30));
	t_proc_end(&p, MS(2000), true);
}

#define ASLEEP .role = WIRE_ROLE_SUBMITTER, .state = WIRE_STATE_SLEEPING
#define AT_WORK .role = WIRE_ROLE_SUBMITTER, .state = WIRE_STATE_RUNNING

static void test_runs(void)
{
	static const struct play plays[] = {
		{ "looks enough", .looks = LOOKS, AT_WORK, .hints = ANA_HINT_WATCHED },
		{ "one too few", .looks = LOOKS - 1, AT_WORK },
		{ "none", .looks = 0 },
		{ "a pass at the last look", pass, .looks = LOOKS, AT_WORK,
		  .hints = ANA_HINT_GRADIENTS },
		{ "at the only one, asleep in it", pass, .looks = 1, .role = WIRE_ROLE_OTHER,
		  .state = WIRE_STATE_SLEEPING, .hints = ANA_HINT_GRADIENTS },
		{ "a worker's", pass, .looks = LOOKS, .pid = 11, AT_WORK },
		{ "the engine's thread at work", "", "=pt_autograd_0", .looks = 2, AT_WORK,
		  .hints = ANA_HINT_GRADIENTS },
		{ "one that gives the GPU nothing", "", "=pt_autograd_0", .looks = 2,
		  .role = WIRE_ROLE_OTHER, .state = WIRE_STATE_SLEEPING },
		/* 100 passes of 50 us in 88.6 ms outside of next(): 71 looks would meet four */
		{ "asleep, often", .looks = 71, ASLEEP, .takes = TAKES, .hints = ANA_HINT_WATCHED },
		{ "asleep, one too few", .looks = 70, ASLEEP, .takes = TAKES },
		{ "asleep, few batches", .looks = 71, ASLEEP, .takes = TAKES - 2 },
		{ "asleep, another one takes", .looks = 71, ASLEEP, .takes = TAKES, .taker = 12 },
		{ "asleep, in the loader", .looks = 71, ASLEEP, .takes = TAKES, .every = NEXT },
		{ "asleep, a pass", pass, .looks = 71, ASLEEP, .takes = TAKES,
		  .hints = ANA_HINT_GRADIENTS },
		{ "asleep", .looks = LOOKS, ASLEEP },
		{ "another thread", .looks = LOOKS, .role = WIRE_ROLE_OTHER,
		  .state = WIRE_STATE_RUNNING },
		{ "in the loader", .looks = LOOKS, AT_WORK, .every = NEXT },
		{ "behind the last batch", .looks = LOOKS, AT_WORK, .late = 880 },
		{ "without batches", .looks = LOOKS, AT_WORK, .untaken = true },
		{ "it trains, who needs a look", pass, .looks = LOOKS, AT_WORK,
		  .hints = ANA_HINT_STEPS, .range = "Optimizer.step#SGD.step" },
	};

	for (size_t i = 0; i < sizeof(plays) / sizeof(plays[0]); i++) {
		struct t_run r;

		t_run_begin(&r);
		put_process(&r, &plays[i]);
		t_analyse(&r, ANA_WINDOW_JOB);
		EXPECT(!ana_gradients_find(r.trace, r.result));
		if (r.result->hints != plays[i].hints)
			T_FAIL("%s: %#x, not %#x", plays[i].what, (unsigned int)r.result->hints,
			       (unsigned int)plays[i].hints);
		t_run_end(&r);
	}
}

/* Of two processes with batches each has to be known, and one pass is enough. */
static void test_two(void)
{
	static const struct play one = { "", .looks = LOOKS, AT_WORK },
				 few = { "", .looks = 3, AT_WORK },
				 trains = { "", pass, .looks = 3, AT_WORK },
				 untaken = { "", .looks = 3, AT_WORK, .untaken = true };
	static const struct {
		const struct play *second;
		uint8_t hints;
	} cases[] = { { &one, ANA_HINT_WATCHED },
		      { &few, 0 },
		      { &trains, ANA_HINT_GRADIENTS },
		      { &untaken, ANA_HINT_WATCHED } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct t_run r;

		t_run_begin(&r);
		put_process(&r, &one);
		put_process(&r, cases[i].second);
		t_analyse(&r, ANA_WINDOW_JOB);
		EXPECT(!ana_gradients_find(r.trace, r.result));
		EXPECT_INT(r.result->hints, cases[i].hints);
		t_run_end(&r);
	}
}

int main(void)
{
	return RUN(test_stacks, test_threads, test_runs, test_two);
}
