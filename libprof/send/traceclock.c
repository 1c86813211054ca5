/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last reading, which the next one is compared with.
 */
#include "traceclock.h"

#include <stdlib.h>
#include <string.h>

#include "cupti/exposure.h"
#include "report.h"
#include "stream/loss.h"

#define STEP_NS 1000000ll

static struct prof_triplet last;
static bool known;

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static bool jumped(const struct prof_triplet *t)
{
	return known && (llabs(prof_clock_step(&last, t)) > STEP_NS ||
			 llabs(prof_clock_shift(&last, t)) > STEP_NS);
}

void prof_traceclock_record(const struct prof_triplet *t)
{
	prof_report_triplet(t);
	if (jumped(t)) {
		prof_loss_span(WIRE__LOSS_REASON__LOSS_CLOCK_STEP,
			       earlier(last.axis_ns, t->axis_ns),
			       -earlier(-last.axis_ns, -t->axis_ns), 0);
		prof_report_clock();
		prof_exposure_stepped(prof_clock_step(&last, t), t->axis_ns);
	}
	last = *t;
	known = true;
}

bool prof_traceclock_foreign(void)
{
	return prof_clock_foreign(&last);
}

static int64_t realtime_to_axis(int64_t realtime_ns)
{
	return realtime_ns - last.realtime_ns + last.axis_ns;
}

int64_t (*prof_traceclock_axis(void))(int64_t realtime_ns)
{
	return !strcmp(prof_clock_name(), "realtime") || !known ? NULL : realtime_to_axis;
}
