/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ledger's axis. CUPTI's clock against the monotonic one, as triplets taken at each flush:
 * they detect steps and carry other stamps onto the axis, and never change a record's stamp.
 */
#ifndef WIRE_CLOCK_H
#define WIRE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

#define WIRE_CLOCK_STEP_NS 1000000 /* a residual jump beyond this begins a new segment */

struct wire_clock_point {
	int64_t monotonic_ns; /* middle of before and after */
	int64_t cupti_ns;
	int64_t realtime_ns;
	int64_t width_ns; /* after - before: how sure we are */
};

struct wire_clock_step {
	int64_t before_ns; /* CUPTI stamp of the last point before the step */
	int64_t after_ns; /* CUPTI stamp of the first point after it */
	int64_t step_ns; /* how far the axis moved against the monotonic clock */
};

/* Monotonic to CUPTI time by the nearest of @n points (n >= 1), which are in monotonic order. */
int64_t wire_clock_from_monotonic(const struct wire_clock_point *p, size_t n, int64_t monotonic_ns);

/* Steps between neighbouring points; returns how many, fills at most @room. */
size_t wire_clock_steps(const struct wire_clock_point *p, size_t n, struct wire_clock_step *out,
			size_t room);

#endif
