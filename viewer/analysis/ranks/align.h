/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clocks of several hosts on one, from nothing but collectives: their kernels end together
 * everywhere. Sequences of ends are laid beside each other where their distances agree, however far
 * the clocks are off; then the offset is followed through the run, in straight pieces, as clocks
 * drift. What is left is stated. Pure functions of the logs.
 */
#ifndef ANALYSIS_ALIGN_H
#define ANALYSIS_ALIGN_H

#include "collective_log.h"

#define ANA_KNOTS 64u

struct ana_knot {
	int64_t t; /* on the host's own clock */
	int64_t offset; /* to be added to it */
};

struct ana_timebase { /* of one host */
	struct ana_knot knot[ANA_KNOTS]; /* ascending */
	uint32_t knots; /* 0: own clock as it is */
	bool aligned; /* to the first host; false: nothing was found that ends together */
	int64_t residual_ns; /* 95 % of ends agree so well; 0: of the first host itself */
	int64_t typical_ns; /* half of them do */
	uint64_t points;
	uint64_t of; /* ends between the first and last of these, of the lane with fewer */
	int64_t within_ns; /* most of them do so, as a class */
	int64_t drift_ppb;
};

struct ana_align {
	struct ana_timebase *host;
	uint32_t hosts;
	const uint32_t *host_of; /* by log; borrowed */
};

/* Finds them; the first log's host is the reference. 0 or negative errno. */
int ana_align_find(struct ana_align *a, struct ana_collective_log *const *log, size_t logs,
		   const uint32_t *host_of, uint32_t hosts);
void ana_align_fini(struct ana_align *a);

/* A stamp of a host's clock on the common one. */
int64_t ana_align_to(const struct ana_timebase *b, int64_t t);

/* The offset in the middle of what was matched. */
int64_t ana_align_offset(const struct ana_timebase *b);

/*
 * The inner part: @x and @y are ascending ends on two clocks. Finds what to add to @y so that they
 * meet, as knots on y's clock. False: they do not.
 */
bool ana_align_pair(const int64_t *x, size_t nx, const int64_t *y, size_t ny,
		    struct ana_timebase *out);

#endif
