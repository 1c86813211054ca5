/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In a forked child looks are stamped with CLOCK_REALTIME, whatever the parent's trace goes by: the
 * parent converts them, once.
 */
#include "atfork.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/clockpoll.h"
#include "sample/thread_sample.h"

#include "harness.h"

#define NEAR_NS 5000000000ll

static int64_t clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static int raw_timestamp(uint64_t *stamp) /* CUPTI's on WSL */
{
	*stamp = (uint64_t)clock_ns(CLOCK_MONOTONIC_RAW);
	return 0;
}

/* How far the stamp of a look at this thread is from a clock. */
static int64_t look_from(clockid_t id)
{
	static struct prof_thread_sample look;
	struct prof_target *t = NULL;

	if (prof_target_open(&t, 0) ||
	    prof_thread_sample_take(t, getpid(), PROF_SAMPLE_WAIT, &look))
		return INT64_MAX;
	prof_target_close(t);
	return llabs(look.s.t_ns - clock_ns(id));
}

static void test_stamps(void)
{
	int status;
	pid_t pid;

	if (llabs(clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC_RAW)) < 3 * NEAR_NS) {
		printf("     (the clocks of this machine are the same)\n");
		return;
	}
	prof_atfork_watch();
	prof_clock_settle(raw_timestamp);
	EXPECT_STR(prof_clock_name(), "monotonic_raw");
	EXPECT(look_from(CLOCK_MONOTONIC_RAW) < NEAR_NS);
	pid = fork();
	REQUIRE(pid >= 0);
	if (!pid)
		_exit(look_from(CLOCK_REALTIME) >= NEAR_NS);
	REQUIRE(waitpid(pid, &status, 0) == pid);
	EXPECT_INT(status, 0);
	EXPECT(look_from(CLOCK_MONOTONIC_RAW) < NEAR_NS); /* the parent's stays as it was */
}

int main(void)
{
	return RUN(test_stamps);
}
