/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace's clock. CUPTI stamps records with CLOCK_REALTIME on Linux and with MONOTONIC_RAW on
 * WSL; ranges, samples and pulses must use the same one. Triplets of (monotonic, CUPTI, monotonic)
 * taken at each flush tell when that clock jumped.
 */
#ifndef PROF_CLOCKPOLL_H
#define PROF_CLOCKPOLL_H

#include <stdbool.h>
#include <stdint.h>

struct prof_triplet {
	int64_t before_ns, cupti_ns, after_ns; /* monotonic, CUPTI, monotonic */
	int64_t axis_ns; /* the trace's clock at that moment: CUPTI's, unless a client changed it */
	int64_t realtime_ns, boottime_ns;
};

int64_t prof_mono_ns(void);
int64_t prof_realtime_ns(void);
int64_t prof_cpu_ns(void); /* CPU time of the calling thread */
int64_t prof_process_cpu_ns(void);

/*
 * Finds out which clock CUPTI uses; get_timestamp may be NULL (no CUPTI: REALTIME). Once, at arm.
 */
void prof_clock_settle(int (*get_timestamp)(uint64_t *));

/*
 * In a forked child: REALTIME until it settles for itself. Loader workers stamp with that clock,
 * whether forked or spawned, and the trainer puts their rows on its own.
 */
void prof_clock_forked(void);

/* Now, on the trace's clock. Any thread, also before the arm. */
int64_t prof_now_ns(void);
const char *prof_clock_name(void); /* realtime, monotonic_raw */

/* The tightest of several triplets. get_timestamp may be NULL: then the trace's clock is read. */
void prof_clock_sample(int (*get_timestamp)(uint64_t *), struct prof_triplet *t);

/* How far the trace's clock moved against the monotonic one between two triplets. */
int64_t prof_clock_step(const struct prof_triplet *a, const struct prof_triplet *b);

/* How far CUPTI's clock moved against the trace's, if both are the same clock; else 0. */
int64_t prof_clock_shift(const struct prof_triplet *a, const struct prof_triplet *b);

/*
 * CUPTI's stamps are not on the trace's clock, but more than a second away: another client has
 * registered a clock of its own, and records carry that one's stamps (timebase.h).
 */
bool prof_clock_foreign(const struct prof_triplet *t);

#endif
