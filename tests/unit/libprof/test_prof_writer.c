/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that the sender hands to the writer: in their order, whole, and on a thread of its own. */
#include "stream/writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "harness.h"

#define CALLS 20000

static struct { /* the sender's; the writer's while it is called */
	long sum, thread;
	int fd;
} state;

static void add(void *number)
{
	state.sum += *(long *)number;
	state.thread = syscall(SYS_gettid);
}

static void open_file(void *unused)
{
	(void)unused;
	state.fd = open("/", O_PATH | O_CLOEXEC);
}

static void close_file(void *unused)
{
	(void)unused;
	close(state.fd);
}

static void test_without(void)
{
	long one = 1;

	prof_writer_call(add, &one);
	EXPECT_INT(state.sum, 1);
	EXPECT_INT(state.thread, syscall(SYS_gettid));
	EXPECT_INT(prof_writer_cpu_ns(), 0);
}

static void test_calls(void)
{
	long i, want = state.sum;

	prof_writer_start();
	prof_writer_start();
	for (i = 0; i < CALLS; i++) {
		prof_writer_call(add, &i);
		want += i;
		if (state.sum != want)
			break;
	}
	EXPECT_INT(i, CALLS);
	EXPECT(state.thread != syscall(SYS_gettid));
	EXPECT(prof_writer_cpu_ns() > 0);
}

/* The lowest number stays free while the writer has files open. */
static void test_descriptors(void)
{
	int lowest = dup(0), again;

	REQUIRE(lowest >= 0);
	close(lowest);
	prof_writer_call(open_file, NULL);
	again = dup(0);
	EXPECT_INT(again, lowest);
	close(again);
	EXPECT(state.fd > 2); /* what is written to stdout or stderr by mistake goes nowhere */
	prof_writer_call(close_file, NULL);
}

int main(void)
{
	return RUN(test_without, test_calls, test_descriptors);
}
