/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far an estimate may be off: what meters leave open, what the rules would have said of the
 * blocks of which all is known, and how far the states of a reading could share its idle time
 * otherwise. Doubles, in steps that no compiler may join, so that the same numbers come out
 * wherever it is done.
 */
#include <math.h>
#include "base/minmax.h"
#include "estimate_priv.h"
#include "rake.h"

#define DRIVER_GRAIN 0.003 /* a whole percent, evenly */
#define FLOOR_NS 1e7
#define ALIKE 4.0 /* blocks that follow each other count as one */
#define KNOWN 0.06 /* of how far a state's idle time could be off */
#define GUESSED 0.45
#define NEAR 0.3 /* of a CPU's work in pieces near the length that tells its class */
#define UNLEARNT 0.4 /* of what was idle more than was recorded */
#define UNCHECKED 2.25 /* so far reaches the interval to what the other meter says */
#define NO_BLOCKS 3.0 /* deviations of a class that no block tells of */
#define SPREAD_BLOCKS 2 /* readings so many seconds apart have little to do with each other */

/* Of Student's distribution, from one degree of freedom on: the two-sided 90 %. */
static const double student[] = { 6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860,
				  1.833, 1.812, 1.796, 1.782, 1.771, 1.761, 1.753, 1.746,
				  1.740, 1.734, 1.729, 1.725, 1.721, 1.717, 1.714, 1.711,
				  1.708, 1.706, 1.703, 1.701, 1.699, 1.697 };
#define STUDENTS (sizeof(student) / sizeof(student[0]))

struct residuals { /* over the blocks that are fit for it */
	size_t n;
	int64_t watched_ns;
	double squares[ANA_CLASSES], sums[ANA_CLASSES]; /* us */
};

static void square(double *to, double x)
{
	double y = x * x;

	*to += y;
}

/* What was said too much of each class, ns. */
static void block_errors(const struct ana_estimate_gpu *g, const struct ana_allotted *a,
			 const struct ana_estimate_block *b, int64_t idle, int64_t e[ANA_CLASSES])
{
	int64_t got[ANA_STATES];

	for (int c = 0; c < ANA_CLASSES; c++)
		e[c] = -b->told[c];
	ana_rake(b->seen, a->share, idle, got);
	for (int s = 0; s < ANA_STATES; s++) {
		__int128 total = 0;

		for (int c = 0; c < ANA_CLASSES; c++)
			total += g->weight[s][c];
		for (int c = 0; total && c < ANA_CLASSES; c++)
			e[c] += (int64_t)((__int128)got[s] * g->weight[s][c] / total);
	}
}

static int64_t to_us(int64_t ns)
{
	return ns >= 0 ? ns / 1000 : -((999 - ns) / 1000); /* rounded down */
}

static void add_block(const struct ana_estimate_gpu *g, const struct ana_allotted *a,
		      const struct ana_estimate_block *b, struct residuals *r)
{
	int64_t seen = 0, idle = 0, e[ANA_CLASSES];

	for (int s = 0; s < ANA_STATES; s++) {
		seen += b->seen[s];
		idle += b->idle[s];
	}
	if (seen < g->block_ns / 2 ||
	    2 * (__int128)(b->told[ANA_HOST_UNKNOWN] + b->told[ANA_DEVICE_UNKNOWN]) > idle)
		return;
	r->n++;
	r->watched_ns += seen;
	block_errors(g, a, b, idle, e);
	for (int c = 0; c < ANA_CLASSES; c++) {
		double x = (double)to_us(e[c]);

		square(&r->squares[c], x);
		r->sums[c] += x;
	}
}

static double busy_spread(const struct ana_estimate_gpu *g, const struct ana_allotted *a)
{
	double mean = 0.0, spread = 0.0;
	size_t i;

	for (i = 0; i < g->cells; i++)
		if (ana_estimate_tells(&g->cell[i]))
			mean += (double)g->cell[i].busy_ns / (double)g->cell[i].target_ns;
	mean = mean / (double)a->cells;
	for (i = 0; i < g->cells; i++) {
		double x;

		if (!ana_estimate_tells(&g->cell[i]))
			continue;
		x = (double)g->cell[i].busy_ns / (double)g->cell[i].target_ns;
		x = x - mean;
		square(&spread, x);
	}
	if (a->cells < 2)
		return 1.0 / 12.0;
	spread = spread / (double)(a->cells - 1);
	spread = spread * ana_estimate_few(a->cells);
	return spread * ana_estimate_few(a->cells);
}

static void add_grain(const struct ana_estimate_cell *c, double *var)
{
	double grain;

	if (c->gpm)
		return;
	grain = (double)c->target_ns * DRIVER_GRAIN;
	square(var, grain);
}

/* Of time beyond readings: it may be otherwise than what they tell of, and that is but a sample. */
static double spread_variance(const struct ana_estimate_gpu *g, const struct ana_allotted *a)
{
	double each = busy_spread(g, a), wide, more;

	wide = (double)base_min(a->spread_ns, SPREAD_BLOCKS * g->block_ns);
	wide = (double)a->spread_ns * wide;
	wide = wide * each;
	more = (double)a->spread_ns * (double)a->spread_ns;
	more = more * each;
	more = more / (double)a->cells;
	return wide + more;
}

