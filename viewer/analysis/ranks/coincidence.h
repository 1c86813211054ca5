/* SPDX-License-Identifier: Apache-2.0 */
/* Which lanes of different GPUs end together, and how often: counted pair by pair. */
#ifndef ANALYSIS_COINCIDENCE_H
#define ANALYSIS_COINCIDENCE_H

#include "analysis/map.h"
#include "match_collectives.h"

/* The tolerances that are tried, least first; the last is ANA_TOLERANCE_MAX_NS. */
#define ANA_TOLERANCES 5
extern const int64_t ana_tolerance_ns[ANA_TOLERANCES];

struct ana_coincidence {
	uint32_t a, b; /* lanes, a < b */
	uint32_t together; /* times */
	uint64_t apart_ns; /* in these, sum */
	uint64_t most_ns; /* how far apart they could have been then and still have run at once */
};

struct ana_coincidences { /* zero-initialise */
	struct ana_coincidence *pair; /* those that ended closest to each other first */
	uint32_t pairs, room;
	struct ana_map of; /* by both lanes */
	uint32_t *seen; /* by lane */
	uint64_t all; /* kernels seen */
	/* while it counts */
	const struct ana_match *match;
	int64_t looks; /* at others beside them */
	int err;
};

/*
 * Of the first kernels of the logs. @m: these, aligned, and its limit, no more. @what: of which,
 * ANA_MATCH_. 0 or negative errno.
 */
int ana_coincidences_count(struct ana_coincidences *c, const struct ana_match *m,
			   int64_t tolerance_ns, unsigned int what);
void ana_coincidences_fini(struct ana_coincidences *c);

/* NULL: they never did. */
const struct ana_coincidence *ana_coincidences_get(const struct ana_coincidences *c, uint32_t a,
						   uint32_t b);

/* How far the two are apart, on average. */
static inline uint64_t ana_coincidence_mean(const struct ana_coincidence *p)
{
	return p->apart_ns / p->together;
}

#endif
