/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine's parts one by one: names, verdicts, spans, lines, the launch table, periods,
 * durations, timelines, the longest gaps.
 */
#include "harness.h"

#include "analysis/walk/join.h"
#include "analysis/ledger.h"
#include "analysis/time/timeline_stack.h"
#include "analysis/read/name_flags.h"
#include "facts/kernel.h"
#include "analysis/plan/period.h"
#include "analysis/time/span.h"
#include "analysis/walk/step.h"
#include "analysis/time/timeline.h"

static void test_classes(void)
{
	int c;

	for (c = 0; c < ANA_CLASSES; c++)
		EXPECT_INT(ana_class_by_name(ana_class_names[c]), c);
	EXPECT_INT(ana_class_by_name("input"), -1);
	EXPECT(ana_class_is_waste(ANA_COPY) && ana_class_is_waste(ANA_INPUT_UNKNOWN));
	EXPECT(ana_class_is_waste(ANA_DEVICE_LAUNCH) &&
	       ana_class_is_waste(ANA_EXCLUDED_NO_PROCESS));
	EXPECT(!ana_class_is_waste(ANA_HOST_WAIT) && !ana_class_is_waste(ANA_HOST_NO_WORK) &&
	       ana_class_is_waste(ANA_HOST_CPU_WORK));
	EXPECT(!ana_class_is_waste(ANA_HOST_UNKNOWN) && !ana_class_is_waste(ANA_DEVICE_LOST));
	EXPECT(!ana_class_is_waste(ANA_DEVICE_TURNAROUND) && !ana_class_is_waste(ANA_COMPUTE));
	EXPECT(!ana_class_is_waste(ANA_COMM) && !ana_class_is_waste(ANA_EXCLUDED_STARTUP));
}

#define CLASS(c) (UINT64_C(1) << (c))

static uint64_t all_of(bool (*in)(int))
{
	uint64_t set = 0;
	int c;

	EXPECT(!in(-1) && !in(ANA_CLASSES) && !in(INT32_MAX));
	for (c = 0; c < ANA_CLASSES; c++)
		set |= in(c) ? CLASS(c) : 0;
	return set;
}

/* The sets that the rules of the ledger name. */
static void test_class_sets(void)
{
	uint64_t ran = CLASS(ANA_COMPUTE) | CLASS(ANA_COMM) | CLASS(ANA_COPY);
	int64_t ns[ANA_CLASSES] = { 0 };

	EXPECT_INT(all_of(ana_class_is_busy), ran | CLASS(ANA_COMM_SKEW));
	EXPECT_INT(all_of(ana_class_is_recorded),
		   ran | CLASS(ANA_EXCLUDED_STARTUP) | CLASS(ANA_EXCLUDED_TEARDOWN) |
			   CLASS(ANA_EXCLUDED_UNOBSERVED) | CLASS(ANA_EXCLUDED_NO_PROCESS));
	EXPECT_INT(all_of(ana_class_is_doubt),
		   CLASS(ANA_HOST_UNKNOWN) | CLASS(ANA_HOST_WAIT) | CLASS(ANA_DEVICE_UNKNOWN) |
			   CLASS(ANA_DEVICE_LOST) | CLASS(ANA_EXCLUDED_UNOBSERVED));
	EXPECT_INT(all_of(ana_class_is_outside),
		   CLASS(ANA_EXCLUDED_STARTUP) | CLASS(ANA_EXCLUDED_TEARDOWN) |
			   CLASS(ANA_EXCLUDED_NO_PROCESS) | CLASS(ANA_HOST_NO_WORK));
	EXPECT_INT(all_of(ana_class_wants_workers),
		   CLASS(ANA_INPUT_FETCH) | CLASS(ANA_INPUT_PREP) | CLASS(ANA_INPUT_UNKNOWN) |
			   CLASS(ANA_INPUT_CPU_STARVED) | CLASS(ANA_INPUT_PIPELINE) |
			   CLASS(ANA_INPUT_HANDOFF));
	ns[ANA_EXCLUDED_STARTUP] = ns[ANA_EXCLUDED_TEARDOWN] = INT64_MAX;
	ns[ANA_EXCLUDED_UNOBSERVED] = 7;
	EXPECT(ana_class_sum(ns, ana_class_is_outside) == (__int128)INT64_MAX * 2);
}

static unsigned int flags(const char *text)
{
	return ana_name_flags(text) & ~(unsigned int)ANA_NAME_SEEN;
}

