/* SPDX-License-Identifier: Apache-2.0 */
/*
 * samples.h - what samples of counters say together. One whose stamps are not an interval apart has
 * not counted for the time that they say, and would weigh by it: PyTorch's sampler drops what
 * begins before its session, and an H100's rows read as if each session's first sample did. Such
 * samples are left out of means, and told of. Pure functions.
 */
#ifndef PROBE_SAMPLES_H
#define PROBE_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

#include "pm.h"

/* Of samples, for lack of the right length left out of means. */
struct samples_odd {
	size_t n;
	int64_t ns; /* from stamp to stamp, of all of them */
	int64_t first_ns; /* of the first sample, odd or not */
	size_t dark; /* of the others, those in which no clock ticked (PM_HERTZ) */
};

struct samples_odd samples_odd(const struct pm_sample *list, size_t n, int64_t interval);

/* Mean of a metric in thousandths, by length, of samples as long as the interval, to a half. */
int64_t samples_mean(const struct pm_sample *list, size_t n, int64_t interval, int metric);

/* The same over all samples, by the length that their stamps say. */
int64_t samples_mean_of_all(const struct pm_sample *list, size_t n, int metric);

/* Of a metric that counts. All samples: what the first one counted has happened, too. */
int64_t samples_total(const struct pm_sample *list, size_t n, int metric);

#endif
