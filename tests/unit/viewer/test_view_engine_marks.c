/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What libprof's hooks mark, and calls within it.
 */
#include "engine_trace.h"

#define US(n) (INT64_C(1000000000) + (n)*INT64_C(1000))
#define NS(us) ((us)*INT64_C(1000))

#define CLASS(r, gpu_, name_) ((r).result->gpu[gpu_].classes[ANA_##name_])

/* What torch.save calls is part of it: copies to pageable memory go on after the device's part. */
static void test_calls_of_a_save(void)
{
	struct t_run r;
	struct t_proc p;

	t_run_begin(&r);
	t_proc_begin(&r, &p, 10, 0, US(0));
	t_launch(&p, US(90), US(100), US(200), 1);
	t_range(&p, WIRE_RANGE_CHECKPOINT, "torch.save", US(250), US(500));
	t_call(&p, "cudaMemcpyAsync", US(300), US(400), 0);
	t_call(&p, "cudaStreamSynchronize", US(450), US(520), 0);
	t_range(&p, WIRE_RANGE_GC, "gc", US(600), US(700));
	t_call(&p, "cudaFree", US(620), US(640), 0);
	t_launch(&p, US(800), US(805), US(900), 2);
	t_proc_end(&p, US(1000), true);
	t_analyse(&r, ANA_WINDOW_JOB);
	EXPECT_INT(CLASS(r, 0, HOST_CHECKPOINT), NS(250));
	EXPECT_INT(CLASS(r, 0, HOST_SYNC), NS(20)); /* behind its end */
	EXPECT_INT(CLASS(r, 0, HOST_DISPATCH), 0);
	EXPECT_INT(CLASS(r, 0, HOST_ALLOC), NS(20)); /* of a collection calls count */
	EXPECT_INT(CLASS(r, 0, HOST_GC), NS(80));
	t_run_end(&r);
}

/*
 * A collection within a loader wait of the same thread is what the batch waits for, there; one of
 * another thread, and what else is marked there, is the wait's.
 */
static void test_collects_in_a_wait(void)
{
	struct t_run r;
	struct t_proc p;

	t_run_begin(&r);
	t_proc_begin(&r, &p, 10, 0, US(0));
	t_launch(&p, US(90), US(100), US(200), 1);
	t_range(&p, WIRE_RANGE_LOADER, "next", US(250), US(700));
	t_range(&p, WIRE_RANGE_GC, "gc", US(300), US(450));
	t_range(&p, WIRE_RANGE_ITER, "iter", US(460), US(480));
	t_range(&p, WIRE_RANGE_GC, "gc", US(680), US(720)); /* and goes on behind it */
	t_range(&p, WIRE_RANGE_GC, "gc", US(500), US(600))->tid = 2;
	t_launch(&p, US(800), US(805), US(900), 2);
	t_proc_end(&p, US(1000), true);
	t_analyse(&r, ANA_WINDOW_JOB);
	EXPECT_INT(CLASS(r, 0, HOST_GC), NS(150 + 40));
	EXPECT_INT(CLASS(r, 0, INPUT_UNKNOWN), NS(430 - 150));
	t_run_end(&r);
}

int main(void)
{
	return RUN(test_calls_of_a_save, test_collects_in_a_wait);
}
