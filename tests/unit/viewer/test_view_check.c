/* SPDX-License-Identifier: Apache-2.0 */
/* The gate: budgets to the digit, the series of steps, what a change of them is, the baseline. */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>
#include "base/units.h"
#include "check/baseline.h"
#include "check/change.h"
#include "check/cores.h"
#include "check/metric.h"
#include "check/result.h"
#include "check/scale.h"
#include "check/student.h"
#include "gauss.h"
#include "harness.h"

static struct check_run made_run(void)
{
	struct check_run r = { .id = "r",
			       .rules = ANA_RULES,
			       .hardware = "1x H100",
			       .nano_usd_per_hour = 2500000000,
			       .gpu_ns = 3000000007,
			       .starved_ns = 300000000,
			       .wasted_ns = 300000000,
			       .total_nano_usd = 2083333,
			       .complete = true,
			       .ranks = 1,
			       .gpus = 1,
			       .workers = -1,
			       .batch_size = -1,
			       .steps = 3,
			       .step_median_ns = 1000000000,
			       .step_p95_ns = 1000000001,
			       .step_fed_median_ns = -1 };

	r.classes[ANA_COMPUTE] = 2700000007;
	r.classes[ANA_INPUT_FETCH] = 300000000;
	return r;
}

static bool holds(const char *budget)
{
	struct check_run run = made_run();
	struct check_budget b;
	const char *why;

	if (check_budget_parse(budget, &b, &why))
		return false;
	struct check_value v = check_metric_of(&b.metric, &run);
	return v.known && check_budget_holds(&b, &v);
}

/* 100 x 3e8 / 3000000007 = 9.99999997666..., which no rounding may make 10. */
static void test_exact(void)
{
	EXPECT(holds("starved_pct<=9.999999977"));
	EXPECT(!holds("starved_pct<=9.999999976"));
	EXPECT(holds("starved_pct>=9.999999976"));
	EXPECT(!holds("starved_pct>=9.999999977"));
	EXPECT(holds("input.fetch_pct<=10") && !holds("input.fetch_pct<=9"));
	EXPECT(holds("step_ms_p95<=1000.000001") && !holds("step_ms_p95<=1000"));
	/* 2083333 x 1000 / 3 = 694444333.33 nano-dollars */
	EXPECT(holds("usd_per_1k_steps<=0.694444334") && !holds("usd_per_1k_steps<=0.694444333"));
	EXPECT(holds("gpu_hours<=0.000833334") && !holds("gpu_hours<=0.000833333"));
}

static void test_no_budget(void)
{
	static const char *const bad[] = { "",
					   "starved_pct",
					   "starved_pct<1",
					   "<=1",
					   "starved_pct<=",
					   "starved_pct<=1x",
					   "nothing<=1",
					   "nothing_pct<=1",
					   "_pct<=1",
					   "usd<=1.0000000001",
					   "usd<=10000000000",
					   "usd<=-1" };
	struct check_budget b;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const char *why = NULL;
		EXPECT(check_budget_parse(bad[i], &b, &why) == -EINVAL);
		EXPECT(why && why[0]);
	}
}

static void test_unknown_value(void)
{
	struct check_run run = made_run();
	struct check_budget b;
	const char *why;

	run.nano_usd_per_hour = -1;
	REQUIRE(!check_budget_parse("usd<=1", &b, &why));
	EXPECT(!check_metric_of(&b.metric, &run).known);
	run.gpu_ns = 0;
	REQUIRE(!check_budget_parse("starved_pct<=1", &b, &why));
	EXPECT(!check_metric_of(&b.metric, &run).known);
	run.steps = 0;
	run.nano_usd_per_hour = 1;
	REQUIRE(!check_budget_parse("usd_per_1k_steps<=1", &b, &why));
	EXPECT(!check_metric_of(&b.metric, &run).known);
}

/* Of $0.002083333 for 1,000 frames, exactly so many, at least or at most. */
static char judged(const char *budget, enum view_outcome_bound count)
{
	struct check_run run = made_run();
	struct base_arena mem = { 0 };
	struct check_result r;
	struct check_budget b;
	const char *why;

	run.outcome[run.outcomes++] =
		(struct check_outcome){ "frames", 1000, 1, count, VIEW_OUTCOME_GIVEN };
	check_result_init(&r, &mem);
	if (check_budget_parse(budget, &b, &why))
		return '!';
	check_judge_budget(&r, &b, &run);
	EXPECT(r.first->value && !strcmp(r.first->value, "0.002083333"));
	EXPECT_INT(r.first->bound, count == VIEW_OUTCOME_AT_MOST    ? VIEW_OUTCOME_AT_LEAST
				   : count == VIEW_OUTCOME_AT_LEAST ? VIEW_OUTCOME_AT_MOST
								    : VIEW_OUTCOME_EXACT);
	char status = "pwfn"[r.first->status];
	base_arena_fini(&mem);
	return status;
}

