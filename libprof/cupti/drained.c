/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Idle: some time has passed between the last end of an operation and the flush, and since the
 * flush before the devices were not busy all the time. The first alone would take a long kernel for
 * a gap. Flushes are half a second apart: whether one falls into a gap of some milliseconds is
 * chance, so gaps are counted, too.
 */
#include "drained.h"

#include <stdbool.h>

#include "core/clockpoll.h"
#include "exposure.h"
#include "stream/stream.h"

#define BUSY_PERCENT 90
#define OFTEN_PERCENT 10

static struct {
	int64_t at_ns; /* of the judgement before, monotonic */
	uint64_t busy_ns, gaps_ns;
} last;

struct span { /* since the judgement before */
	uint64_t time_ns; /* of all devices that were used */
	uint64_t busy_ns, gaps_ns;
};

static struct span since_last(int64_t now_ns)
{
	uint64_t busy = 0, used = 0, gaps = prof_exposure_long_gaps_ns();
	struct span s = { 0 };
	uint32_t i;

	for (i = 0; i < prof_stream_device_count(); i++) {
		busy += prof_stream_device(i)->busy_ns;
		used += prof_stream_device(i)->ops > 0;
	}
	if (last.at_ns)
		s = (struct span){ .time_ns = (uint64_t)(now_ns - last.at_ns) * used,
				   .busy_ns = busy - last.busy_ns,
				   .gaps_ns = gaps - last.gaps_ns };
	last.at_ns = now_ns;
	last.busy_ns = busy;
	last.gaps_ns = gaps;
	return s;
}

int64_t prof_drained(int64_t flush_ns)
{
	int64_t now = prof_mono_ns(), end = prof_exposure_last_end();
	struct span s = since_last(now);

	if (!end || s.busy_ns * 100 >= s.time_ns * BUSY_PERCENT)
		return 0;
	if (flush_ns - end >= PROF_EXPOSURE_LONG_NS)
		return now - (prof_now_ns() - end);
	return s.gaps_ns * 100 >= s.time_ns * OFTEN_PERCENT ? now : 0;
}
