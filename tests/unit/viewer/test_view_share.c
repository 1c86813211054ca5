/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A GPU that several jobs share: the parts of all jobs add up to one.
 */
#include "harness.h"
#include "cost/share.h"
#include "wire/session.pb-c.h"

#define SECOND 1000000000LL
#define POINTS 100

/* A stream on device 0 whose facts name @others from second @from to @to, and 0 elsewhere. */
struct made {
	struct view_stream stream;
	Wire__Hello hello;
	Wire__Device device, *devices[1];
	Wire__Facts facts[POINTS], *list[POINTS];
	Wire__DeviceFacts fact[POINTS], *facts_devices[POINTS][1];
};

static uint8_t uuid[16] = { 0xab, 0xcd };

static void make(struct made *m, uint32_t others, int from, int to)
{
	wire__hello__init(&m->hello);
	wire__device__init(&m->device);
	m->hello.host = (char *)"node1";
	m->device.uuid = (ProtobufCBinaryData){ 16, uuid };
	m->devices[0] = &m->device;
	m->hello.devices = m->devices;
	m->hello.n_devices = 1;
	for (int i = 0; i < POINTS; i++) {
		wire__facts__init(&m->facts[i]);
		wire__device_facts__init(&m->fact[i]);
		m->facts[i].t_ns = i * SECOND;
		m->fact[i].other_processes = i >= from && i < to ? others : 0;
		m->facts_devices[i][0] = &m->fact[i];
		m->facts[i].devices = m->facts_devices[i];
		m->facts[i].n_devices = 1;
		m->list[i] = &m->facts[i];
	}
	m->stream =
		(struct view_stream){ .hello = &m->hello, .facts = m->list, .fact_count = POINTS };
}

static struct ana_gpu gpu = { .host = (char *)"node1",
			      .uuid = (char *)"GPU-abcd0000-0000-0000-0000-000000000000",
			      .held_ns = POINTS * SECOND,
			      .held_end_ns = POINTS * SECOND,
			      .shared_with = 1 };

static void share(const struct view_stream *s, size_t n, uint32_t *num, uint32_t *den)
{
	struct view_trace t = { .stream = (struct view_stream *)s, .streams = n };

	view_share_of(&gpu, &t, num, den);
}

static void test_alone(void)
{
	static struct made m;
	struct view_trace none = { 0 };
	uint32_t num, den;

	make(&m, 0, 0, 0);
	share(&m.stream, 1, &num, &den);
	EXPECT_UINT(num, den);
	view_share_of(&gpu, &none, &num, &den);
	EXPECT_UINT(num, den);
	view_share_of(&gpu, NULL, &num, &den);
	EXPECT_UINT(num, den);
}

static void test_half(void)
{
	static struct made m;
	uint32_t num, den;

	make(&m, 1, 0, POINTS);
	share(&m.stream, 1, &num, &den);
	EXPECT_UINT(num, 1);
	EXPECT_UINT(den, 2);
}

/* A job of two processes beside a job of one: two thirds and one third. */
static void test_processes(void)
{
	static struct made a[2], b;
	struct view_stream two[2];
	uint32_t num, den, num_b, den_b;

	make(&a[0], 2, 0, POINTS); /* the sibling, and the other job's */
	make(&a[1], 2, 0, POINTS);
	make(&b, 2, 0, POINTS);
	two[0] = a[0].stream;
	two[1] = a[1].stream;
	share(two, 2, &num, &den);
	share(&b.stream, 1, &num_b, &den_b);
	EXPECT_UINT(num, 2);
	EXPECT_UINT(den, 3);
	EXPECT_UINT(num_b, 1);
	EXPECT_UINT(den_b, 3);
}

/* Two processes of one run, and nobody else: the whole. */
static void test_siblings(void)
{
	static struct made a[2];
	struct view_stream two[2];
	uint32_t num, den;

	make(&a[0], 1, 0, POINTS);
	make(&a[1], 1, 0, POINTS);
	two[0] = a[0].stream;
	two[1] = a[1].stream;
	share(two, 2, &num, &den);
	EXPECT_UINT(num, den);
}

/* Shared for half of the time only: three quarters. */
static void test_part_of_the_time(void)
{
	static struct made m;
	uint32_t num, den;

	make(&m, 1, 50, POINTS);
	share(&m.stream, 1, &num, &den);
	EXPECT_UINT(num * 1000 / den, 750);
}

int main(void)
{
	return RUN(test_alone, test_half, test_processes, test_siblings, test_part_of_the_time);
}