static void test_names(void)
{
	EXPECT(flags("cudaStreamSynchronize_v3020") & ANA_NAME_SYNC);
	EXPECT(flags("hipCtxSynchronize") & ANA_NAME_SYNC);
	EXPECT(!(flags("xcudaStreamSynchronize") & ANA_NAME_SYNC));
	EXPECT(!(flags("cudastreamsynchronize") & ANA_NAME_SYNC));
	EXPECT(flags("cudaExecutionCtxSynchronize") & ANA_NAME_SYNC);
	EXPECT(!(flags("cudaMemcpyWithAttributesAsync") & ANA_NAME_NO_OP));
	EXPECT(flags("cudaFuncGetAttributes") & ANA_NAME_NO_OP);
	EXPECT(flags("cudaMallocAsync") & ANA_NAME_ALLOC);
	EXPECT(flags("cuMemHostAlloc") & ANA_NAME_ALLOC);
	EXPECT(!(flags("cudamalloc") & ANA_NAME_ALLOC));
	EXPECT(flags("cuModuleLoadDataEx") & ANA_NAME_LOAD);
	EXPECT(flags("cudaGraphLaunch") & ANA_NAME_GRAPH);
	EXPECT(flags("cuLaunchKernelEx") & ANA_NAME_LAUNCH);
	EXPECT(!(flags("cuLaunchKernelEx") & (ANA_NAME_GRAPH | ANA_NAME_NO_OP)));
	EXPECT(flags("ncclDevKernel") & ANA_NAME_COMM);
	EXPECT(flags("void RCCL_x") & ANA_NAME_COMM);
	EXPECT(flags("void vllm::cross_device_reduce_2stage<__half, 8>(RankData*)") &
	       ANA_NAME_COMM);
	EXPECT(flags("_ZN4vllm26cross_device_reduce_1stageI6__halfLi2EEEvP8RankData") &
	       ANA_NAME_COMM);
	EXPECT(flags("void tensorrt_llm::kernels::oneShotAllReduceKernel<float, 8>()") &
	       ANA_NAME_COMM);
	EXPECT(flags("one_shot_all_reduce_kernel") & ANA_NAME_COMM);
	EXPECT(flags("_ZN7deep_ep9internode8dispatchEv") & ANA_NAME_COMM);
	EXPECT(!(flags("deep_ep::layout::get_dispatch_layout") & ANA_NAME_COMM));
	EXPECT(flags("nvshmemi_transfer_rma") & ANA_NAME_COMM);
	EXPECT(flags("mscclpp::executionKernel") & ANA_NAME_COMM);
	/* reductions within a GPU */
	EXPECT(!(flags("void blockAllReduce<float>(float*)") & ANA_NAME_COMM));
	EXPECT(!(flags("cub::DeviceReduceKernel") & ANA_NAME_COMM));
	EXPECT_INT(facts_kernel_meeting("ncclDevKernel_AllReduce_Sum_f32_RING_LL"), FACTS_MEET_ALL);
	EXPECT_INT(facts_kernel_meeting("ncclDevKernel_SendRecv"), FACTS_MEET_ONE);
	EXPECT_INT(facts_kernel_meeting("ncclKernel_P2P"), FACTS_MEET_ONE);
	EXPECT_INT(facts_kernel_meeting("cross_device_reduce_1stage"), FACTS_MEET_ALL);
	EXPECT_INT(facts_kernel_meeting("_ZN7deep_ep9internode8dispatchEv"), FACTS_MEET_NOT);
	EXPECT_INT(facts_kernel_meeting("gemm"), FACTS_MEET_NOT);
	EXPECT(flags("void nvjpeg::DecodeKernel()") & ANA_NAME_INPUT);
	EXPECT(flags("dali::kernels::ResampleKernel") & ANA_NAME_INPUT);
	EXPECT(!(flags("daliance_gemm") & ANA_NAME_INPUT));
	EXPECT(!(flags("nvjpeg_nccl") & ANA_NAME_INPUT));
	EXPECT(flags("my_ckpt") & ANA_NAME_CHECKPOINT);
	EXPECT(flags("Saving") & ANA_NAME_CHECKPOINT);
	EXPECT(flags("eval and save") & ANA_NAME_CHECKPOINT);
	EXPECT(flags("logits") & ANA_NAME_PHASE);
	EXPECT(flags("x2valid") & ANA_NAME_PHASE);
	EXPECT(!flags("retrieval"));
	EXPECT(!flags("dialog"));
	EXPECT(!flags(""));
}

