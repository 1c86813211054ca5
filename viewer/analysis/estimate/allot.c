/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was busy, what was idle in which state of the host, and of which class that was.
 */
#include <string.h>
#include "base/minmax.h"
#include "estimate_priv.h"
#include "rake.h"

#define MS INT64_C(1000000)
#define PRIOR_NS (100 * MS) /* of time seen: for so much counts what holds if nothing tells */
#define CLASS_NS (10 * MS) /* the same of its class */
#define ROUNDS 2 /* more would draw idle time to where it once was laid */

/* As long as nothing tells: how much of a state is idle, millionths, and of which class that is. */
static const struct {
	int64_t share;
	int class;
} first[ANA_STATES] = {
	[ANA_STATE_GC] = { 950000, ANA_HOST_GC },
	[ANA_STATE_EPOCH] = { 950000, ANA_INPUT_EPOCH },
	[ANA_STATE_WAIT] = { 950000, ANA_INPUT_UNKNOWN },
	[ANA_STATE_CHECKPOINT] = { 950000, ANA_HOST_CHECKPOINT },
	[ANA_STATE_SYNC] = { 50000, ANA_HOST_SYNC },
	[ANA_STATE_PHASE] = { 500000, ANA_HOST_PHASE },
	[ANA_STATE_CPU] = { 500000, ANA_UNKNOWN },
	[ANA_STATE_GPU] = { 50000, ANA_HOST_SYNC },
	[ANA_STATE_LOCK] = { 500000, ANA_HOST_WAIT },
	[ANA_STATE_FILE] = { 900000, ANA_UNKNOWN },
	[ANA_STATE_NET] = { 900000, ANA_HOST_NET },
	[ANA_STATE_SLEEP] = { 900000, ANA_UNKNOWN },
	[ANA_STATE_OTHER] = { 500000, ANA_HOST_WAIT },
	[ANA_STATE_NONE] = { 500000, ANA_UNKNOWN },
};

static int kind_of(const struct ana_estimate_gpu *g, int s)
{
	return s >= ANA_STATE_LINE && s < ANA_STATE_CPU ? g->states.kind[s - ANA_STATE_LINE] : s;
}

/* What was recorded in each state. */
static void learn(struct ana_estimate_gpu *g, struct ana_allotted *a)
{
	for (size_t i = 0; i < g->blocks; i++)
		for (int s = 0; s < ANA_STATES; s++) {
			a->seen[s] += g->block[i].seen[s];
			a->idle_seen[s] += g->block[i].idle[s];
		}
}

/*
 * What is unknown of a state counts only where nearly all of it is, and the state itself names no
 * class.
 */
static void weigh(int64_t weight[ANA_CLASSES], int own)
{
	__int128 known = 0, unknown = 0;
	int c;

	for (c = 0; c < ANA_CLASSES; c++)
		if (ana_estimate_unknown(c))
			unknown += weight[c];
		else
			known += weight[c];
	if (own != ANA_UNKNOWN)
		weight[own] += CLASS_NS;
	if (own == ANA_UNKNOWN && !(known && known * 4 >= unknown))
		return;
	weight[ANA_HOST_UNKNOWN] = weight[ANA_DEVICE_UNKNOWN] = 0;
}

/* A phase is taken to be idle as much as what it is made of: where only samples tell. */
static int64_t first_share(const struct ana_estimate_gpu *g, const struct ana_allotted *a, int s)
{
	int64_t share = first[kind_of(g, s)].share;
	__int128 idle, seen = PRIOR_NS;

	if (s != ANA_STATE_PHASE)
		return share;
	idle = (__int128)share * PRIOR_NS;
	for (int i = ANA_STATE_PHASE + 1; i < ANA_STATES; i++) {
		idle += (__int128)a->idle_seen[i] * ANA_SHARE_WHOLE;
		seen += a->seen[i];
	}
	return (int64_t)(idle / seen);
}

/* From what was recorded, and from what a round before found in what was not. */
static void share_out(const struct ana_estimate_gpu *g, struct ana_allotted *a, bool again)
{
	for (int s = 0; s < ANA_STATES; s++) {
		__int128 idle = (__int128)(a->idle_seen[s] + a->idle[s]) * ANA_SHARE_WHOLE;
		__int128 seen = (__int128)a->seen[s] + (again ? a->held[s] : 0) + PRIOR_NS;

		idle += (__int128)first_share(g, a, s) * PRIOR_NS;
		a->share[s] = base_clamp((int64_t)(idle / seen), 1000, 999000);
	}
}

/* So many millionths of what is said, less what is recorded, as far as there is room for it. */
static int64_t busy_by(const struct ana_estimate_cell *c, int64_t said, int64_t ppm)
{
	int64_t worked = c->held_ns - c->idle_ns;
	int64_t busy = (int64_t)((__int128)said * ppm / ANA_SHARE_WHOLE);

	return base_clamp(busy - worked, 0, c->target_ns);
}