/* pass, fail or not known, as the letters of @want: of an exact one, at least, at most. */
static void test_bounds(void)
{
	static const struct {
		const char *budget, *want;
	} rows[] = {
		{ "usd_per_1k_frames<=0.003", "ppn" },
		{ "usd_per_1k_frames<=0.002", "fnf" },
		{ "usd_per_1k_frames>=0.002", "pnp" },
		{ "usd_per_1k_frames>=0.003", "ffn" },
		{ "usd_per_1k_frames<=0.002083333", "ppn" },
		{ "usd_per_1k_frames>=0.002083333", "pnp" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (int b = 0; b < VIEW_OUTCOME_BOUNDS; b++)
			EXPECT_INT(judged(rows[i].budget, (enum view_outcome_bound)b),
				   rows[i].want[b]);
}

static void test_failed(void)
{
	struct check_run run = made_run();
	struct base_arena mem = { 0 };
	struct check_result r;

	check_result_init(&r, &mem);
	check_judge_whole(&r, &run);
	EXPECT_UINT(r.warned, 0);
	run.exit_status = 3;
	check_judge_whole(&r, &run);
	EXPECT_UINT(r.warned, 1);
	EXPECT(r.first && strstr(r.first->message, "exit status 3"));
	run.complete = false; /* killed: one warning is enough */
	check_judge_whole(&r, &run);
	EXPECT_UINT(r.warned, 2);
	base_arena_fini(&mem);
}

static void add_steps(struct check_collect *c, uint32_t process, size_t n, int64_t ns)
{
	for (size_t i = 0; i < n; i++) {
		struct ana_step s = { .start_ns = (int64_t)i * ns,
				      .end_ns = (int64_t)i * ns + ns / 2,
				      .exposed_ns = ns / 4,
				      .process = process };
		check_collect_step(c, &s);
	}
}

/* Of two processes the one with more steps stands for the run; more than fit become sums. */
static void test_series(void)
{
	const size_t many = 3 * CHECK_ITEMS_RAW + 5;
	struct check_collect *c = check_collect_new(-1);
	struct ana_result r = { 0 };
	struct check_series s;
	int64_t ns = 0, exposed = 0;

	REQUIRE(c);
	add_steps(c, 7, 100, 900);
	add_steps(c, 3, many, 1000);
	REQUIRE(!check_collect_end(c, &r, &s));
	EXPECT(s.steps == many);
	EXPECT(s.warmup == 1);
	EXPECT(s.count <= CHECK_ITEMS_KEPT && s.count > CHECK_ITEMS_KEPT / 4);
	EXPECT(s.count * s.width + s.warmup + s.rest == many);
	for (size_t i = 0; i < s.count; i++) {
		ns += s.item[i].ns;
		exposed += s.item[i].exposed_ns;
	}
	/* The last step of all ends where it ends: it lasts half as long. It is in the rest. */
	EXPECT(s.rest > 0);
	EXPECT(ns == (int64_t)(s.count * s.width) * 1000);
	EXPECT(exposed == (int64_t)(s.count * s.width) * 250);
	EXPECT(s.quantile_ns[4] > 990 && s.quantile_ns[4] < 1010);
	check_series_fini(&s);
	check_collect_free(c);
}

static void test_no_series(void)
{
	struct check_collect *c = check_collect_new(-1);
	struct ana_result r = { 0 };
	struct check_series s;
	struct ana_step back = { .start_ns = 100, .end_ns = 50 };

	REQUIRE(c);
	EXPECT(check_collect_end(c, &r, &s) == -ENODATA);
	check_collect_step(c, &back); /* ends before it begins, then time runs backwards */
	back.start_ns = INT64_MIN;
	back.end_ns = INT64_MAX;
	check_collect_step(c, &back);
	EXPECT(check_collect_end(c, &r, &s) == -ENODATA);
	check_collect_free(c);
}

static void test_warmup(void)
{
	struct check_item item[100];

	for (int i = 0; i < 100; i++)
		item[i] = (struct check_item){ 100, 0 };
	EXPECT(check_warmup(item, 100) == 1);
	item[3].ns = 300;
	EXPECT(check_warmup(item, 100) == 4);
	item[50].ns = 300; /* a slow step later on is none */
	EXPECT(check_warmup(item, 100) == 4);
	EXPECT(check_warmup(item, 1) == 0);
	EXPECT(check_warmup(item, 0) == 0);
}

static struct check_series alike(size_t n, int64_t ns, int64_t exposed)
{
	struct check_series s = {
		.item = calloc(n, sizeof(struct check_item)), .count = n, .width = 1, .steps = n
	};

	for (size_t i = 0; s.item && i < n; i++)
		s.item[i] =
			(struct check_item){ ns + (int64_t)(i * 7919 % 101) * ns / 10000, exposed };
	return s;
}

static void test_change(void)
{
	struct check_series a = alike(300, 1000000, 100000), b = alike(300, 1100000, 210000);
	struct check_change c;

	REQUIRE(a.item && b.item);
	REQUIRE(!check_change_estimate(&a, 1, &b, 1, 0.01, 0, &c));
	EXPECT(fabs(c.whole.value - 0.1) < 1e-6 && fabs(c.typical.value - 0.1) < 1e-6);
	EXPECT(c.whole.low > 0.09 && c.whole.high < 0.11 && c.whole.low < c.whole.high);
	EXPECT(fabs(c.exposed.value - 0.11) < 0.002);
	REQUIRE(!check_change_estimate(&a, 1, &a, 1, 0.01, 0, &c));
	EXPECT(c.whole.value == 0 && c.whole.low < 0 && c.whole.high > 0);
	b.count = CHECK_STEPS_LEAST - 1;
	EXPECT(check_change_estimate(&a, 1, &b, 1, 0.01, 0, &c) == -ENODATA);
	EXPECT(check_change_estimate(&a, 0, &b, 1, 0.01, 0, &c) == -ENODATA);
	check_series_fini(&a);
	check_series_fini(&b);
}

/* One step in a hundred that takes fifty times as long is no reason to miss all the others. */
static void test_typical(void)
{
	struct check_series a = alike(1000, 1000000, 0), b = alike(1000, 1050000, 0);
	struct check_change c;

	REQUIRE(a.item && b.item);
	for (size_t i = 37; i < 1000; i += 100) {
		a.item[i].ns *= 50;
		b.item[(i * 13) % 1000].ns *= 50;
	}
	REQUIRE(!check_change_estimate(&a, 1, &b, 1, 0.01, 0, &c));
	EXPECT(c.typical.low > 0.03 && c.typical.high < 0.07);
	EXPECT(c.whole.low < 0);
	check_series_fini(&a);
	check_series_fini(&b);
}

/* Of runs alike that differ by @spread (one high, one low, ...), each of 300 steps. */
static void runs_alike(struct check_series *s, size_t n, double spread)
{
	for (size_t i = 0; i < n; i++)
		s[i] = alike(300, (int64_t)(1e6 * (1 + (i % 2 ? -spread : spread))), 0);
}

static double half(const struct check_interval *i)
{
	return (i->high - i->low) / 2;
}

/* What runs differ by is assumed of one run each side, and seen where there are several. */
static void test_spread(void)
{
	struct check_series same[8], wild[8], slow = alike(300, 1030000, 0);
	struct check_change c;
	double assumed, seen;

	runs_alike(same, 8, 0.0001);
	runs_alike(wild, 8, 0.01);
	REQUIRE(!check_change_estimate(same, 1, &slow, 1, 0.01, 0, &c));
	EXPECT(half(&c.whole) < 0.002 && c.spread == 0);
	REQUIRE(!check_change_estimate(same, 1, &slow, 1, 0.01, 0.005, &c));
	assumed = half(&c.whole); /* 2.81 (0.5 % both sides) x 0.5 % x sqrt(2) */
	EXPECT(assumed > 0.0195 && assumed < 0.0215);
	EXPECT(c.whole.low > 0 && c.typical.low > 0);
	EXPECT(half(&c.exposed) > 0.017 && half(&c.exposed) < 0.0195);
	REQUIRE(!check_change_estimate(same, 8, &slow, 1, 0.01, 0.005, &c));
	seen = half(&c.whole);
	EXPECT(seen < assumed * 0.8 && c.spread < 0.005 && c.spread > 0.003);
	REQUIRE(!check_change_estimate(wild, 8, &slow, 1, 0.01, 0.005, &c));
	EXPECT(half(&c.whole) > seen * 1.5 && c.spread > 0.0105 && c.spread < 0.011);
	/* The same wherever the runs are. */
	seen = c.whole.value;
	REQUIRE(!check_change_estimate(&slow, 1, wild, 8, 0.01, 0.005, &c));
	EXPECT(fabs((1 + c.whole.value) * (1 + seen) - 1) < 1e-9);
	for (size_t i = 0; i < 8; i++) {
		check_series_fini(&same[i]);
		check_series_fini(&wild[i]);
	}
	check_series_fini(&slow);
}

static void test_student(void)
{
	EXPECT(fabs(check_normal(0.05) - 1.95996) < 1e-4);
	EXPECT(fabs(check_normal(0.005) - 2.80703) < 1e-4);
	EXPECT(fabs(check_student(0.05, 10) - 2.22814) < 0.003);
	EXPECT(fabs(check_student(0.005, 12) - 3.42844) < 0.02);
	EXPECT(fabs(check_student(0.01, 8) - 3.35539) < 0.03);
}

static void test_baseline(void)
{
	static struct check_run got[CHECK_RUNS_MAX];
	struct check_run run = made_run();
	struct base_arena mem = { 0 };
	char path[] = "/tmp/gs-baseline-XXXXXX";
	const char *why;
	size_t runs;
	int fd = mkstemp(path);

	REQUIRE(fd >= 0);
	close(fd);
	run.series = alike(50, 1000000, 10);
	run.dataset = "quote \" and \\ and \xff";
	run.hotspot[0] =
		(struct check_hotspot){ ANA_INPUT_FETCH, "/a/b.py", "get<T>", 17, 300000000 };
	run.hotspots = 1;
	run.batches = 41;
	run.outcome[run.outcomes++] =
		(struct check_outcome){ "frames", 7, 2, VIEW_OUTCOME_AT_MOST, VIEW_OUTCOME_GIVEN };
	run.outcome[run.outcomes++] =
		(struct check_outcome){ "samples", 9, 1, VIEW_OUTCOME_EXACT, VIEW_OUTCOME_LOADER };
	REQUIRE(!check_baseline_write(path, &run, 1));
	REQUIRE(!check_baseline_read(path, &mem, got, &runs, &why));
	EXPECT(runs == 1);
	EXPECT(!strcmp(got[0].hardware, run.hardware));
	EXPECT_UINT(got[0].rules, ANA_RULES);
	EXPECT(!memcmp(got[0].classes, run.classes, sizeof(run.classes)));
	EXPECT(got[0].series.count == 50 && got[0].series.width == 1);
	EXPECT(!memcmp(got[0].series.item, run.series.item, 50 * sizeof(struct check_item)));
	EXPECT(got[0].hotspots == 1 && got[0].hotspot[0].line == 17);
	EXPECT(got[0].outcomes == 2 && got[0].outcome[0].num == 7 && got[0].outcome[0].den == 2);
	EXPECT_INT(got[0].batches, 41);
	EXPECT(got[0].outcome[0].bound == VIEW_OUTCOME_AT_MOST && !got[0].outcome[1].bound);
	EXPECT(got[0].hotspot[0].function && !strcmp(got[0].hotspot[0].function, "get<T>"));
	check_run_fini(&got[0]);
	check_run_fini(&run);
	base_arena_fini(&mem);
	unlink(path);
}

static int64_t copy_ms; /* of 10 steps: the batch to the GPU */

/* One GPU, 100 ms a step of which 80 ms are kernels; two workers with one batch ahead each. */
static struct check_prediction predict(int64_t wait_ms, int64_t fetch_ms, int64_t faster_ppm,
				       int64_t ranks)
{
	const int64_t ms = 1000000;
	struct ana_gpu gpu = { .span_ns = 100 * ms, .compute_ns = 80 * ms };
	struct ana_loader_facts l = { .known = ANA_LOADER_PREFETCH,
				      .workers = 2,
				      .prefetch = 1,
				      .trainers = 1,
				      .made = 100,
				      .fetch_median_ns = fetch_ms * ms,
				      .fetch_p95_ns = fetch_ms * ms };
	struct ana_result r = { .gpu = &gpu, .gpus = 1, .loader = &l, .loaders = 1, .steps = 10 };
	struct view_summary s = { .result = &r, .ranks = 1 };
	struct check_scale q = { .faster_ppm = faster_ppm, .ranks = ranks };
	struct check_prediction p;
	const char *why;

	r.classes[ANA_INPUT_H2D] = copy_ms * ms;
	s.loader.has_need = true;
	s.loader.fetch_ns = 2 * fetch_ms * ms; /* a slow first batch doubles the mean */
	s.loader.facts = (struct view_worker_facts){ .workers = 2,
						     .fetch_ns = 2 * fetch_ms * ms,
						     .fetch_cpu_ns = fetch_ms * ms,
						     .step_ns = 100 * ms,
						     .wait_ns = wait_ms * ms,
						     .fed_median_ns = -1,
						     .cores = 2 };
	EXPECT(check_scale_predict(&s, &q, &p, &why));
	return p;
}

static void test_scale(void)
{
	/* It keeps up: 60 ms of fetch over two workers; twice the GPU leaves a step of 60 ms. */
	struct check_prediction p = predict(0, 60, 2000000, 0);

	EXPECT_INT(p.fed_ns, 60000000);
	EXPECT_INT(p.step_ns, 60000000);
	EXPECT_INT(p.starved_ppm, 0);
	EXPECT_INT(p.gain_most_ppm, 666667);
	/* It barely does: 150 ms over two is 75 ms a batch, which is what a step becomes. */
	p = predict(0, 150, 2000000, 0);
	EXPECT_INT(p.step_ns, 75000000);
	EXPECT_INT(p.starved_ppm, 200000);
	EXPECT(p.bound_by_loader);
	/* ... and of 100 batches two were ready: at most 100 / (75 x 0.98). */
	EXPECT_INT(p.gain_most_ppm, 360544);
	/* It starves: its pace is the step, whatever the GPU. */
	p = predict(30, 180, 2000000, 0);
	EXPECT_INT(p.fed_ns, 35000000); /* all 70 ms without the wait were kernels */
	EXPECT_INT(p.step_ns, 100000000);
	/* Three ranks on the cores of one: 80 ms of CPU over two cores, three times. */
	p = predict(0, 80, 1000000, 3);
	EXPECT_INT(p.loader_ns, 120000000);
	EXPECT_INT(p.step_ns, 120000000 + p.cores_ns);
	EXPECT(p.bound_by_cores);
	/* It waits for the hand-over of each batch, while workers rest: that stays, and no more. */
	p = predict(10, 60, 2000000, 0);
	EXPECT_INT(p.fed_ns, 50000000);
	EXPECT_INT(p.step_ns, 60000000);
	EXPECT(!p.bound_by_loader);
	EXPECT_INT(p.starved_ppm, 166667);
	/* No bound below what there is already. */
	p = predict(30, 400, 1000000, 0);
	EXPECT_INT(p.gain_most_ppm, 0);
	/*
	 * 3 ms of a step copy the batch: they starve the GPU as before, and a faster one as long.
	 */
	copy_ms = 30;
	p = predict(10, 60, 2000000, 0);
	EXPECT_INT(p.step_ns, 60000000);
	EXPECT_INT(p.starved_ppm, 216667);
	copy_ms = 0;
}

/* Erlang's tables: one core half used: as long as it is kept; two of two: a third must wait. */
static void test_cores(void)
{
	EXPECT_INT((check_cores_wait_ns(500000, 1) + 500) / 1000, 2000);
	EXPECT_INT((check_cores_wait_ns(1000000, 2) + 500) / 1000, 667);
	EXPECT_INT((check_cores_wait_ns(1500000, 2) + 500) / 1000, 2571);
	EXPECT(check_cores_wait_ns(32000000, 64) < 1000);
	EXPECT_INT(check_cores_wait_ns(2000000, 2), CHECK_CORES_FULL_NS);
	EXPECT_INT(check_cores_wait_ns(INT64_MAX, INT64_MAX), CHECK_CORES_FULL_NS);
	EXPECT_INT(check_cores_wait_ns(1000000, 0), 0);
	EXPECT_INT(check_cores_wait_ns(0, 2), 0);
}

/* With more ranks hand-overs wait for cores, as long as the longer step leaves them taken. */
static void test_crowded(void)
{
	struct check_prediction p = predict(0, 80, 1000000, 2);
	int64_t used = (int64_t)((__int128)160000000 * 1000000 / p.step_ns);
	int64_t more = 4 * (check_cores_wait_ns(used, 2) - check_cores_wait_ns(800000, 2));

	EXPECT_INT(p.step_ns, 100000000 + p.cores_ns);
	EXPECT(p.cores_ns >= more && p.cores_ns <= more + 10);
	EXPECT_INT(p.starved_ppm, base_ppm(p.cores_ns, p.step_ns));
	/* As many ranks, or a faster GPU: nothing is added to what the run itself shows. */
	EXPECT_INT(predict(10, 60, 1000000, 1).cores_ns, 0);
	EXPECT_INT(predict(10, 60, 2000000, 0).cores_ns, 0);
	/* Cores that are all taken: the step grows until they are not. */
	p = predict(0, 80, 1000000, 3);
	EXPECT(p.cores_ns > 0 && p.cores_ns < 100000000);
}

static struct check_run run_of_steps(struct check_item *item, size_t steps, int64_t ns)
{
	struct check_run r = made_run();

	for (size_t i = 0; i < steps; i++)
		item[i] = (struct check_item){ ns + (int64_t)(i % 7), ns / 10 };
	r.series =
		(struct check_series){ .item = item, .count = steps, .width = 1, .steps = steps };
	r.steps = steps;
	return r;
}

/* A regression names what made steps longer: no start-up, and the line of the class that grew. */
static void test_grown(void)
{
	static struct check_item a[100], b[100];
	struct check_run old = run_of_steps(a, 100, 10000000), now = run_of_steps(b, 100, 12000000);
	struct check_options o = { .alpha = 0.01, .min_effect = 0.015, .run_spread = CHECK_SPREAD };
	struct base_arena mem = { 0 };
	struct check_result r;

	now.classes[ANA_EXCLUDED_STARTUP] = 900000000;
	now.classes[ANA_INPUT_PREP] = 200000000;
	now.hotspot[0] = (struct check_hotspot){ ANA_INPUT_FETCH, "/a/x.py", "f", 3, 300000000 };
	now.hotspot[1] = (struct check_hotspot){ ANA_INPUT_PREP, "/a/y.py", "g", 7, 200000000 };
	now.hotspots = 2;
	check_result_init(&r, &mem);
	check_judge_change(&r, &old, 1, &now, 1, &o);
	REQUIRE(r.first && r.first->status == CHECK_FAIL);
	EXPECT_STR(r.first->file, "/a/y.py");
	EXPECT_INT(r.first->line, 7);
	EXPECT(strstr(r.first->message, "most of it is input.prep, y.py:7 g") != NULL);
	base_arena_fini(&mem);
}

/* Of a run of 100 steps; @samples or @batches 0: not known. */
static struct check_run working(struct check_item *item, int64_t ns, int64_t samples,
				int64_t batches)
{
	struct check_run r = run_of_steps(item, 100, ns);

	r.batches = batches ? batches : -1;
	if (samples)
		r.outcome[r.outcomes++] =
			(struct check_outcome){ "samples", samples, 1, VIEW_OUTCOME_EXACT,
						VIEW_OUTCOME_LOADER };
	return r;
}

/* Gradients of two batches make a step longer, and it is not slower for that. */
static void test_other_work(void)
{
	static const struct {
		int64_t ns, samples, batches; /* of the new run */
		enum check_status status;
		double value, per; /* of the change; samples a step, 0: by steps */
		const char *says;
	} rows[] = {
		{ 20000000, 800, 200, CHECK_PASS, 0, 8,
		  "(a step was of 4.00 samples and is of 8.00)" },
		{ 30000000, 800, 200, CHECK_FAIL, 0.5, 8,
		  "slower: 1,000 samples 2500.001 ms -> 3750.0" },
		{ 15000000, 800, 200, CHECK_PASS, -0.25, 8, "faster: 1,000 samples" },
		{ 20000000, 400, 100, CHECK_FAIL, 1, 0, "slower: mean step" },
		{ 20000000, 404, 101, CHECK_FAIL, 1, 0,
		  "slower: mean step" }, /* one without an end */
		{ 20000000, 0, 200, CHECK_NOT_COMPARABLE, 0, 0,
		  "a step is of 1.00 batches before and of 2.00 now" },
		{ 20000000, 0, 100, CHECK_FAIL, 1, 0, "slower: mean step" },
		{ 20000000, 0, 0, CHECK_FAIL, 1, 0, "slower: mean step" },
	};
	static struct check_item a[100], b[100];
	struct check_options o = { .alpha = 0.01, .min_effect = 0.015, .run_spread = CHECK_SPREAD };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct check_run old = working(a, 10000000, 400, 100);
		struct check_run now = working(b, rows[i].ns, rows[i].samples, rows[i].batches);
		struct base_arena mem = { 0 };
		struct check_result r;

		now.classes[ANA_INPUT_PREP] = rows[i].status == CHECK_FAIL ? 2000000000 : 0;
		check_result_init(&r, &mem);
		check_judge_change(&r, &old, 1, &now, 1, &o);
		REQUIRE(r.first);
		EXPECT_INT(r.first->status, rows[i].status);
		EXPECT(strstr(r.first->message, rows[i].says) != NULL);
		if (!strstr(r.first->message, rows[i].says))
			printf("%zu: %s\n", i, r.first->message);
		EXPECT(fabs(r.change.whole.value - rows[i].value) < 0.001);
		EXPECT(fabs(r.new_samples_per_step - rows[i].per) < 0.001);
		EXPECT(!strstr(r.first->message, "GPU time per") ||
		       (strstr(r.first->message, "of GPU time per 1,000 samples") != NULL) ==
			       (rows[i].per > 0));
		base_arena_fini(&mem);
	}
}

/* A value and a limit that differ never read alike; those that are the same do. */
static void test_apart(void)
{
	static const struct {
		const char *budget, *want;
		__int128 num, den;
	} rows[] = {
		{ "usd_per_1k_images<=2.672", "$2.6721", 26721, 10000 },
		{ "usd_per_1k_images<=2.672", "$2.67204", 267204, 100000 },
		{ "usd_per_1k_images<=2.672", "$2.67196", 267196, 100000 },
		{ "usd_per_1k_images<=2.672", "$2.672", 2672, 1000 },
		{ "usd_per_1k_images<=2.672", "$2.672000001", 2672000001, 1000000000 },
		{ "usd_per_1k_images<=2.672", "$2.672000000003", 2672000000003, 1000000000000 },
		{ "usd_per_1k_images<=2.672", "$2.6719999999", 2671999999997, 1000000000000 },
		{ "usd<=0", "$0.00000000001", 1, 100000000000 },
		{ "usd<=0.001", "$0.001000004", 1000004, 1000000000 },
		{ "starved_pct<=33.3333", "33.33333 %", 100, 3 },
		{ "starved_pct>=33.333333333", "33.3333333333 %", 100, 3 },
		{ "step_ms_median<=12.5", "12.50001 ms", 1250001, 100000 },
		{ "usd<=1.23456", "$1.23456", 123456, 100000 },
		{ "usd<=1.23456", "$1.2346", 1234561, 1000000 },
		{ "gpu_hours<=1", "1.0000000003 h", 10000000003, 10000000000 },
	};
	struct base_arena mem = { 0 };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct check_value v = { .num = rows[i].num, .den = rows[i].den, .known = true };
		struct check_budget b;
		const char *why;

		REQUIRE(!check_budget_parse(rows[i].budget, &b, &why));
		EXPECT_STR(check_value_text(&mem, &b, &v), rows[i].want);
	}
	base_arena_fini(&mem);
}

