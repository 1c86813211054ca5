/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples and batches as lines: every field at its place, stacks in one line, and nothing that a
 * hostile string could do to the columns or to the terminal.
 */
#include "harness.h"

#include "trace/dump_rows.h"

static char *text;
static size_t len;
static FILE *out;

static void begin(void)
{
	REQUIRE(out = open_memstream(&text, &len));
}

static void expect(const char *want)
{
	fclose(out);
	EXPECT_STR(text, want);
	free(text);
}

static void test_stacks(void)
{
	begin();
	view_put_stack(out, "load\t/a b/data.py\t12\nstep\ttrain.py\t3");
	expect("load /a b/data.py:12 < step train.py:3");
	begin();
	view_put_native(out, "/lib/libc.so.6\t9a6f1\tdeadbeef\n<python>\nx.so\t10\t");
	expect("/lib/libc.so.6+9a6f1@deadbeef < <python> < x.so+10");
	begin();
	view_put_stack(out, "");
	expect("");
}

/* Frames with too few and too many parts, and what a terminal must not get. */
static void test_hostile(void)
{
	begin();
	view_put_stack(out, "\n\na\tb\nc\t\t7\nd\te\t8\t9\n");
	expect(" <  < a b < c:7 < d e:8:9"); /* a fourth part: what the function is */
	begin();
	view_put_stack(out, "\t\t\x1b[2J\t\r\nf\x80");
	expect(":?[2J:? < f?");
}

static struct view_stream *stream(void)
{
	static const char *const names[] = { "load\td.py\t12", "libc.so\t9a\tbe", "/data/1\t2.jpg",
					     "ext4",	       "workers=8 pin=1", "?o7f !p12" };
	static struct view_stream s;
	size_t i;

	if (s.strings)
		return &s;
	s.strings = wire_strtab_new();
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		wire_strtab_intern(s.strings, names[i], strlen(names[i]));
	return &s;
}

static void test_sample(void)
{
	struct wire_sample r = {
		.t_ns = 1700000000000000000,
		.cpu_ns = 5,
		.delay_ns = 6,
		.throttled_ns = 7,
		.period_ns = 20000000,
		.pid = 10,
		.tid = 11,
		.stack = 1,
		.native = 2,
		.target = 3,
		.fs = 4,
		.links = 6,
		.rchar_bytes = 8,
		.syscall = 1,
		.role = WIRE_ROLE_WORKER,
		.state = WIRE_STATE_DISK,
		.wait = WIRE_WAIT_READ,
		.flags = WIRE_SAMPLE_FL_STEADY | WIRE_SAMPLE_FL_GC,
	};

	begin();
	view_put_sample(out, "ab", stream(), &r);
	expect("ab\tsample\t1700000000000000000\t20000000\t10.11\tworker\tdisk\tread\t0\t5\t6\t7\t"
	       "steady,gc\t/data/1?2.jpg\text4\tload d.py:12\tlibc.so+9a@be\t?o7f !p12\t8\n");
	r = (struct wire_sample){ .t_ns = -1,
				  .stack = 99,
				  .syscall = WIRE_SYSCALL_NONE,
				  .role = 250,
				  .state = 6,
				  .wait = 16,
				  .flags = 128 };
	begin();
	view_put_sample(out, "ab", stream(), &r);
	expect("ab\tsample\t-1\t0\t0.0\t250\t6\t16\tnone\t0\t0\t0\t7\t\t\t\t\t\t0\n");
	r = (struct wire_sample){ 0 };
	begin();
	view_put_sample(out, "ab", stream(), &r);
	expect("ab\tsample\t0\t0\t0.0\tother\tunknown\tnone\t\t0\t0\t0\t\t\t\t\t\t\t0\n");
}

static void test_batch(void)
{
	struct wire_batch r = {
		.start_ns = 100,
		.end_ns = 350,
		.batch = 17,
		.cpu_ns = 1,
		.delay_ns = 2,
		.rchar_bytes = 3,
		.read_bytes = 4,
		.major_faults = 5,
		.pid = 10,
		.tid = 11,
		.loader = 1,
		.worker = 8,
		.samples = 64,
		.text = 5,
		.what = WIRE_BATCH_FETCH,
	};

	begin();
	view_put_batch(out, "ab", stream(), &r);
	expect("ab\tbatch-fetch\t100\t250\t10.11\t1\t7\t17\t64\t1\t2\t3\t4\t5\tworkers=8 pin=1\n");
	r = (struct wire_batch){ .start_ns = INT64_MAX, .end_ns = INT64_MIN, .what = 77 };
	begin();
	view_put_batch(out, "ab", stream(), &r);
	expect("ab\tbatch-77\t9223372036854775807\t1\t0.0\t0\t\t0\t0\t0\t0\t0\t0\t0\t\n");
}

int main(void)
{
	return RUN(test_stacks, test_hostile, test_sample, test_batch);
}