/* Of the reading's busy time what is not recorded; no more than is said, whatever counts of it. */
static void measure(struct ana_allotted *a, struct ana_estimate_cell *c)
{
	int64_t said = ana_estimate_said(c), sm = ana_estimate_sm(c);

	if (!a->by_sm) {
		c->busy_ns = busy_by(c, said, c->ppm);
		if (a->unchecked)
			a->apart_ns += c->busy_ns - busy_by(c, sm, ANA_SHARE_WHOLE);
		return;
	}
	c->busy_ns = base_min(busy_by(c, sm, a->worked_ppm), busy_by(c, said, ANA_SHARE_WHOLE));
	a->apart_ns += c->busy_ns - busy_by(c, said, a->busy_ppm);
}

static void take_cell(struct ana_allotted *a, struct ana_estimate_cell *c)
{
	int64_t idle;

	measure(a, c);
	idle = c->target_ns - c->busy_ns;
	a->cells++;
	a->metered_ns += c->target_ns;
	a->busy_ns += c->busy_ns;
	for (int s = 0; s < ANA_STATES; s++) {
		a->held[s] += c->held[s];
		a->room[s] += base_min(c->held[s], idle) -
			      base_max(0, idle - (c->target_ns - c->held[s]));
	}
}

static void rake_cells(const struct ana_estimate_gpu *g, struct ana_allotted *a)
{
	int64_t got[ANA_STATES];

	memset(a->idle, 0, sizeof(a->idle));
	for (size_t i = 0; i < g->cells; i++) {
		const struct ana_estimate_cell *c = &g->cell[i];

		if (!ana_estimate_tells(c))
			continue;
		ana_rake(c->held, a->share, c->target_ns - c->busy_ns, got);
		for (int s = 0; s < ANA_STATES; s++)
			a->idle[s] += got[s];
	}
}

static bool is_record(int s)
{
	return s == ANA_STATE_GC || s == ANA_STATE_EPOCH || s == ANA_STATE_WAIT ||
	       s == ANA_STATE_CHECKPOINT;
}

/* Of @rest, time of a state that no meter tells of, what was idle; -1: that is not known. */
static int64_t idle_of(const struct ana_allotted *a, int s, int64_t rest)
{
	if (a->cells && s != ANA_STATE_NONE && a->held[s])
		return (int64_t)((__int128)rest * a->idle[s] / a->held[s]);
	if (a->cells ? s != ANA_STATE_NONE : is_record(s) && a->seen[s] >= ANA_ESTIMATE_BLOCK_NS)
		return (int64_t)((__int128)rest * a->share[s] / ANA_SHARE_WHOLE);
	return -1;
}

static void take_rest(const struct ana_estimate_gpu *g, struct ana_allotted *a)
{
	for (int s = 0; s < ANA_STATES; s++) {
		int64_t rest = g->target[s], idle;

		for (size_t i = 0; i < g->cells; i++)
			rest -= ana_estimate_tells(&g->cell[i]) ? g->cell[i].held[s] : 0;
		idle = idle_of(a, s, rest);
		if (idle < 0) {
			a->unknown_ns += rest;
			continue;
		}
		a->idle[s] += idle;
		a->busy_ns += rest - idle;
		a->spread_ns += rest;
		a->room[s] += a->cells ? 0 : rest;
	}
}

static bool any(const int64_t weight[ANA_CLASSES])
{
	for (int c = 0; c < ANA_CLASSES; c++)
		if (weight[c])
			return true;
	return false;
}

static void classify(const struct ana_estimate_gpu *g, struct ana_allotted *a)
{
	for (int s = 0; s < ANA_STATES; s++) {
		if (any(g->weight[s]))
			ana_apportion(a->idle[s], g->weight[s], ANA_CLASSES, a->part[s]);
		else
			a->part[s][first[kind_of(g, s)].class] = a->idle[s];
		for (int c = 0; c <= ANA_CLASSES; c++)
			if (ana_estimate_unknown(c))
				a->unknown_ns += a->part[s][c];
			else
				a->classes[c] += a->part[s][c];
	}
}

void ana_estimate_allot(struct ana_estimate_gpu *g, struct ana_allotted *a)
{
	memset(a, 0, sizeof(*a));
	learn(g, a);
	ana_estimate_correct(g, a);
	for (int c = 0; a->seen[ANA_STATE_PHASE] < ANA_ESTIMATE_BLOCK_NS && c < ANA_CLASSES; c++)
		g->weight[ANA_STATE_PHASE][c] += g->phase[c];
	for (int s = 0; s < ANA_STATES; s++)
		weigh(g->weight[s], first[kind_of(g, s)].class);
	for (size_t i = 0; i < g->cells; i++)
		if (ana_estimate_tells(&g->cell[i]))
			take_cell(a, &g->cell[i]);
	for (int k = 0; k < ROUNDS; k++) {
		share_out(g, a, k > 0);
		rake_cells(g, a);
	}
	take_rest(g, a);
	classify(g, a);
}
