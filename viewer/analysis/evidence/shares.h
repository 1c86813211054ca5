/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a thread spent an interval, from its samples: on a CPU, waiting for one, blocked. A sample
 * stands for the time until the next one, the first also for what lies before it. Where the first
 * and the last sample are 10 ms or more apart and the kernel counted, run and delay are exact
 * between them and scaled to the interval, and samples only tell in what the thread was blocked;
 * else the states of the samples tell all. Pure.
 */
#ifndef ANALYSIS_SHARES_H
#define ANALYSIS_SHARES_H

#include "evidence.h"

struct ana_shares {
	size_t first, end; /* the samples in the interval */
	int64_t start, stop; /* the interval */
	int64_t run, delay, blocked; /* ns; they sum to at most the interval */
	int64_t running, waiting; /* what samples of running and of blocked threads stand for */
};

/* False: no sample of the thread lies in [a, b). @s may be NULL. */
bool ana_shares_of(const struct ana_thread_samples *s, int64_t a, int64_t b,
		   struct ana_shares *out);

/* For so long does sample @i of the interval stand. */
int64_t ana_shares_weight(const struct ana_thread_samples *s, const struct ana_shares *h, size_t i);

/* Its part of run or blocked, whichever it shows; rounded down. */
int64_t ana_shares_part(const struct ana_thread_samples *s, const struct ana_shares *h, size_t i);

/*
 * Time on a CPU and time waiting for one between two samples of a thread, as the kernel counted;
 * all of it where both show it running. False: it did not count.
 */
bool ana_shares_between(const struct wire_sample *a, const struct wire_sample *b, int64_t *run,
			int64_t *delay);

static inline bool ana_sample_runs(const struct wire_sample *s)
{
	return s->state == WIRE_STATE_RUNNING;
}

/* a * b / c of numbers that are not negative, rounded down; 0 if c is 0. */
static inline int64_t ana_scale(int64_t a, int64_t b, int64_t c)
{
	return c > 0 ? (int64_t)((__int128)a * b / c) : 0;
}

#endif
