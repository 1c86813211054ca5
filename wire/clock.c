/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clock points to offsets and steps. Offsets are computed in unsigned arithmetic, because stamps
 * come from files.
 */
#include "clock.h"

static uint64_t offset_of(const struct wire_clock_point *p)
{
	return (uint64_t)p->cupti_ns - (uint64_t)p->monotonic_ns;
}

static uint64_t distance(int64_t a, int64_t b)
{
	return a < b ? (uint64_t)b - (uint64_t)a : (uint64_t)a - (uint64_t)b;
}

/* First point at or after @monotonic_ns; n if there is none. */
static size_t first_from(const struct wire_clock_point *p, size_t n, int64_t monotonic_ns)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (p[mid].monotonic_ns < monotonic_ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

int64_t wire_clock_from_monotonic(const struct wire_clock_point *p, size_t n, int64_t monotonic_ns)
{
	size_t at = first_from(p, n, monotonic_ns);

	if (at == n || (at > 0 && distance(p[at - 1].monotonic_ns, monotonic_ns) <=
					  distance(p[at].monotonic_ns, monotonic_ns)))
		at--;
	return (int64_t)((uint64_t)monotonic_ns + offset_of(&p[at]));
}

/*
 * The residual between two points, less what their widths leave open: a slow reading of the
 * clocks is not a step.
 */
static int is_step(const struct wire_clock_point *a, const struct wire_clock_point *b, int64_t step)
{
	uint64_t size = distance(step, 0);
	uint64_t unsure = distance(a->width_ns, 0) / 2 + distance(b->width_ns, 0) / 2;

	return size > unsure && size - unsure > WIRE_CLOCK_STEP_NS;
}

size_t wire_clock_steps(const struct wire_clock_point *p, size_t n, struct wire_clock_step *out,
			size_t room)
{
	size_t i, found = 0;

	for (i = 1; i < n; i++) {
		int64_t step = (int64_t)(offset_of(&p[i]) - offset_of(&p[i - 1]));

		if (!is_step(&p[i - 1], &p[i], step))
			continue;
		if (found < room) {
			out[found].before_ns = p[i - 1].cupti_ns;
			out[found].after_ns = p[i].cupti_ns;
			out[found].step_ns = step;
		}
		found++;
	}
	return found;
}
