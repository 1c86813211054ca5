/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When to look again: often when the GPU has just begun to starve, seldom when that lasts or when
 * all is well, and never for more than its share of a core. A pure function of what it is fed;
 * times are monotonic nanoseconds. One thread.
 *
 * A wrong trigger costs density, not truth: samples carry their time and are joined to the exact
 * gaps afterwards.
 */
#ifndef PROF_SAMPLE_RATE_H
#define PROF_SAMPLE_RATE_H

#include <stdbool.h>
#include <stdint.h>

#define PROF_SAMPLE_RATE_LOOK_NS 50000000ll /* of a thread while nothing is wrong */
#define PROF_SAMPLE_RATE_CENSUS_NS 500000000ll

/*
 * Of a core: while nothing starves; and while something does, or did just now, so that the next
 * wait is looked out for, and while it does 80 ms more, once. That alone is more than the first
 * share grants: counted there, a job that starves for milliseconds again and again was looked at so
 * seldom within a second that its waits were not found.
 */
struct prof_sample_rate_share {
	int64_t time_ns; /* of the window so far */
	int64_t cpu_ns;
	uint32_t divider; /* of the rate, a power of two */
	uint32_t cheap; /* windows in a row that cost little */
	bool least; /* the largest divider was not enough */
	/*
	 * Cheap windows until what was left out is tried again: how dear it is no other look tells.
	 * Doubled each time that it was too dear.
	 */
	uint32_t patience;
};

struct prof_sample_rate {
	int64_t next_look_ns, next_census_ns;
	int64_t alert_ns; /* until then the next wait is looked out for */
	int64_t fed_ns, fed_cpu_ns, passed_ns; /* passed: between the last two turns */
	int64_t saved_ns; /* that may still be spent beyond the second share */
	/* nothing starves; something does, did, or may at the start */
	struct prof_sample_rate_share share[2];
	bool starving, alert; /* at the last turn; alert: which share it counts for */
	uint64_t halvings, leasts;
	uint64_t left_out; /* looks that would have been taken at the full rate */
	uint32_t random;
};

struct prof_sample_rate_input {
	int64_t now_ns;
	int64_t waited_ns; /* for how long a loader wait has been open; 0: none is */
	int64_t drained_ns; /* for how long the device is known to be idle; 0: it is not */
	int64_t cpu_ns; /* of the sampler itself */
};

struct prof_sample_rate_turn {
	bool starving;
	bool look, census; /* now */
	bool least; /* only those who submit are to be looked at */
	uint32_t divider; /* of what else is done while something starves */
	uint32_t period_ns; /* until the next look, what this one stands for */
	int64_t next_ns; /* ask again then */
};

void prof_sample_rate_init(struct prof_sample_rate *p, int64_t now_ns, uint32_t seed);
void prof_sample_rate_turn(struct prof_sample_rate *p, const struct prof_sample_rate_input *in,
			   struct prof_sample_rate_turn *out);

#endif
