/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A meter calls an engine busy for some microseconds around each kernel, too, and counts others'
 * work: where it was read while all was recorded, what it says is held against that.
 */
#include "base/minmax.h"
#include "estimate_priv.h"
#include "rake.h"

#define LEAST 3 /* readings */
#define SURE 9.0 /* the square of how many deviations */

struct pairs {
	size_t n;
	int64_t said_ns, worked_ns;
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
		p.worked_ns += worked(c);
	}
	return p;
}

/* Of the share of what is said, as a ratio of sums has it. */
static double variance(const struct ana_estimate_gpu *g, const struct pairs *p, double share)
{
	double squares = 0.0, said = (double)p->said_ns;

	for (size_t i = 0; i < g->cells; i++) {
		const struct ana_estimate_cell *c = &g->cell[i];
		double x;

		if (!ana_estimate_shows(c))
			continue;
		x = share * (double)ana_estimate_said(c);
		x = (double)worked(c) - x;
		x = x * x;
		squares += x;
	}
	squares = squares / (double)(p->n - 1);
	squares = squares * (double)p->n;
	return squares / said / said;
}

void ana_estimate_correct(const struct ana_estimate_gpu *g, struct ana_allotted *a)
{
	struct pairs p = pairs_of(g);
	double share, off, var;
	int64_t ppm;

	a->worked_ppm = ANA_SHARE_WHOLE;
	if (p.n < LEAST || !p.said_ns)
		return;
	ppm = (int64_t)base_min((__int128)p.worked_ns * ANA_SHARE_WHOLE / p.said_ns, 1500000);
	ppm = base_max(ppm, 50000);
	share = (double)ppm / 1e6;
	var = variance(g, &p, share);
	off = share - 1.0;
	off = off * off;
	if (off <= SURE * var)
		return;
	a->worked_ppm = ppm;
	a->worked_var = var;
}