static struct ana_judgement judge(int64_t held, int c, int64_t ns, int d, int64_t more)
{
	int64_t classes[ANA_CLASSES] = { 0 };

	classes[ANA_COMPUTE] = held;
	classes[c] += ns;
	classes[d] += more;
	return ana_verdict_of(held, classes);
}

static void test_verdicts(void)
{
	struct ana_judgement j = judge(1000, ANA_INPUT_FETCH, 50, ANA_HOST_SYNC, 500);

	EXPECT_INT(j.verdict, ANA_V_INPUT_BOUND);
	EXPECT_INT(j.severity, ANA_S_NOTICE);
	EXPECT(!j.flagged);
	EXPECT_INT(judge(1000, ANA_INPUT_H2D, 100, 0, 0).severity, ANA_S_WARNING);
	EXPECT(judge(1000, ANA_INPUT_H2D, 100, 0, 0).flagged);
	EXPECT_INT(judge(1000, ANA_INPUT_H2D, 200, 0, 0).severity, ANA_S_CRITICAL);
	j = judge(1000, ANA_INPUT_FETCH, 49, ANA_DEVICE_LOST, 200);
	EXPECT_INT(j.verdict, ANA_V_INCONCLUSIVE);
	EXPECT_INT(j.severity, ANA_S_NONE);
	EXPECT_INT(judge(1000, ANA_HOST_DISPATCH, 100, 0, 0).verdict, ANA_V_HOST_BOUND);
	EXPECT_INT(judge(1000, ANA_HOST_DISPATCH, 99, 0, 0).verdict, ANA_V_BUSY);
	EXPECT_INT(judge(1000, ANA_COMM, 150, ANA_COMM_SKEW, 50).verdict, ANA_V_COMM_BOUND);
	EXPECT_INT(judge(1000, ANA_COPY, 100, 0, 0).verdict, ANA_V_COPY_BOUND);
	EXPECT_INT(judge(1000, ANA_DEVICE_GRAPH, 100, 0, 0).verdict, ANA_V_DEVICE_BOUND);
	EXPECT_INT(judge(1000, ANA_DEVICE_TURNAROUND, 900, 0, 0).verdict, ANA_V_BUSY);
	/* The whole is without start-up and teardown. */
	EXPECT_INT(judge(1000, ANA_EXCLUDED_STARTUP, 900, ANA_INPUT_FETCH, 5).verdict,
		   ANA_V_INPUT_BOUND);
	EXPECT_INT(judge(1000, ANA_EXCLUDED_TEARDOWN, 1000, 0, 0).verdict, ANA_V_INCONCLUSIVE);
	EXPECT_INT(judge(0, ANA_COMPUTE, 0, 0, 0).verdict, ANA_V_INCONCLUSIVE);
	EXPECT_INT(judge(INT64_MAX, ANA_INPUT_FETCH, INT64_MAX / 20, 0, 0).verdict, ANA_V_BUSY);
	EXPECT_INT(judge(INT64_MAX, ANA_INPUT_FETCH, INT64_MAX / 20 + 1, 0, 0).verdict,
		   ANA_V_INPUT_BOUND);
}

static void test_spans(void)
{
	struct ana_spans s = { 0 };
	int64_t until;

	EXPECT_INT(ana_spans_add(&s, 50, 60), 0);
	EXPECT_INT(ana_spans_add(&s, 10, 20), 0);
	EXPECT_INT(ana_spans_add(&s, 20, 30), 0);
	EXPECT_INT(ana_spans_add(&s, 5, 5), 0);
	ana_spans_merge(&s);
	EXPECT_UINT(s.count, 2);
	EXPECT(!ana_spans_at(&s, 0, &until));
	EXPECT_INT(until, 10);
	EXPECT(ana_spans_at(&s, 29, &until));
	EXPECT_INT(until, 30);
	EXPECT(!ana_spans_at(&s, 60, &until));
	EXPECT_INT(until, INT64_MAX);
	EXPECT(ana_spans_at(&s, 10, &until)); /* looks may go back */
	EXPECT_INT(ana_spans_within(&s, 15, 55), 20);
	ana_spans_fini(&s);
}

