/* SPDX-License-Identifier: Apache-2.0 */
/* Which communicator a launch was for, by NCCL's ranges around it: calls, groups, what is lost. */
#include "harness.h"

#include "analysis/walk/communicators.h"
#include "engine_trace.h"

#define US(us) ((int64_t)(us)*1000)
#define A UINT64_C(0xdead000000000001) /* communicators */
#define B UINT64_C(0xdead000000000002)

struct told {
	struct t_run r;
	struct t_proc p;
	struct wire_scratch *scratch;
	struct ana_names names;
	struct ana_communicators *c;
};

static void begin(struct told *t)
{
	t_run_begin(&t->r);
	t_proc_begin(&t->r, &t->p, 10, 0, US(0));
}

static void call(struct told *t, const char *name, int64_t start, int64_t end, uint64_t comm)
{
	t_range(&t->p, WIRE_RANGE_USER, name, start, end)->bytes = comm;
}

static void ask(struct told *t)
{
	const struct view_stream *s;
	const char *why;

	t_proc_end(&t->p, US(100000000), true);
	REQUIRE(!view_trace_open(&t->r.trace, t->r.dir, &why));
	s = &t->r.trace->stream[0];
	t->scratch = wire_scratch_new();
	REQUIRE(!ana_names_init(&t->names, s->strings));
	REQUIRE(!ana_communicators_new(&t->c, t->r.trace, s, &t->names, t->scratch));
}

static void end(struct told *t)
{
	ana_communicators_free(t->c);
	ana_names_fini(&t->names);
	wire_scratch_free(t->scratch);
	t_run_end(&t->r);
}

static void test_calls(void)
{
	struct told t;

	begin(&t);
	call(&t, "ncclAllReduce", US(10), US(20), A);
	call(&t, "ncclAllGather", US(30), US(40), B);
	call(&t, "ncclAllReduce", US(50), US(60), 0); /* as NCCL was before 2.25.1 */
	call(&t, "forward", US(60), US(90), 0);
	call(&t, "ncclAllReduce", US(100), US(110), A);
	t_range(&t.p, WIRE_RANGE_OPERATOR, "ncclAllReduce", US(120), US(130))->bytes = B;
	ask(&t);
	EXPECT(t.c != NULL);
	EXPECT_UINT(ana_communicator_of(t.c, 1, US(5)), 0);
	EXPECT_UINT(ana_communicator_of(t.c, 1, US(35)), B);
	EXPECT_UINT(ana_communicator_of(t.c, 1, US(15)), A); /* a kernel of another stream */
	EXPECT_UINT(ana_communicator_of(t.c, 1, US(10)), A);
	EXPECT_UINT(ana_communicator_of(t.c, 1, US(20)), A);
	EXPECT_UINT(ana_communicator_of(t.c, 1, US(25)), 0);
	EXPECT_UINT(ana_communicator_of(t.c, 1, US(55)), 0);
	EXPECT_UINT(ana_communicator_of(t.c, 2, US(105)), 0); /* another thread's */
	EXPECT_UINT(ana_communicator_of(t.c, 1, US(105)), A);
	EXPECT_UINT(ana_communicator_of(t.c, 1, US(125)), 0);
	end(&t);
}