/* A budget names the line of what it is about. */
static void test_place_of_budget(void)
{
	struct check_run run = made_run();
	struct base_arena mem = { 0 };
	struct check_result r;
	struct check_budget b;
	const char *why;

	run.hotspot[0] = (struct check_hotspot){ ANA_HOST_SYNC, "/a/x.py", "f", 3, 300000000 };
	run.hotspot[1] = (struct check_hotspot){ ANA_INPUT_FETCH, "/a/y.py", "g", 7, 200000000 };
	run.hotspots = 2;
	check_result_init(&r, &mem);
	REQUIRE(!check_budget_parse("starved_pct<=1", &b, &why));
	check_judge_budget(&r, &b, &run);
	EXPECT(strstr(r.first->message, "; most of it: input.fetch, y.py:7 g") != NULL);
	check_result_init(&r, &mem);
	REQUIRE(!check_budget_parse("wasted_pct<=1", &b, &why));
	check_judge_budget(&r, &b, &run);
	EXPECT(strstr(r.first->message, "; most of the waste: host.sync, x.py:3 f") != NULL);
	check_result_init(&r, &mem);
	REQUIRE(!check_budget_parse("host.gc_pct>=1", &b, &why));
	check_judge_budget(&r, &b, &run);
	EXPECT(r.first->status == CHECK_FAIL && !r.first->file);
	base_arena_fini(&mem);
}