/* What the line says at each instant, against all rows, slowly. */
static void check_line(struct ana_timeline_stack *l, const int64_t row[][2], size_t rows,
		       int64_t until)
{
	int64_t t, change;
	uint32_t value;
	size_t i;

	for (t = 0; t < until; t++) {
		long best = -1;

		for (i = 0; i < rows; i++) {
			if (row[i][0] > t || row[i][1] <= t)
				continue;
			if (best < 0 || row[i][0] > row[best][0] ||
			    (row[i][0] == row[best][0] && row[i][1] <= row[best][1]))
				best = (long)i;
		}
		EXPECT_INT(ana_timeline_stack_at(l, t, &value, &change) ? (long)value : -1, best);
		EXPECT(change > t);
	}
}

static void test_lines(void)
{
	uint64_t rnd = t_seed(1);
	int round;

	for (round = 0; round < 200; round++) {
		struct ana_timeline_stack l = { 0 };
		int64_t row[12][2], at = 0;
		size_t i;

		for (i = 0; i < 12; i++) {
			at += (int64_t)(t_random(&rnd) % (round % 2 ? 5 : 2)); /* many at once */
			row[i][0] = at;
			row[i][1] = at + (int64_t)(t_random(&rnd) % 20);
			EXPECT_INT(ana_timeline_stack_add(&l, row[i][0], row[i][1], (uint32_t)i,
							  INT64_MIN),
				   0);
		}
		EXPECT_INT(ana_timeline_stack_upto(&l, 100, INT64_MIN), 0);
		check_line(&l, row, 12, 100);
		EXPECT(ana_timeline_stack_over(&l, 100));
		ana_timeline_stack_fini(&l);
	}
}

static void test_a_line_forgets(void)
{
	struct ana_timeline_stack l = { 0 };
	uint32_t value;
	int64_t i, until;

	for (i = 0; i < 100000; i++)
		EXPECT_INT(ana_timeline_stack_add(&l, i * 10, i * 10 + 5, 1, i * 10 - 100), 0);
	EXPECT(l.room < 1000);
	EXPECT_INT(ana_timeline_stack_upto(&l, INT64_MAX, INT64_MIN), 0);
	EXPECT_INT(l.total, 500000);
	EXPECT(ana_timeline_stack_at(&l, 999990, &value, &until));
	ana_timeline_stack_fini(&l);
}

static uint64_t lost_graphs;

static struct ana_call call_at(int64_t start, uint32_t tid, uint16_t f)
{
	struct ana_call c = { .start = start, .end = start + 5, .tid = tid, .flags = f };

	return c;
}

static void put(struct ana_join *j, uint64_t corr, const struct ana_call *c)
{
	bool fresh;
	struct ana_call *at = ana_join_put(j, corr, &fresh);

	REQUIRE(at);
	if (fresh || ana_call_before(c, at))
		*at = *c;
}

static void add(struct ana_join *j, uint64_t corr, int64_t start, uint16_t f)
{
	struct ana_call c = call_at(start, 1, f);

	put(j, corr, &c);
}

static void test_launches(void)
{
	struct ana_join *j = ana_join_new(false, &lost_graphs);
	struct ana_call other = call_at(100, 0, 0);
	const struct ana_call *c;

	EXPECT_INT(ana_join_pending(j, 0), INT64_MAX);
	add(j, 7, 100, 0);
	add(j, 8, 110, 0);
	add(j, 7, 120, 0); /* the same id: the earlier one stays */
	put(j, 7, &other); /* the same start: the lower thread */
	EXPECT_INT(ana_join_pending(j, 1), 100);
	c = ana_join_ask(j, 7, 1, false);
	EXPECT(c && c->start == 100 && c->tid == 0);
	EXPECT(!ana_join_ask(j, 9, 1, false));
	EXPECT_INT(ana_join_pending(j, 2), 100); /* may own another operation */
	EXPECT_INT(ana_join_pending(j, 100), 110);
	ana_join_give_up(j, 110);
	EXPECT_INT(ana_join_pending(j, 100), INT64_MAX);
	EXPECT_UINT(ana_join_expired(j), 1);
	EXPECT(ana_join_ask(j, 8, 101, false) != NULL); /* given up, not forgotten */
	ana_join_free(j);
}