static void test_groups(void)
{
	struct told t;

	begin(&t);
	call(&t, "ncclGroupStart", US(10), US(11), 0);
	call(&t, "ncclAllReduce", US(12), US(13), A);
	call(&t, "ncclAllReduce", US(14), US(15), A);
	call(&t, "ncclGroupEnd", US(16), US(30), 0);
	t_range(&t.p, WIRE_RANGE_USER, "ncclGroupEnd", US(30), US(40))->flags = WIRE_EV_FL_CONT;
	call(&t, "ncclGroupStart", US(50), US(51), 0); /* of two */
	call(&t, "ncclAllReduce", US(52), US(53), A);
	call(&t, "ncclAllReduce", US(54), US(55), B);
	call(&t, "ncclAllReduce", US(56), US(57), B);
	call(&t, "ncclGroupEnd", US(58), US(70), 0);
	call(&t, "ncclGroupStart", US(80), US(81), 0); /* one in another */
	call(&t, "ncclGroupStart", US(82), US(83), 0);
	call(&t, "ncclBroadcast", US(84), US(85), B);
	call(&t, "ncclGroupEnd", US(86), US(87), 0);
	call(&t, "ncclGroupEnd", US(88), US(99), 0);
	call(&t, "ncclGroupEnd", US(100), US(110), 0); /* its beginning was lost */
	call(&t, "ncclGroupStart", US(120), US(121), 0); /* of nothing */
	call(&t, "ncclGroupEnd", US(122), US(130), 0);
	ask(&t);
	EXPECT_UINT(ana_communicator_of(t.c, 1, US(12)), 0); /* nothing is launched in it */
	EXPECT_UINT(ana_communicator_of(t.c, 1, US(20)), A);
	EXPECT_UINT(ana_communicator_of(t.c, 1, US(35)), A);
	EXPECT_UINT(ana_communicator_of(t.c, 1, US(60)), 0);
	EXPECT_UINT(ana_communicator_of(t.c, 1, US(86)), 0);
	EXPECT_UINT(ana_communicator_of(t.c, 1, US(90)), B);
	EXPECT_UINT(ana_communicator_of(t.c, 1, US(105)), 0);
	EXPECT_UINT(ana_communicator_of(t.c, 1, US(125)), 0);
	end(&t);
}

/* Of so many calls the last are known, and no more of them are held than is said. */
static void test_many(void)
{
	const int64_t n = 3 * ANA_COMM_CALLS_MAX, first = n - ANA_COMM_CALLS_MAX;
	struct told t;
	int64_t i;

	begin(&t);
	for (i = 0; i < n; i++)
		call(&t, "ncclAllReduce", US(10 * i), US(10 * i + 5), A + (uint64_t)i);
	ask(&t);
	EXPECT_UINT(ana_communicator_of(t.c, 1, US(10 * n)), 0);
	EXPECT_UINT(ana_communicator_of(t.c, 1, US(10 * (first - 1))), 0);
	for (i = first; i < n; i++)
		EXPECT_UINT(ana_communicator_of(t.c, 1, US(10 * i + 2)), A + (uint64_t)i);
	EXPECT_UINT(t.c->held, ANA_COMM_CALLS_MAX);
	end(&t);
}

static void test_many_threads(void)
{
	const uint32_t threads = ANA_COMM_CALLS_ALL / 8 + 1000;
	struct told t;
	uint32_t i;

	begin(&t);
	for (i = 0; i < threads; i++) {
		struct wire_event *e =
			t_range(&t.p, WIRE_RANGE_USER, "ncclAllReduce", US(10 * i), US(10 * i + 5));

		e->bytes = A;
		e->tid = i;
	}
	ask(&t);
	EXPECT_UINT(ana_communicator_of(t.c, threads - 1, US(10 * (threads - 1))), 0);
	EXPECT_UINT(ana_communicator_of(t.c, 77, US(770)), A);
	EXPECT_UINT(t.c->held, ANA_COMM_CALLS_ALL);
	end(&t);
}

/* Kernels' names and others that begin like a call's are none: nothing is read then. */
static void test_no_calls(void)
{
	struct told t;

	begin(&t);
	call(&t, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", US(10), US(20), A);
	call(&t, "ncclKernel", US(30), US(40), 0);
	call(&t, "nccl:all_reduce", US(50), US(60), 0);
	ask(&t);
	EXPECT(t.c && !ana_communicator_of(t.c, 1, US(35)));
	end(&t);

	begin(&t);
	call(&t, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", US(10), US(20), A);
	call(&t, "nccl:all_reduce", US(50), US(60), 0);
	ask(&t);
	EXPECT(!t.c);
	EXPECT_UINT(ana_communicator_of(t.c, 1, US(15)), 0);
	end(&t);
}

int main(void)
{
	return RUN(test_calls, test_groups, test_many, test_many_threads, test_no_calls);
}
