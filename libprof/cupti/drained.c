/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Idle: some time has passed between the last end of an operation and the flush, and since the
 * flush before the devices were not busy all the time. The first alone would take a long kernel for
 * a gap.
 */
#include "drained.h"

#include <stdbool.h>

#include "core/clockpoll.h"
#include "exposure.h"
#include "stream/stream.h"

#define QUIET_NS 3000000ll
#define BUSY_PERCENT 90

static struct {
	int64_t at_ns; /* of the judgement before, monotonic */
	uint64_t busy_ns;
} last;

/* Was less than BUSY_PERCENT of the time since the last call busy? */
static bool had_gaps(int64_t now_ns)
{
	uint64_t busy = 0, used = 0, wall = (uint64_t)(now_ns - last.at_ns);
	bool gaps;
	uint32_t i;

	for (i = 0; i < prof_stream_device_count(); i++) {
		busy += prof_stream_device(i)->busy_ns;
		used += prof_stream_device(i)->ops > 0;
	}
	gaps = last.at_ns && (busy - last.busy_ns) * 100 < wall * used * BUSY_PERCENT;
	last.at_ns = now_ns;
	last.busy_ns = busy;
	return gaps;
}

int64_t prof_drained(int64_t flush_ns)
{
	int64_t now = prof_mono_ns(), end = prof_exposure_last_end();

	if (!had_gaps(now) || !end || flush_ns - end < QUIET_NS)
		return 0;
	return now - (prof_now_ns() - end);
}