static void test_launches_of_graphs(void)
{
	struct ana_join *j = ana_join_new(false, &lost_graphs);

	add(j, 1, 100, ANA_NAME_GRAPH | ANA_NAME_MANY);
	add(j, 2, 200, ANA_NAME_GRAPH | ANA_NAME_MANY);
	EXPECT(ana_join_ask(j, 1, 1, false) != NULL);
	EXPECT_INT(ana_join_pending(j, 5000), 100); /* by nodes: more may come for long */
	EXPECT_INT(ana_join_pending(j, 20000), 200);
	EXPECT(ana_join_ask(j, 2, 20001, true) != NULL);
	EXPECT_INT(ana_join_pending(j, 20001), INT64_MAX); /* as a whole: that was it */
	ana_join_free(j);
}

/*
 * One of four calls never gets an operation, as a memset of nothing: what waits for them is some
 * thousand calls, however many there were.
 */
static void test_unanswered(void)
{
	struct ana_join *j = ana_join_new(false, &lost_graphs);
	uint32_t now = 0;

	for (int64_t i = 1; i <= 400000; i++) {
		add(j, (uint64_t)i, i, 0);
		if (i % 4)
			EXPECT(ana_join_ask(j, (uint64_t)i, ++now, true) != NULL);
	}
	EXPECT(400000 - ana_join_pending(j, now) < 100000);
	EXPECT(ana_join_expired(j) > 90000);
	ana_join_free(j);
}

static void test_many_launches(void)
{
	struct ana_join *j = ana_join_new(false, &lost_graphs);
	uint32_t now = 0;
	int64_t i;

	/* One in a hundred owns nothing; the others are asked for 500 launches later. */
	for (i = 1; i <= 300000; i++) {
		add(j, (uint64_t)i, i * 10, 0);
		if (i > 500 && (i - 500) % 100) {
			const struct ana_call *c = ana_join_ask(j, (uint64_t)i - 500, ++now, false);

			EXPECT(c && c->start == (i - 500) * 10);
		}
	}
	EXPECT_INT(ana_join_pending(j, now), 1000);
	EXPECT(ana_join_ask(j, 100, ++now, false) != NULL); /* late, but it came */
	EXPECT(!ana_join_ask(j, 101, ++now, false)); /* asked for long ago, and forgotten */
	ana_join_free(j);
}

/* Streams take turns, threads' ids come mixed, and some ids come twice or never. */
static void test_launches_in_any_order(void)
{
	enum {
		IDS = 4000,
		STREAMS = 7
	};
	static int64_t start[IDS]; /* 0: not there */
	uint64_t rnd = t_seed(21), next[STREAMS], id;
	int exact, i, s;

	for (exact = 0; exact < 2; exact++) {
		struct ana_join *j = ana_join_new(exact, &lost_graphs);

		memset(start, 0, sizeof(start));
		for (s = 0; s < STREAMS; s++)
			next[s] = (uint64_t)s * (IDS / STREAMS) + 1;
		for (i = 1; i < 20000; i++) {
			const struct ana_call *c;

			id = i < IDS / 2 ? (uint64_t)i + t_random(&rnd) % 9 : t_random(&rnd) % IDS;
			if (i < 6000 && id && t_random(&rnd) % 8) {
				add(j, id, i, 0);
				start[id] = start[id] ? start[id] : i;
			}
			s = (int)(t_random(&rnd) % STREAMS);
			id = t_random(&rnd) % 20 ? next[s] : t_random(&rnd) % IDS;
			next[s] = id % (IDS - 1) + 1;
			c = ana_join_ask(j, id, (uint32_t)i, false);
			EXPECT_INT(c ? c->start : 0, start[id]);
		}
		ana_join_free(j);
	}
}

static void test_an_exact_join_forgets_nothing(void)
{
	struct ana_join *j = ana_join_new(true, &lost_graphs);
	int64_t i;

	for (i = 0; i < 100000; i++)
		add(j, (uint64_t)i * 64 + 1, i, 0);
	for (i = 0; i < 100000; i++)
		EXPECT(ana_join_ask(j, (uint64_t)i * 64 + 1, 1, false) != NULL);
	for (i = 0; i < 100000; i++)
		EXPECT(ana_join_ask(j, (uint64_t)i * 64 + 1, 900000, false) != NULL);
	ana_join_free(j);
}

static long period_of(const char *text, size_t repeat, size_t *period)
{
	size_t len = strlen(text), i, n = 0;
	uint32_t *symbol = malloc(len * repeat * sizeof(*symbol));
	long found;

	for (i = 0; i < len * repeat; i++)
		symbol[n++] = (uint32_t)(text[i % len] - 'a');
	*period = 0;
	found = ana_period_of(symbol, n, 26, period);
	free(symbol);
	return found;
}