static uint64_t state = 1;

/*
 * Steps of 100 ms with slow ones in front and now and then, that hang together; later ones are
 * faster by a fifth, as those of a program that warms up for long.
 */
static struct check_series made_up(size_t steps, double slower)
{
	struct check_series s = alike(steps, 1, 0);
	double noise = 0;

	slower *= exp(0.003 * t_gauss(&state));
	for (size_t i = 0; s.item && i < steps; i++) {
		double ms = (i < 400 ? 100 : 80) * slower * exp(noise);

		noise = 0.6 * noise + 0.8 * 0.05 * t_gauss(&state);
		ms *= i < 10 ? 10 - 0.9 * (double)i : t_uniform(&state) < 0.01 ? 3 : 1;
		s.item[i].ns = llround(ms * 1e6);
	}
	s.warmup = check_warmup(s.item, steps);
	s.count -= s.warmup;
	memmove(s.item, s.item + s.warmup, s.count * sizeof(*s.item));
	return s;
}

/* As check has it at a step: all of these steps, and their later half. */
static bool is_slower(const struct check_series *olds, size_t n, const struct check_series *new)
{
	struct check_options o = {
		.alpha = 0.01, .min_effect = 0.015, .run_spread = CHECK_SPREAD, .later_half = true
	};
	struct check_run old[16], now = made_run();
	struct base_arena mem = { 0 };
	struct check_result r;
	bool slower;

	REQUIRE(n <= 16);
	for (size_t i = 0; i < n; i++) {
		old[i] = made_run();
		old[i].series = olds[i];
	}
	now.series = *new;
	check_result_init(&r, &mem);
	check_judge_change(&r, old, n, &now, 1, &o);
	REQUIRE(r.first && r.first->status != CHECK_NOT_COMPARABLE);
	slower = r.first->status == CHECK_FAIL;
	base_arena_fini(&mem);
	return slower;
}

