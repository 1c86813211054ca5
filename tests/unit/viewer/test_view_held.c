/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What CUPTI 13.1 and later tell of streams that run the program's own functions (LEDGER rule 12),
 * of calls that wait for a full queue, and of code that is loaded at its first launch. All times in
 * microseconds from 1 s.
 */
#include "engine_trace.h"

#define US(n) (INT64_C(1000000000) + (n)*INT64_C(1000))
#define NS(us) ((us)*INT64_C(1000))

#define CLASS(r, name_) ((r).result->gpu[0].classes[ANA_##name_])
#define SURE(r, name_, how_) ((r).result->gpu[0].confidence[ANA_##name_][ANA_##how_])

static void host_function(struct t_proc *p, int64_t start, int64_t end, uint32_t stream)
{
	struct wire_event *e = t_event(p, WIRE_KIND_SYNC, US(start), US(end));

	e->op = WIRE_SYNC_HOST_FUNCTION;
	e->context = 1;
	e->stream = stream;
	e->tid = 99;
}

/* A kernel up to 200, and one from 1000 on that is launched at @launch. */
static void begin(struct t_run *r, struct t_proc *p)
{
	t_run_begin(r);
	t_proc_begin(r, p, 10, 0, US(0));
	t_launch(p, US(90), US(100), US(200), 1);
}

static void end(struct t_run *r, struct t_proc *p, int64_t launch, int64_t returns)
{
	t_call(p, "cudaLaunchKernel", US(launch), US(returns), 9);
	t_kernel(p, US(1000), US(1100), 9);
	t_proc_end(p, US(1100), true);
	t_analyse(r, ANA_WINDOW_DEVICE);
}

static void test_its_own_stream(void)
{
	struct t_run r;
	struct t_proc p;

	begin(&r, &p);
	host_function(&p, 250, 900, 7);
	end(&r, &p, 150, 152);
	EXPECT_INT(CLASS(r, DEVICE_HOST_CODE), NS(650));
	EXPECT_INT(SURE(r, DEVICE_HOST_CODE, HIGH), NS(650));
	EXPECT_INT(CLASS(r, DEVICE_UNKNOWN), NS(150));
	EXPECT_INT(r.result->gpu[0].queued_ns, NS(800));
	t_run_end(&r);
}

/* Of another stream it is the cause only where this one was told to wait. */
static void test_another_stream(bool told)
{
	struct t_run r;
	struct t_proc p;
	struct wire_event *e;

	begin(&r, &p);
	host_function(&p, 250, 900, 13);
	if (told) {
		e = t_event(&p, WIRE_KIND_SYNC, US(140), US(141));
		e->op = WIRE_SYNC_STREAM_WAIT;
		e->context = 1;
		e->stream = 7;
	}
	end(&r, &p, 150, 152);
	EXPECT_INT(CLASS(r, DEVICE_HOST_CODE), told ? NS(650) : 0);
	EXPECT_INT(SURE(r, DEVICE_HOST_CODE, MEDIUM), told ? NS(650) : 0);
	EXPECT_INT(CLASS(r, DEVICE_DEPENDENCY), told ? NS(150) : 0);
	EXPECT_INT(CLASS(r, DEVICE_UNKNOWN), told ? 0 : NS(800));
	t_run_end(&r);
}

static void test_other_streams(void)
{
	test_another_stream(true);
	test_another_stream(false);
}

/* While nothing is submitted it is the host's time, whatever a stream runs. */
static void test_nothing_behind_it(void)
{
	struct t_run r;
	struct t_proc p;

	begin(&r, &p);
	host_function(&p, 250, 900, 7);
	end(&r, &p, 990, 992);
	EXPECT_INT(CLASS(r, DEVICE_HOST_CODE), 0);
	EXPECT_INT(CLASS(r, HOST_UNKNOWN), NS(790));
	t_run_end(&r);
}

/* A synchronisation that no old reader knows is none of the host's. */
static void test_an_op_of_later(void)
{
	struct t_run r;
	struct t_proc p;
	struct wire_event *e;

	t_run_begin(&r);
	t_proc_begin(&r, &p, 10, 0, US(0));
	t_kernel(&p, US(100), US(200), 0);
	e = t_event(&p, WIRE_KIND_SYNC, US(250), US(900));
	e->op = 77;
	e->context = 1;
	t_kernel(&p, US(1000), US(1100), 0);
	t_proc_end(&p, US(1100), true);
	t_analyse(&r, ANA_WINDOW_DEVICE);
	EXPECT_INT(CLASS(r, HOST_SYNC), 0);
	EXPECT_INT(CLASS(r, DEVICE_UNKNOWN), NS(800));
	t_run_end(&r);
}

/* A launch that takes long is the loading of code only as far as that was recorded as such, ... */
static void test_code_that_is_loaded(void)
{
	struct t_run r;
	struct t_proc p;

	begin(&r, &p);
	t_range(&p, WIRE_RANGE_CODE_LOAD, "", US(300), US(700));
	end(&r, &p, 210, 990);
	EXPECT_INT(CLASS(r, HOST_WARMUP), NS(400));
	EXPECT_INT(SURE(r, HOST_WARMUP, HIGH), NS(400));
	EXPECT_INT(CLASS(r, DEVICE_LAUNCH), NS(380));
	t_run_end(&r);
}

/* ... and no loading where it waited for room: what the queue waits for is not known. */
static void test_a_full_queue(void)
{
	struct t_run r;
	struct t_proc p;

	begin(&r, &p);
	t_range(&p, WIRE_RANGE_QUEUE_FULL, "", US(-1200), US(990));
	end(&r, &p, -1300, 995);
	EXPECT_INT(CLASS(r, HOST_WARMUP), NS(5));
	EXPECT_INT(CLASS(r, DEVICE_UNKNOWN), NS(790 + 5));
	t_run_end(&r);
}

/* A thread that waits for one GPU's queue gives another GPU nothing: it waits for a GPU. */
static void test_a_full_queue_of_another_gpu(void)
{
	struct t_run r;
	struct t_proc p;

	begin(&r, &p);
	t_call(&p, "cudaLaunchKernel", US(300), US(900), 0);
	t_range(&p, WIRE_RANGE_QUEUE_FULL, "", US(301), US(899));
	end(&r, &p, 990, 992);
	EXPECT_INT(CLASS(r, HOST_SYNC), NS(598));
	EXPECT_INT(CLASS(r, HOST_DISPATCH), NS(2));
	t_run_end(&r);
}

static const struct t_case cases[] = {
	T_CASE(test_its_own_stream),
	T_CASE(test_other_streams),
	T_CASE(test_nothing_behind_it),
	T_CASE(test_an_op_of_later),
	T_CASE(test_code_that_is_loaded),
	T_CASE(test_a_full_queue),
	T_CASE(test_a_full_queue_of_another_gpu),
};

int main(void)
{
	return t_run(cases, sizeof(cases) / sizeof(cases[0]));
}