static void test_periods(void)
{
	size_t p;

	EXPECT_INT(period_of("abbcc", 30, &p), 0);
	EXPECT_UINT(p, 5);
	/* Layers: their kernels come regularly too, but are not all there is. */
	EXPECT(period_of("abcdbcdbcdbcdbcdefghi", 20, &p) >= 0);
	EXPECT_UINT(p, 21);
	/* Every tenth step something is logged. */
	EXPECT(period_of("abcdeabcdeabcdeabcdeabcdeabcdeabcdeabcdeabcdeabcdel", 20, &p) >= 0);
	EXPECT_UINT(p, 5);
	EXPECT_INT(period_of("abc", 1, &p), -1);
	EXPECT_INT(period_of("abcdefghijklmnopqrstuvwxyz", 2, &p), -1);
}

static void test_no_period_in_noise(void)
{
	uint64_t rnd = t_seed(5);
	uint32_t symbol[5000];
	size_t i, p;

	for (i = 0; i < 5000; i++)
		symbol[i] = (uint32_t)(t_random(&rnd) % 20);
	EXPECT_INT(ana_period_of(symbol, 5000, 20, &p), -1);
}

static void test_durations(void)
{
	struct ana_durations d = { 0 }, e = { 0 };
	int64_t i;

	EXPECT_INT(ana_durations_rank(&d, 500), -1);
	for (i = 100; i > 0; i--)
		EXPECT_INT(ana_durations_add(&d, i), 0);
	EXPECT_INT(ana_durations_rank(&d, 500), 50);
	EXPECT_INT(ana_durations_rank(&d, 950), 95);
	EXPECT_INT(ana_durations_rank(&d, 0), 1);
	for (i = 0; i < 200000; i++)
		EXPECT_INT(ana_durations_add(&e, 1000000 + i * 10), 0);
	EXPECT(llabs(ana_durations_rank(&e, 500) - 2000000) < 10000);
	EXPECT(llabs(ana_durations_rank(&e, 950) - 2900000) < 15000);
	EXPECT_INT(ana_durations_merge(&e, &d), 0);
	EXPECT_UINT(e.total, 200100);
	EXPECT_INT(ana_durations_rank(&e, 0), 1);
	ana_durations_fini(&d);
	ana_durations_fini(&e);
}

struct seen {
	struct ana_step step[16];
	size_t n;
};

static void see(void *arg, const struct ana_step *s)
{
	struct seen *seen = arg;

	REQUIRE(seen->n < 16);
	seen->step[seen->n++] = *s;
}

static void test_steps(void)
{
	struct seen seen = { .n = 0 };
	struct ana_steps s = { .source = ANA_STEPS_RANGE, .on_step = see, .arg = &seen };

	EXPECT_INT(ana_steps_range(&s, 0, 100), 0);
	EXPECT_INT(ana_steps_range(&s, 100, 200), 0);
	ana_steps_expose(&s, 90, 130);
	EXPECT_INT(ana_steps_upto(&s, 150), 0);
	EXPECT_UINT(seen.n, 1);
	ana_steps_expose(&s, 190, 250);
	EXPECT_INT(ana_steps_finish(&s), 0);
	EXPECT_UINT(seen.n, 2);
	EXPECT_INT(seen.step[0].exposed_ns, 10);
	EXPECT_INT(seen.step[1].exposed_ns, 40);
	ana_steps_fini(&s);
}

#define NESTED 40u

struct exposures {
	int64_t ns[NESTED]; /* what is to come out, by number of the step */
	size_t n;
};

static void compare(void *arg, const struct ana_step *s)
{
	struct exposures *x = arg;

	EXPECT_INT(s->exposed_ns, x->ns[x->n++]);
}

/* The sum over all pieces, slowly. */
static int64_t exposed_of(const struct ana_step *s, const int64_t piece[][2], size_t pieces)
{
	int64_t sum = 0;
	size_t i;

	for (i = 0; i < pieces; i++) {
		int64_t a = piece[i][0] > s->start_ns ? piece[i][0] : s->start_ns;
		int64_t b = piece[i][1] < s->end_ns ? piece[i][1] : s->end_ns;

		sum += a < b ? b - a : 0;
	}
	return sum;
}

