/* SPDX-License-Identifier: Apache-2.0 */
/*
 * figures.h - the probe's arithmetic: integers in, integers out. Pure functions, tested with
 * made-up input by test_gpu_probe_figures. Rounds are interleaved: value i of every mode comes from
 * round i, so differences are taken within a round before their median is.
 */
#ifndef PROBE_FIGURES_H
#define PROBE_FIGURES_H

#include <stddef.h>
#include <stdint.h>

#define FIG_UNKNOWN INT64_MIN /* nothing can be said */

/* Of some values; all FIG_UNKNOWN of none. */
struct spread {
	int64_t median, p25, p75, least, most;
	size_t n;
};

/* The value below which `permille` of them lie, nearest rank; sorts. FIG_UNKNOWN of none. */
int64_t fig_quantile(int64_t *values, size_t n, unsigned permille);

/* Does not change values; at most 4096 of them are looked at. */
struct spread fig_spread(const int64_t *values, size_t n);

/* total / count, rounded; FIG_UNKNOWN without a count. */
int64_t fig_per(int64_t total, int64_t count);

/* The spread of mode[i] - base[i]. */
struct spread fig_over(const int64_t *mode, const int64_t *base, size_t n);

/* The spread of (mode[i] - base[i]) / base[i] in thousandths of a percent. */
struct spread fig_ratio(const int64_t *mode, const int64_t *base, size_t n);

/*
 * How much of a cost is left after something was switched off, in permille of what it cost while it
 * was on: medians of the differences to base within rounds. FIG_UNKNOWN while the cost itself is
 * not above the noise, which is how far `again` strays from `once`, the same thing played twice.
 */
int64_t fig_left(const int64_t *left, const int64_t *on, const int64_t *base, const int64_t *once,
		 const int64_t *again, size_t n);

/* A meter held against known duty cycles, both in thousandths of a percent (0 to 100,000). */
struct duty {
	int64_t worst; /* greatest distance from the truth */
	int64_t slope; /* of the line through the points, permille: 1000 follows the truth */
	int64_t base; /* of that line where the truth is 0 */
	size_t n;
};

struct duty fig_duty(const int64_t *truth, const int64_t *meter, size_t n);

/* What a meter means, in words, from the above. */
const char *fig_meaning(const struct duty *d);

/*
 * The spread of the times between changes of a value, asked at times[i]; n of them is changes - 1.
 */
struct spread fig_refresh(const int64_t *times, const int64_t *values, size_t n);

/* The spread of the distances between neighbours. */
struct spread fig_gaps(const int64_t *times, size_t n);

#endif
