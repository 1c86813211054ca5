/* SPDX-License-Identifier: Apache-2.0 */
/* When a run's steps are looked at again, and what a child said of them. */
#include "harness.h"

#include "alert/steps.h"
#include "core/clock.h"

#define S COLL_SECOND_NS

/* Twice as late each time; what was missed meanwhile is not made up for. */
static void test_again(void)
{
	int64_t due = 120 * S, looks = 0;

	EXPECT_INT(coll_steps_next_ns(120 * S, 121 * S), 240 * S);
	EXPECT_INT(coll_steps_next_ns(120 * S, 239 * S), 240 * S);
	EXPECT_INT(coll_steps_next_ns(120 * S, 240 * S), 480 * S);
	EXPECT_INT(coll_steps_next_ns(120 * S, 5000 * S), 7680 * S);
	EXPECT_INT(coll_steps_next_ns(0, 0), 2 * S);
	EXPECT_INT(coll_steps_next_ns(120 * S, INT64_MAX), COLL_STEPS_NEVER);
	EXPECT_INT(coll_steps_next_ns(COLL_STEPS_NEVER, 0), COLL_STEPS_NEVER);
	/* A month is looked at 15 times. */
	for (int64_t held = 0; held < 30 * 86400 * S; held += 60 * S) {
		if (held < due)
			continue;
		due = coll_steps_next_ns(due, held);
		looks++;
	}
	EXPECT_INT(looks, 15);
}

static int64_t slower(const char *text)
{
	return coll_steps_slower_ppm(text, strlen(text));
}

static void test_answer(void)
{
	EXPECT_INT(
		slower("{\"change\":{\"whole\":{\"value\":0.341000,\"low\":0.310000,\"high\":0.4}}}"),
		341000);
	/* Not sure. */
	EXPECT_INT(slower("{\"change\":{\"whole\":{\"value\":0.34,\"low\":-0.01,\"high\":0.4}}}"),
		   0);
	EXPECT_INT(slower("{\"change\":{\"whole\":{\"value\":0.34,\"low\":-0.01},"
			  "\"typical\":{\"value\":0.2,\"low\":0.1},"
			  "\"loader_wait\":{\"value\":0.1,\"low\":0.05}}}"),
		   200000);
	EXPECT_INT(slower("{\"change\":{\"whole\":{\"value\":1e9,\"low\":1}}}"), 0);
	EXPECT_INT(slower("{\"change\":{\"whole\":{\"value\":99999999999999999999,\"low\":1}}}"),
		   0);
	EXPECT_INT(slower("{\"change\":{\"whole\":{\"value\":\"0.5\",\"low\":0.1}}}"), 0);
	EXPECT_INT(slower("{\"change\":7}"), 0);
	EXPECT_INT(slower("{\"change\":{"), 0);
	EXPECT_INT(slower(""), 0);
}

int main(void)
{
	return RUN(test_again, test_answer);
}