/* Steps within and across steps, pieces of several GPUs that are not equally far. */
static void test_nested_steps(void)
{
	uint64_t rnd = t_seed(2);
	int round;

	for (round = 0; round < 300; round++) {
		struct exposures x = { .n = 0 };
		struct ana_steps s = { .source = ANA_STEPS_RANGE, .on_step = compare, .arg = &x };
		struct ana_step step[NESTED];
		int64_t piece[NESTED][2], at = 0;
		size_t i;

		for (i = 0; i < NESTED; i++) {
			int64_t most = t_random(&rnd) % 4 ? 10 : 300;

			at += (int64_t)(t_random(&rnd) % 8);
			step[i].start_ns = at;
			step[i].end_ns = at + (int64_t)(t_random(&rnd) % (uint64_t)most);
			EXPECT_INT(ana_steps_range(&s, at, step[i].end_ns), 0);
		}
		for (i = 0; i < NESTED; i++) {
			piece[i][0] = (int64_t)(t_random(&rnd) % 400);
			piece[i][1] = piece[i][0] + (int64_t)(t_random(&rnd) % 60);
			ana_steps_expose(&s, piece[i][0], piece[i][1]);
		}
		for (i = 0; i < NESTED; i++)
			x.ns[i] = exposed_of(&step[i], piece, NESTED);
		EXPECT_INT(ana_steps_finish(&s), 0);
		EXPECT_UINT(x.n, NESTED);
		ana_steps_fini(&s);
	}
}

static void test_steps_by_optimizer(void)
{
	struct seen seen = { .n = 0 };
	struct ana_steps s = { .source = ANA_STEPS_OPTIMIZER, .on_step = see, .arg = &seen };

	EXPECT_INT(ana_steps_begin(&s, 10), 0); /* the first loader wait */
	ana_steps_expose(&s, 10, 20);
	EXPECT_INT(ana_steps_range(&s, 80, 100), 0);
	EXPECT_INT(ana_steps_begin(&s, 110), 0); /* has begun already */
	ana_steps_expose(&s, 95, 130);
	EXPECT_INT(ana_steps_range(&s, 180, 200), 0);
	EXPECT_INT(ana_steps_finish(&s), 0);
	EXPECT_UINT(seen.n, 2);
	EXPECT_INT(seen.step[0].start_ns, 10);
	EXPECT_INT(seen.step[0].end_ns, 100);
	EXPECT_INT(seen.step[0].exposed_ns, 15);
	EXPECT_INT(seen.step[1].end_ns, 200);
	EXPECT_INT(seen.step[1].exposed_ns, 30);
	EXPECT_UINT(ana_steps_taken(&s), 2);
	ana_steps_fini(&s);
}

/* Nobody saw where the first began: it has no length, and it was a step. */
static void test_steps_taken(void)
{
	struct seen seen = { .n = 0 };
	struct ana_steps s = { .source = ANA_STEPS_OPTIMIZER, .on_step = see, .arg = &seen };
	int64_t i;

	for (i = 1; i <= 5; i++)
		EXPECT_INT(ana_steps_range(&s, 100 * i - 20, 100 * i), 0);
	EXPECT_INT(ana_steps_finish(&s), 0);
	EXPECT_UINT(seen.n, 4);
	EXPECT_UINT(ana_steps_taken(&s), 5);
	ana_steps_fini(&s);

	seen.n = 0;
	s = (struct ana_steps){ .source = ANA_STEPS_PERIOD, .on_step = see, .arg = &seen };
	for (i = 1; i <= 5; i++)
		EXPECT_INT(ana_steps_boundary(&s, 100 * i), 0);
	EXPECT_INT(ana_steps_finish(&s), 0);
	EXPECT_UINT(seen.n, 4);
	EXPECT_UINT(ana_steps_taken(&s), 4); /* the last may have been cut short */
	ana_steps_fini(&s);
}