/* From step @at on. */
static struct check_series late(size_t steps, size_t at, double slower)
{
	struct check_series s = made_up(steps, 1);

	for (size_t i = at - s.warmup; i < s.count; i++)
		s.item[i].ns = llround((double)s.item[i].ns * slower);
	return s;
}

/*
 * At step 200 of 1,000 runs alike, and of runs whose steps take 34 % longer, or 40 % from step 100
 * on, against eight.
 */
static void test_at_step(void)
{
	enum {
		PAIRS = 1000,
		STEP = 200,
		OLDS = 8
	};
	int alarms = 0, seen = 0, later = 0;

	for (int i = 0; i < PAIRS; i++) {
		struct check_series olds[OLDS], same = made_up(STEP + 37, 1),
						slow = made_up(STEP, 1.34),
						half = late(STEP, STEP / 2, 1.4);

		for (int k = 0; k < OLDS; k++) {
			olds[k] = made_up(600, 1);
			check_series_cut(&olds[k], STEP);
		}
		check_series_cut(&same, STEP);
		EXPECT_UINT(same.warmup + same.count, STEP);
		alarms += is_slower(olds, OLDS, &same);
		seen += i % 10 == 0 && is_slower(olds, OLDS, &slow);
		later += i % 10 == 0 && is_slower(olds, OLDS, &half);
		for (int k = 0; k < OLDS; k++)
			check_series_fini(&olds[k]);
		check_series_fini(&same);
		check_series_fini(&slow);
		check_series_fini(&half);
	}
	printf("at step %d: %d false alarms in %d, 34 %% seen in %d of %d, 40 %% from step %d on "
	       "in %d\n",
	       STEP, alarms, PAIRS, seen, PAIRS / 10, STEP / 2, later);
	EXPECT(alarms <= PAIRS / 100);
	EXPECT_INT(seen, PAIRS / 10);
	EXPECT_INT(later, PAIRS / 10);
}

/* Of items of several steps those that end within. */
static void test_first_steps(void)
{
	struct check_series s = alike(100, 1000, 0);

	s.width = 16;
	s.warmup = 10;
	s.steps = 1700;
	check_series_cut(&s, 2000);
	EXPECT_UINT(s.count, 100);
	check_series_cut(&s, 200);
	EXPECT_UINT(s.count, 11);
	EXPECT_UINT(s.rest, 14);
	EXPECT_UINT(s.steps, 200);
	check_series_cut(&s, 5);
	EXPECT_UINT(s.count, 0);
	check_series_fini(&s);
}

int main(void)
{
	return RUN(test_other_work, test_grown, test_place_of_budget, test_apart, test_scale,
		   test_cores, test_crowded, test_exact, test_no_budget, test_unknown_value,
		   test_series, test_no_series) ||
	       RUN(test_bounds, test_failed) ||
	       RUN(test_warmup, test_change, test_typical, test_spread, test_student, test_baseline,
		   test_first_steps, test_at_step);
}
