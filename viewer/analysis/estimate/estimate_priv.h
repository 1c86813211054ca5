/* SPDX-License-Identifier: Apache-2.0 */
/* What an estimate is made from: sums over one GPU. */
#ifndef ANALYSIS_ESTIMATE_PRIV_H
#define ANALYSIS_ESTIMATE_PRIV_H

#include "estimate.h"
#include "states.h"

#define ANA_ESTIMATE_BLOCK_NS INT64_C(1000000000)
#define ANA_NORMAL 1.645 /* deviations of the two-sided 90 % */
#define ANA_UNKNOWN ANA_CLASSES /* stands behind the classes */

struct ana_estimate_cell { /* a reading of the meters */
	int64_t start, end;
	uint32_t busy, sm; /* hundredths of a percent */
	bool has_sm, gpm;
	bool joined; /* follows on the one before */
	uint8_t top; /* the state that the host was in for most of it, the first of equal ones */
	int64_t ppm; /* of what it says of busy time that is; made by correct.c, if it tells */
	int64_t held_ns; /* of it the GPU was held */
	int64_t idle_ns; /* told by pieces of whatever class */
	int64_t dark_ns; /* of these, nobody knows what ran */
	int64_t target_ns; /* of these, to be estimated */
	int64_t held[ANA_STATES]; /* sums to target_ns */
	int64_t busy_ns; /* of target_ns; made by allot.c */
};

struct ana_estimate_block { /* of the time that was recorded */
	int64_t seen[ANA_STATES], idle[ANA_STATES];
	int64_t told[ANA_CLASSES]; /* idle, too */
};

struct ana_estimate_gpu {
	bool on;
	bool governed; /* launches were so many that recording them was too dear */
	struct ana_spans given_up;
	struct ana_states states;
	size_t state_at;
	struct ana_estimate_cell *cell;
	size_t cells, cell_at;
	int64_t origin_ns, block_ns;
	struct ana_estimate_block *block;
	size_t blocks;
	int64_t weight[ANA_STATES][ANA_CLASSES]; /* idle time that was recorded */
	/* what a phase's idle time would have been, had one lain where only samples tell */
	int64_t phase[ANA_CLASSES];
	int64_t target_ns, target[ANA_STATES];
	size_t gaps; /* that began while all was recorded, and all recorded idle time in gaps */
	int64_t gap_ns;
	int64_t pair_ns, near_ns; /* a CPU's work as recorded; near the length that parts it */
};

struct ana_allotted {
	int64_t seen[ANA_STATES], idle_seen[ANA_STATES]; /* recorded */
	int64_t held[ANA_STATES]; /* metered */
	int64_t idle[ANA_STATES]; /* of what is to be estimated */
	int64_t room[ANA_STATES]; /* how far the idle time of each could be off */
	int64_t share[ANA_STATES]; /* of each that is idle, millionths */
	int64_t part[ANA_STATES][ANA_CLASSES + 1]; /* of idle, by class */
	int64_t classes[ANA_CLASSES];
	int64_t metered_ns, busy_ns, unknown_ns;
	int64_t spread_ns; /* not metered, and taken to be like what is */
	size_t cells; /* that tell */
	bool by_sm; /* what counts is what is said of multiprocessors */
	int64_t worked_ppm; /* of what counts, that which is busy; on average */
	double meter_var; /* of busy time, ns^2, by that */
	int64_t busy_ppm; /* of what is said of busy time, by all readings */
	bool unchecked; /* what is said was never held against anything, though it should be */
	int64_t apart_ns; /* so much more is busy than by what else is said */
};

static inline bool ana_estimate_unknown(int c)
{
	return c == ANA_HOST_UNKNOWN || c == ANA_DEVICE_UNKNOWN || c == ANA_UNKNOWN;
}

/* A CPU's work is the one or the other by how long its pieces are. */
static inline bool ana_estimate_of_pair(int c)
{
	return c == ANA_HOST_DISPATCH || c == ANA_HOST_CPU_WORK;
}

/* Whether the reading tells of all that was not recorded in its time, and of nothing else. */
static inline bool ana_estimate_tells(const struct ana_estimate_cell *c)
{
	return c->target_ns > 0 && c->dark_ns == c->target_ns;
}

/* Whether all is known of its time. */
static inline bool ana_estimate_shows(const struct ana_estimate_cell *c)
{
	return !c->dark_ns && c->held_ns == c->end - c->start;
}

/* What it says of busy time, and of how long multiprocessors were, as if all were together. */
static inline int64_t ana_estimate_said(const struct ana_estimate_cell *c)
{
	return (int64_t)((__int128)(c->end - c->start) * c->busy / 10000);
}

static inline int64_t ana_estimate_sm(const struct ana_estimate_cell *c)
{
	return (int64_t)((__int128)(c->end - c->start) * c->sm / 10000);
}

enum ana_estimate_pick {
	ANA_PICK_TELLS, /* of what was not recorded */
	ANA_PICK_SHOWS /* what was recorded */
};

/* correct.c: whether it is one of these, of that state or with ANA_STATES of any. */
bool ana_estimate_is(const struct ana_estimate_cell *c, enum ana_estimate_pick pick, int state);
/*
 * correct.c: variance, ns^2, of what such readings say in sum, as samples are old when they are
 * taken: within a stretch of readings that shifts what is said from one to the next, but at its
 * ends.
 */
double ana_estimate_edges(const struct ana_estimate_gpu *g, enum ana_estimate_pick pick, int state);
/* correct.c: which of what meters say counts, and how much of that is busy time. */
void ana_estimate_correct(struct ana_estimate_gpu *g, struct ana_allotted *a);
/* doubt.c: by how much wider than a normal one an interval is that @n > 1 values tell. */
double ana_estimate_few(size_t n);
/* allot.c. Changes the weights to those that count. */
void ana_estimate_allot(struct ana_estimate_gpu *g, struct ana_allotted *a);
/* tell.c: calls o->on_estimate. 0 or -ENOMEM. */
int ana_estimate_tell(const struct ana_estimate_gpu *g, const struct ana_allotted *a,
		      const struct ana_estimated *found, uint32_t gpu, const struct ana_options *o);
/* doubt.c: intervals, and all else of @to, which is zeroed. */
void ana_estimate_doubt(const struct ana_estimate_gpu *g, const struct ana_allotted *a,
			struct ana_estimated *to);

#endif
