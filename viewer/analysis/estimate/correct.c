/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A meter calls an engine busy for some microseconds around each kernel, too, and counts others'
 * work: where it was read while all was recorded, what it says is held against that. How much of
 * it is around kernels changes with how close they follow each other, which changes when tracing
 * ends. So where it is seen to say too much, what it says of multiprocessors counts, which have
 * nothing to do around a kernel, though a kernel may need few of them.
 */
#include "base/minmax.h"
#include "estimate_priv.h"
#include "rake.h"

#define LEAST 3 /* readings */
#define SURE 9.0 /* the square of how many deviations */
#define TOO_MUCH 98 /* percent of what is said are busy, or less, where readings are too few */
#define LEAST_PPM 50000
#define MOST_PPM 1500000
#define MOST_SM_PPM INT64_C(1000000000) /* a kernel on one of them, and more */
#define LEAST_SM 2000 /* one part of so many of the time: with less the meter's grain would tell */
#define GRAIN 0.00003 /* a hundredth of a percent, evenly; the same in all readings */

struct pairs {
	size_t n;
	int64_t said_ns, sm_ns, worked_ns;
};

static int64_t worked(const struct ana_estimate_cell *c)
{
	return c->held_ns - c->idle_ns;
}

static struct pairs pairs_of(const struct ana_estimate_gpu *g)
{
	struct pairs p = { 0 };

	for (size_t i = 0; i < g->cells; i++) {
		const struct ana_estimate_cell *c = &g->cell[i];

		if (!ana_estimate_shows(c))
			continue;
		p.n++;
		p.said_ns += ana_estimate_said(c);
		p.sm_ns += ana_estimate_sm(c);
		p.worked_ns += worked(c);
	}
	return p;
}

/* Does each reading that matters tell of multiprocessors? */
static bool knows_sm(const struct ana_estimate_gpu *g)
{
	for (size_t i = 0; i < g->cells; i++) {
		const struct ana_estimate_cell *c = &g->cell[i];

		if (!c->has_sm && (ana_estimate_shows(c) || ana_estimate_tells(c)))
			return false;
	}
	return true;
}

/*
 * A part of what is said of multiprocessors by which the meter's grain may have it wrong: in
 * readings that tell, or in those that are all recorded. 1.0: it is too little to go by.
 */
static double grain(const struct ana_estimate_gpu *g, bool tells)
{
	int64_t sm = 0, span = 0;
	double part;

	for (size_t i = 0; i < g->cells; i++) {
		const struct ana_estimate_cell *c = &g->cell[i];

		if (tells ? !ana_estimate_tells(c) : !ana_estimate_shows(c))
			continue;
		sm += ana_estimate_sm(c);
		span += c->end - c->start;
	}
	if (!sm || (__int128)sm * LEAST_SM < span)
		return 1.0;
	part = GRAIN * (double)span;
	return part / (double)sm;
}

/* Of the share of what is said of multiprocessors, by both kinds of readings. */
static double grain_variance(double shows, double tells, int64_t ppm)
{
	double share = (double)ppm / 1e6;

	shows = shows * shows;
	tells = tells * tells;
	share = share * share;
	shows = shows + tells;
	return share * shows;
}

static int64_t ratio(int64_t worked_ns, int64_t of_ns, int64_t most)
{
	__int128 ppm = (__int128)worked_ns * ANA_SHARE_WHOLE / of_ns;

	return (int64_t)base_max(base_min(ppm, most), LEAST_PPM);
}

static int64_t of_cell(const struct ana_estimate_cell *c, bool by_sm)
{
	return by_sm ? ana_estimate_sm(c) : ana_estimate_said(c);
}

/* Of the share of what is said, as a ratio of sums has it. */
static double variance(const struct ana_estimate_gpu *g, const struct pairs *p, bool by_sm,
		       int64_t ppm)
{
	double squares = 0.0, said = (double)(by_sm ? p->sm_ns : p->said_ns);
	double share = (double)ppm / 1e6;

	for (size_t i = 0; i < g->cells; i++) {
		const struct ana_estimate_cell *c = &g->cell[i];
		double x;

		if (!ana_estimate_shows(c))
			continue;
		x = share * (double)of_cell(c, by_sm);
		x = (double)worked(c) - x;
		x = x * x;
		squares += x;
	}
	squares = squares / (double)(p->n - 1);
	squares = squares * (double)p->n;
	return squares / said / said;
}

/* Whether the share of what is said of busy time is another than all of it. */
static bool is_sure(int64_t ppm, double var)
{
	double off = (double)ppm / 1e6;

	off = off - 1.0;
	off = off * off;
	return off > SURE * var;
}

static bool says_too_much(const struct pairs *p, const struct ana_allotted *a)
{
	if (p->n < LEAST)
		return (__int128)p->worked_ns * 100 <= (__int128)p->said_ns * TOO_MUCH;
	return a->worked_ppm < ANA_SHARE_WHOLE;
}

static void count_sm(const struct ana_estimate_gpu *g, const struct pairs *p,
		     struct ana_allotted *a)
{
	double shows = grain(g, false), tells = grain(g, true);

	if (!says_too_much(p, a) || !knows_sm(g) || shows >= 1.0 || tells >= 1.0)
		return;
	a->by_sm = true;
	a->worked_ppm = ratio(p->worked_ns, p->sm_ns, MOST_SM_PPM);
	a->worked_var = p->n > 1 ? variance(g, p, true, a->worked_ppm) : 0.0;
	a->worked_var += grain_variance(shows, tells, a->worked_ppm);
}

void ana_estimate_correct(const struct ana_estimate_gpu *g, struct ana_allotted *a)
{
	struct pairs p = pairs_of(g);
	double var;

	a->worked_ppm = a->busy_ppm = ANA_SHARE_WHOLE;
	a->unchecked = g->governed && !p.n && knows_sm(g);
	if (!p.n || !p.said_ns)
		return;
	a->busy_ppm = ratio(p.worked_ns, p.said_ns, MOST_PPM);
	if (p.n >= LEAST) {
		var = variance(g, &p, false, a->busy_ppm);
		if (!is_sure(a->busy_ppm, var))
			return;
		a->worked_ppm = a->busy_ppm;
		a->worked_var = var;
	}
	count_sm(g, &p, a);
}