static void test_timelines(void)
{
	struct ana_timeline t = { 0 };
	struct ana_buckets r;
	int64_t sum = 0;
	size_t i;

	EXPECT_INT(ana_buckets_init(&r, &t, 1000, 2003, 10, 1), 0);
	EXPECT_UINT(t.count, 10);
	EXPECT_INT(t.bucket[0].start_ns, 1000);
	EXPECT_INT(t.bucket[9].end_ns, 2003);
	ana_buckets_add(&r, ANA_COPY, 1000, 2003);
	ana_buckets_add(&r, ANA_COMPUTE, 1500, 1500);
	ana_buckets_add(&r, ANA_COMPUTE, 0, 5000); /* what lies outside is not drawn */
	for (i = 0; i < t.count; i++) {
		EXPECT_INT(t.bucket[i].classes[ANA_COPY],
			   t.bucket[i].end_ns - t.bucket[i].start_ns);
		sum += t.bucket[i].classes[ANA_COMPUTE];
	}
	EXPECT_INT(sum, 1003);
	free(t.bucket);
	t = (struct ana_timeline){ 0 };
	EXPECT_INT(ana_buckets_init(&r, &t, 10, 10, 10, 1), 0);
	ana_buckets_add(&r, ANA_COPY, 10, 20);
	EXPECT_UINT(t.count, 0);
	EXPECT_INT(ana_buckets_init(&r, &t, 0, 3, 10, 1), 0); /* no bucket shorter than 1 ns */
	EXPECT_UINT(t.count, 3);
	free(t.bucket);
}

/* Fine buckets lie within those that are drawn, which stay where they are. */
static void test_fine_timelines(void)
{
	struct ana_timeline t = { 0 }, fine = { 0 };
	struct ana_buckets r, f;
	size_t i;

	EXPECT_INT(ana_buckets_init(&r, &t, 1000, 1234567891, 240, 1), 0);
	EXPECT_INT(ana_buckets_init(&f, &fine, 1000, 1234567891, 240, 16), 0);
	EXPECT_UINT(r.fine, 1);
	EXPECT_UINT(f.fine, 16);
	EXPECT_INT(t.bucket[t.count - 1].end_ns, 1234567891);
	EXPECT_INT(fine.bucket[fine.count - 1].end_ns, 1234567891);
	EXPECT(fine.count > (t.count - 1) * 16 && fine.count <= t.count * 16);
	for (i = 0; i < t.count; i++)
		EXPECT_INT(fine.bucket[i * 16].start_ns, t.bucket[i].start_ns);
	free(t.bucket);
	free(fine.bucket);
	fine = (struct ana_timeline){ 0 };
	EXPECT_INT(ana_buckets_init(&f, &fine, 0, 240000, 240, 16), 0); /* too short to be cut */
	EXPECT_UINT(f.fine, 1);
	EXPECT_UINT(fine.count, 240);
	free(fine.bucket);
}

static void test_longest_gaps(void)
{
	uint64_t rnd = t_seed(3);
	struct ana_top t;
	int64_t i, longest = 0;

	EXPECT_INT(ana_top_init(&t, 10), 0);
	for (i = 0; i < 1000; i++) {
		struct ana_gap g = { .start_ns = i * 1000 };

		g.end_ns = g.start_ns + (int64_t)(t_random(&rnd) % 900);
		longest = g.end_ns - g.start_ns > longest ? g.end_ns - g.start_ns : longest;
		if (ana_top_wants(&t, g.end_ns - g.start_ns))
			ana_top_add(&t, &g);
	}
	ana_top_sort(&t);
	EXPECT_UINT(t.count, 10);
	EXPECT_INT(t.gap[0].end_ns - t.gap[0].start_ns, longest);
	for (i = 1; i < 10; i++)
		EXPECT(t.gap[i - 1].end_ns - t.gap[i - 1].start_ns >=
		       t.gap[i].end_ns - t.gap[i].start_ns);
	ana_top_fini(&t);
	EXPECT_INT(ana_top_init(&t, 0), 0);
	EXPECT(!ana_top_wants(&t, 5));
	ana_top_fini(&t);
}

static const struct t_case cases[] = {
	T_CASE(test_classes),
	T_CASE(test_class_sets),
	T_CASE(test_names),
	T_CASE(test_verdicts),
	T_CASE(test_spans),
	T_CASE(test_lines),
	T_CASE(test_a_line_forgets),
	T_CASE(test_launches),
	T_CASE(test_unanswered),
	T_CASE(test_launches_of_graphs),
	T_CASE(test_many_launches),
	T_CASE(test_launches_in_any_order),
	T_CASE(test_an_exact_join_forgets_nothing),
	T_CASE(test_periods),
	T_CASE(test_no_period_in_noise),
	T_CASE(test_durations),
	T_CASE(test_steps),
	T_CASE(test_nested_steps),
	T_CASE(test_steps_by_optimizer),
	T_CASE(test_steps_taken),
	T_CASE(test_timelines),
	T_CASE(test_fine_timelines),
	T_CASE(test_longest_gaps),
};

int main(void)
{
	return t_run(cases, sizeof(cases) / sizeof(cases[0]));
}