static double busy_variance(const struct ana_estimate_gpu *g, const struct ana_allotted *a)
{
	double var = FLOOR_NS * FLOOR_NS, wide;
	int64_t room = 0;

	for (size_t i = 0; i < g->cells; i++)
		if (ana_estimate_tells(&g->cell[i]))
			add_grain(&g->cell[i], &var);
	var += ana_estimate_edges(g, ANA_PICK_TELLS, ANA_STATES);
	var += a->meter_var;
	wide = (double)a->apart_ns;
	wide = wide * (a->unchecked ? UNCHECKED : 1.0);
	wide = wide * wide;
	var += wide / 12.0;
	if (a->cells && a->spread_ns)
		var += spread_variance(g, a);
	if (a->cells)
		return var;
	for (int s = 0; s < ANA_STATES; s++)
		room += a->room[s];
	wide = (double)room;
	wide = wide * wide;
	var += wide / 12.0;
	return var;
}

/* By what the rules would have said of the time that was recorded. */
static double block_variance(const struct ana_estimate_gpu *g, const struct residuals *r, int c)
{
	double times = (double)g->target_ns / (double)g->block_ns, var, mean, more;

	if (r->n < 2)
		return 0.0;
	more = (double)g->target_ns / (double)r->watched_ns;
	more = 1.0 + more;
	var = r->squares[c] / (double)(r->n - 1);
	var = var * times;
	var = var * more;
	mean = r->sums[c] / (double)r->n;
	mean = mean * times;
	mean = mean * mean;
	var = ALIKE * var;
	var = var + mean;
	var = var * 1e6;
	var = var * ana_estimate_few(r->n);
	return var * ana_estimate_few(r->n);
}

/* By how far the states that the class comes from could share idle time otherwise. */
static double room_variance(const struct ana_allotted *a, size_t n, int c)
{
	int64_t phase = a->seen[ANA_STATE_PHASE] < ANA_ESTIMATE_BLOCK_NS
				? a->part[ANA_STATE_PHASE][ANA_HOST_PHASE]
				: 0;
	double var = 0.0, wide;

	for (int s = 0; s < ANA_STATES; s++) {
		if (!a->part[s][c])
			continue;
		wide = n > 1 && a->seen[s] >= ANA_ESTIMATE_BLOCK_NS ? KNOWN : GUESSED;
		wide = wide * (double)a->room[s];
		wide = wide * ((double)a->part[s][c] / (double)a->idle[s]);
		wide = wide * wide;
		var += wide / 12.0;
	}
	if (!phase || (c != ANA_HOST_PHASE && c != ANA_HOST_DISPATCH))
		return var;
	wide = (double)phase; /* calls come before ranges */
	wide = wide * wide;
	var += wide / 24.0;
	return var;
}

/*
 * Idle time where only samples tell, or nothing does, beyond the share that was recorded as idle:
 * nobody saw whose it is.
 */
static int64_t unlearnt(const struct ana_estimate_gpu *g, const struct ana_allotted *a)
{
	int64_t more = 0;

	for (int s = ANA_STATE_PHASE + 1; s < ANA_STATES; s++) {
		int64_t alike = 0;

		if (a->seen[s])
			alike = (int64_t)((__int128)g->target[s] * a->idle_seen[s] / a->seen[s]);
		more += base_max(0, a->idle[s] - alike);
	}
	return more;
}

/* How long a CPU's pieces of work are changes with the job, and so which class they are of. */
static double pair_variance(const struct ana_estimate_gpu *g, const struct ana_allotted *a,
			    int64_t more)
{
	int64_t both = 0;
	double near = 0.0, wide;

	for (int s = ANA_STATE_PHASE + 1; s < ANA_STATES; s++)
		both += a->part[s][ANA_HOST_DISPATCH] + a->part[s][ANA_HOST_CPU_WORK];
	if (g->pair_ns)
		near = NEAR * (double)both * ((double)g->near_ns / (double)g->pair_ns);
	near = near * near;
	wide = UNLEARNT * (double)more;
	wide = wide * wide;
	wide = wide / 12.0;
	return near + wide;
}

static struct ana_estimated_part within(int64_t ns, double deviations, double var, int64_t most)
{
	double half = deviations * sqrt(var);
	int64_t off = half < 4e18 ? (int64_t)half : INT64_MAX / 2;
	int64_t high = off > most - ns ? most : ns + off;

	return (struct ana_estimated_part){ ns, base_max(0, ns - off), high };
}

double ana_estimate_few(size_t n)
{
	double t = n - 2 < STUDENTS ? student[n - 2] : ANA_NORMAL;

	return t / ANA_NORMAL;
}

void ana_estimate_doubt(const struct ana_estimate_gpu *g, const struct ana_allotted *a,
			struct ana_estimated *to)
{
	struct residuals r = { 0 };
	double busy = busy_variance(g, a), pair;
	int64_t idle = 0, more_idle = unlearnt(g, a);

	for (size_t i = 0; i < g->blocks; i++)
		add_block(g, a, &g->block[i], &r);
	for (int s = 0; s < ANA_STATES; s++)
		idle += a->idle[s];
	pair = pair_variance(g, a, more_idle);
	to->of_ns = g->target_ns;
	to->metered_ns = a->metered_ns;
	to->unknown_ns = a->unknown_ns;
	to->busy = within(a->busy_ns, ANA_NORMAL, busy, g->target_ns);
	for (int c = 0; c < ANA_CLASSES; c++) {
		double share = idle ? (double)a->classes[c] / (double)idle : 0.0, var, more;

		if (!a->classes[c] && ana_estimate_of_pair(c))
			to->classes[c].high_ns = more_idle;
		if (!a->classes[c])
			continue;
		var = block_variance(g, &r, c);
		more = share * share;
		more = more * busy;
		var += more;
		more = room_variance(a, r.n, c);
		var += more;
		var += ana_estimate_of_pair(c) ? pair : 0.0;
		to->classes[c] =
			within(a->classes[c], r.n > 1 ? ANA_NORMAL : NO_BLOCKS, var, g->target_ns);
	}
}
