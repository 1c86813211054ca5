/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long things took: their distribution, in bounded memory. Caller-owned; zero-initialise.
 */
#ifndef ANALYSIS_DURATIONS_H
#define ANALYSIS_DURATIONS_H

#include <stddef.h>
#include <stdint.h>

struct ana_durations { /* exact up to a bound, then within half a percent */
	int64_t *ns;
	size_t count, room;
	uint64_t *bin; /* NULL while exact */
	uint64_t total;
};

#define ANA_DURATION_BINS (64u * 128u) /* within one of them durations differ by 0.8 % at most */
unsigned int ana_duration_bin(int64_t ns);

int ana_durations_add(struct ana_durations *d, int64_t ns); /* 0 or -ENOMEM */
int ana_durations_merge(struct ana_durations *d, const struct ana_durations *more);
/* The least duration that at least @permille of all do not exceed; -1: there are none. */
int64_t ana_durations_rank(struct ana_durations *d, unsigned int permille);
void ana_durations_fini(struct ana_durations *d);

struct ana_archive; /* archive.h */
void ana_durations_archive(struct ana_durations *d, struct ana_archive *a);

#endif
