/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Has the device run dry? By operations that are made up, up to now.
 */
#include "cupti/drained.h"

#include <unistd.h>

#include "core/clockpoll.h"
#include "cupti/exposure.h"
#include "harness.h"
#include "stream/stream.h"
#include "wire/event.h"

#define MS 1000000ll
#define SPAN_NS (60 * MS)

static void operate(int64_t start_ns, int64_t end_ns)
{
	const struct wire_event ev = { .kind = WIRE_KIND_OP,
				       .start_ns = start_ns,
				       .end_ns = end_ns };

	prof_stream_add(&ev);
	prof_exposure_add(&ev);
}

/*
 * A span of operations, each @busy_ns of @each_ns, the last of which ends @before_ns ago. What is
 * said of it, as how long ago; -1: nothing.
 */
static int64_t dry_for(int64_t busy_ns, int64_t each_ns, int64_t before_ns)
{
	int64_t begin = prof_now_ns(), end, t, since;

	prof_drained(begin);
	usleep(SPAN_NS / 1000);
	end = prof_now_ns() - before_ns;
	for (t = begin + (end - begin) % each_ns; t + each_ns <= end; t += each_ns)
		operate(t + each_ns - busy_ns, t + each_ns);
	prof_stream_blocks(); /* which count how long the device was busy */
	since = prof_drained(end + before_ns);
	return since ? (prof_mono_ns() - since) / MS : -1;
}

static void test_drained(void)
{
	static const uint8_t id[WIRE_STREAM_ID_BYTES] = { 1 };

	REQUIRE(!prof_stream_open(id));
	EXPECT_INT(prof_drained(prof_now_ns()), 0); /* nothing was ever used */
	operate(prof_now_ns() - MS, prof_now_ns());
	prof_stream_blocks();
	EXPECT_INT(dry_for(10 * MS, 10 * MS, 0), -1); /* busy all the time */
	EXPECT(dry_for(MS, 10 * MS, 20 * MS) >= 20); /* and idle since the last one */
	EXPECT(dry_for(MS, 10 * MS, 0) >= 0); /* dry again and again, not when it was flushed */
	EXPECT_INT(dry_for(MS, 2 * MS, 0), -1); /* idle for half of it, never for long */
	EXPECT_INT(dry_for(97 * MS / 10, 10 * MS, 0), -1);
}

int main(void)
{
	return RUN(test_drained);
}
