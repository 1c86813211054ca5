/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows of full recording while the governor keeps kernels off, where switching them off ends
 * their cost: two seconds at a moment drawn at random in each stratum of time (wire/windows.h), so
 * that what is recorded is a fair sample of what is not. Strata are of time, for libprof knows no
 * steps of the loop.
 *
 * They may cost a quarter of the limit: after one all strata are passed over until that quarter has
 * earned what it cost, so dear windows are rare, and one alone may cost half of what five minutes
 * may, or it is not begun, or ends. None is where the governor says that there is no room. Strata
 * are passed over by cost alone, so phases with more launches are seen less often.
 *
 * A pure function of what it is fed. Sender thread.
 */
#ifndef PROF_WINDOWS_H
#define PROF_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

#define PROF_WINDOWS_SHARE 4 /* one such part of the limit may be spent on them */

struct prof_windows {
	uint64_t seed;
	uint64_t limit; /* millionths of wall time */
	int64_t since_ns; /* the first stratum's begin: the first look that might see one */
	int64_t stratum; /* of the last one begun; -1: none */
	int64_t begin_ns; /* when the last was asked for; 0: none */
	uint64_t cost_ns, spent_ns; /* of the last so far; of all at its begin */
	uint32_t begun;
	bool open;
};

struct prof_windows_input {
	int64_t now_ns; /* the stream's clock */
	uint64_t drawn_ns; /* what windows have cost so far */
	uint64_t ahead_ns; /* what one would cost; UINT64_MAX: there may be none */
};

void prof_windows_init(struct prof_windows *w, uint64_t seed, uint64_t limit);

/* Shall all be recorded until the next look? */
bool prof_windows_feed(struct prof_windows *w, const struct prof_windows_input *in);

#endif
