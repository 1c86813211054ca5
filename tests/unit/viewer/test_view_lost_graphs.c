/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs that were launched and of which the device recorded nothing (LEDGER rule 0): what a GPU
 * may have done then is not known, and no idle time of the host's. All times in microseconds from
 * 1 s.
 */
#include "engine_trace.h"

#define US(n) (INT64_C(1000000000) + (n)*INT64_C(1000))
#define NS(us) ((us)*INT64_C(1000))

#define CLASS(r, name_) ((r).result->gpu[0].classes[ANA_##name_])

static void wait_for_batch(struct t_proc *p, int64_t start, int64_t end)
{
	t_range(p, WIRE_RANGE_LOADER, "enumerate(DataLoader)#x", US(start), US(end));
}

static void lost_graph(struct t_proc *p, int64_t start, uint64_t corr)
{
	t_call(p, "cudaGraphLaunch", US(start), US(start + 5), corr);
}

/* A kernel up to 200 and one from 1000 on, which is launched at 990; a wait in between. */
static void begin(struct t_run *r, struct t_proc *p)
{
	t_run_begin(r);
	t_proc_begin(r, p, 10, 0, US(0));
	t_launch(p, US(90), US(100), US(200), 1);
	wait_for_batch(p, 300, 600);
}

static void end(struct t_run *r, struct t_proc *p)
{
	t_launch(p, US(990), US(1000), US(1100), 9);
	t_proc_end(p, US(1100), true);
	t_analyse(r, ANA_WINDOW_DEVICE);
}

static void test_in_the_gap(void)
{
	struct t_run r;
	struct t_proc p;

	begin(&r, &p);
	lost_graph(&p, 400, 2);
	end(&r, &p);
	EXPECT_INT(CLASS(r, INPUT_UNKNOWN), NS(100));
	EXPECT_INT(CLASS(r, HOST_UNKNOWN), NS(100));
	EXPECT_INT(CLASS(r, DEVICE_UNKNOWN), NS(590));
	EXPECT_INT(CLASS(r, DEVICE_TURNAROUND), NS(10));
	EXPECT_INT(r.result->gpu[0].empty_ns, NS(200));
	EXPECT_INT(r.result->gpu[0].queued_ns, NS(600));
	EXPECT_UINT(r.result->quality.graphs_lost, 1);
	t_run_end(&r);
}

static void test_before_the_gap(void)
{
	struct t_run r;
	struct t_proc p;

	begin(&r, &p);
	lost_graph(&p, 150, 2);
	end(&r, &p);
	EXPECT_INT(CLASS(r, DEVICE_UNKNOWN), NS(790));
	EXPECT_INT(CLASS(r, INPUT_UNKNOWN) + CLASS(r, HOST_UNKNOWN), 0);
	t_run_end(&r);
}

/* Its operation comes on another stream, late: nothing was lost. */
static void test_one_that_was_recorded(void)
{
	struct t_run r;
	struct t_proc p;
	struct wire_event *e;

	begin(&r, &p);
	lost_graph(&p, 150, 2);
	e = t_event(&p, WIRE_KIND_OP, US(205), US(250));
	e->op = WIRE_OP_GRAPH;
	e->context = 1;
	e->stream = 13;
	e->corr = 2;
	end(&r, &p);
	EXPECT_INT(CLASS(r, INPUT_UNKNOWN), NS(300));
	EXPECT_INT(CLASS(r, DEVICE_UNKNOWN), 0);
	EXPECT_UINT(r.result->quality.graphs_lost, 0);
	t_run_end(&r);
}

/* A kernel that was launched behind it has run; a copy, on a stream of its own, tells nothing. */
static void test_over_by_then(void)
{
	struct t_run r;
	struct t_proc p;
	struct wire_event *e;

	begin(&r, &p);
	lost_graph(&p, 150, 2);
	t_call(&p, "cudaMemcpyAsync", US(160), US(165), 3);
	e = t_event(&p, WIRE_KIND_OP, US(220), US(230));
	e->op = WIRE_OP_COPY;
	e->copy = WIRE_COPY_H2D;
	e->context = 1;
	e->stream = 13;
	e->corr = 3;
	t_launch(&p, US(610), US(620), US(700), 4);
	end(&r, &p);
	EXPECT_INT(CLASS(r, DEVICE_UNKNOWN), NS(610 - 230));
	EXPECT_INT(CLASS(r, HOST_UNKNOWN), NS(290));
	EXPECT_INT(CLASS(r, INPUT_UNKNOWN), 0);
	t_run_end(&r);
}

static void test_loss_goes_before(void)
{
	struct t_run r;
	struct t_proc p;
	Wire__LossSpan span = WIRE__LOSS_SPAN__INIT;

	begin(&r, &p);
	lost_graph(&p, 250, 2);
	span.reason = WIRE__LOSS_REASON__LOSS_SUSPENDED;
	span.start_ns = US(500);
	span.end_ns = US(700);
	t_loss(&p, span);
	end(&r, &p);
	EXPECT_INT(CLASS(r, EXCLUDED_UNOBSERVED), NS(200));
	EXPECT_INT(CLASS(r, DEVICE_UNKNOWN), NS(990 - 250 - 200));
	t_run_end(&r);
}

/* The time before the first operation: a wait behind a launch proves nothing. */
static void test_in_the_lead(void)
{
	struct t_run r;
	struct t_proc p;

	t_run_begin(&r);
	t_proc_begin(&r, &p, 10, 0, US(0));
	wait_for_batch(&p, 10, 50);
	lost_graph(&p, 60, 1);
	wait_for_batch(&p, 70, 500);
	t_launch(&p, US(590), US(600), US(700), 2);
	t_proc_end(&p, US(700), true);
	t_analyse(&r, ANA_WINDOW_JOB);
	EXPECT_INT(CLASS(r, INPUT_UNKNOWN), NS(40));
	EXPECT_INT(CLASS(r, EXCLUDED_STARTUP), NS(560));
	t_run_end(&r);
}

/* So many that those without operations are given up while the run is read. */
static void test_very_many(void)
{
	struct t_run r;
	struct t_proc p;
	int64_t i, at;

	t_run_begin(&r);
	t_proc_begin(&r, &p, 10, 0, US(0));
	for (i = 0; i < 40000; i++) {
		at = i * 200;
		t_launch(&p, US(at + 10), US(at + 15), US(at + 50), (uint64_t)(2 * i + 1));
		lost_graph(&p, at + 20, (uint64_t)(2 * i + 2));
		if (i % 4000 == 3999)
			t_flush(&p);
	}
	t_proc_end(&p, US(at + 50), true);
	t_analyse(&r, ANA_WINDOW_DEVICE);
	EXPECT_UINT(r.result->quality.graphs_lost, 40000 - 1); /* nobody asked for the last one */
	EXPECT_INT(CLASS(r, DEVICE_UNKNOWN), NS(39999 * 160));
	EXPECT_INT(CLASS(r, HOST_UNKNOWN) + CLASS(r, HOST_DISPATCH), 0);
	t_run_end(&r);
}

static const struct t_case cases[] = {
	T_CASE(test_in_the_gap),
	T_CASE(test_before_the_gap),
	T_CASE(test_one_that_was_recorded),
	T_CASE(test_over_by_then),
	T_CASE(test_loss_goes_before),
	T_CASE(test_in_the_lead),
	T_CASE(test_very_many),
};

int main(void)
{
	return t_run(cases, sizeof(cases) / sizeof(cases[0]));
}
