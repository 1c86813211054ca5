/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A meter calls an engine busy for some microseconds around each kernel, too, and counts others'
 * work: where it was read while all was recorded, what it says is held against that. How much of
 * it is around kernels changes with how close they follow each other, which changes when tracing
 * ends. So where it is seen to say too much, what it says of multiprocessors counts, which have
 * nothing to do around a kernel, though a kernel may need few of them. Else what the host did
 * mostly tells which of these readings those of time that was not recorded are like. Doubles in
 * steps that no compiler may join.
 */
#include <math.h>
#include "base/minmax.h"
#include "estimate_priv.h"
#include "rake.h"

#define LEAST_PPM 50000
#define MOST_PPM 1500000
#define MOST_SM_PPM INT64_C(1000000000) /* a kernel on one of them, and more */
#define LEAST_SM 2000 /* one part of so many of the time: with less the meter's grain would tell */
#define GRAIN 0.00003 /* a hundredth of a percent, evenly; the same in all readings */
#define SURE 9.0 /* the square of how many deviations */
#define TOO_MUCH 98 /* percent of what is said are busy, or less, where readings are too few */
#define ALIKE_LEAST 2 /* readings of a state that tell by themselves */
#define FEW 3
#define NONE_VAR 0.01 /* of the share that is busy: nothing tells it */
#define FEW_VAR 0.0025 /* more of it: fewer than FEW tell */
#define BITS 16 /* of a power */
#define AGE_GPM_NS 1e8 /* of samples when they are taken, at most */
#define AGE_DRIVER_NS 1e9

struct ratio { /* of what was recorded to what is said, in the readings that tell of both */
	size_t n;
	int64_t said_ns, worked_ns, time_ns, ppm;
	uint32_t least; /* of their shares, hundredths of a percent */
	double var; /* of it as a share; from here on not where n is 0 */
	double apart; /* of that of a single reading */
};

static int64_t worked(const struct ana_estimate_cell *c)
{
	return c->held_ns - c->idle_ns;
}

bool ana_estimate_is(const struct ana_estimate_cell *c, enum ana_estimate_pick pick, int state)
{
	if (pick == ANA_PICK_TELLS ? !ana_estimate_tells(c) : !ana_estimate_shows(c))
		return false;
	return state == ANA_STATES || c->top == state;
}

static double rate(const struct ana_estimate_cell *c)
{
	return c->busy / 10000.0;
}

/* At the end of a stretch: between the reading there and the one beyond it. */
static double rate_between(const struct ana_estimate_cell *own,
			   const struct ana_estimate_cell *beyond)
{
	double sum = rate(own);

	if (!beyond)
		return sum;
	sum = sum + rate(beyond);
	return sum / 2.0;
}

/* Of a stretch of readings from @first to @last, ns^2. */
static double edge_variance(const struct ana_estimate_gpu *g, size_t first, size_t last)
{
	const struct ana_estimate_cell *a = &g->cell[first], *b = &g->cell[last];
	double pa = rate_between(a, a->joined ? a - 1 : NULL);
	double pb = rate_between(b, last + 1 < g->cells && b[1].joined ? b + 1 : NULL);
	double age = a->gpm ? AGE_GPM_NS : AGE_DRIVER_NS, var, x, coarse, q;

	coarse = pa + pb;
	coarse = coarse / 2.0;
	coarse = coarse * 2.0;
	coarse = coarse * (g->gaps ? (double)g->gap_ns / (double)g->gaps : 0.0);
	coarse = coarse / age;
	coarse = coarse < 1.0 ? coarse : 1.0;
	var = pa * pa;
	x = pb * pb;
	var = var + x;
	var = var / 12.0;
	x = pa - pb;
	x = x * x;
	x = x / 4.0;
	var = var + x;
	q = pa * (1.0 - pa);
	x = pb * (1.0 - pb);
	q = q + x;
	x = coarse * q;
	x = x / 3.0;
	var = var + x;
	var = var * age;
	return var * age;
}

double ana_estimate_edges(const struct ana_estimate_gpu *g, enum ana_estimate_pick pick, int state)
{
	double var = 0.0;
	size_t i = 0, last;

	for (; i < g->cells; i = last + 1) {
		last = i;
		if (!ana_estimate_is(&g->cell[i], pick, state))
			continue;
		while (last + 1 < g->cells && g->cell[last + 1].joined &&
		       ana_estimate_is(&g->cell[last + 1], pick, state))
			last++;
		var += edge_variance(g, i, last);
	}
	return var;
}

static void sum_pairs(const struct ana_estimate_gpu *g, int state, struct ratio *r)
{
	for (size_t i = 0; i < g->cells; i++) {
		const struct ana_estimate_cell *c = &g->cell[i];

		if (!ana_estimate_is(c, ANA_PICK_SHOWS, state))
			continue;
		r->n++;
		r->said_ns += ana_estimate_said(c);
		r->worked_ns += worked(c);
		r->time_ns += c->end - c->start;
		r->least = base_min(r->least, c->busy);
	}
}

/*
 * How far it may be off: neighbours' readings share the moment between them, so that what one has
 * too much the other lacks.
 */
static void vary(const struct ana_estimate_gpu *g, int state, struct ratio *r)
{
	double share = (double)r->ppm / 1e6, said = (double)r->said_ns, n = (double)r->n;
	double squares = 0.0, neighbours = 0.0, sizes = 0.0, before = 0.0, sum, x, y, t;
	size_t last = SIZE_MAX;

	for (size_t i = 0; i < g->cells; i++) {
		const struct ana_estimate_cell *c = &g->cell[i];

		if (!ana_estimate_is(c, ANA_PICK_SHOWS, state))
			continue;
		y = (double)ana_estimate_said(c);
		x = share * y;
		x = (double)worked(c) - x;
		y = y * y;
		sizes += y;
		y = x * x;
		squares += y;
		y = x * before;
		neighbours += last + 1 == i && c->joined ? y : 0.0;
		before = x;
		last = i;
	}
	sum = 2.0 * neighbours;
	sum = squares + sum;
	x = squares / n;
	sum = sum > x ? sum : x;
	r->var = sum / said / said;
	if (r->n > 1) {
		t = ana_estimate_few(r->n);
		x = n / (n - 1.0);
		r->var = r->var * x;
		r->var = r->var * t;
		r->var = r->var * t;
	}
	x = ana_estimate_edges(g, ANA_PICK_SHOWS, state);
	r->var += x / said / said;
	r->apart = squares / sizes;
}

static int64_t ppm_of(int64_t worked_ns, int64_t of_ns, int64_t most)
{
	__int128 ppm = (__int128)worked_ns * ANA_SHARE_WHOLE / of_ns;

	return (int64_t)base_max(base_min(ppm, most), LEAST_PPM);
}

static struct ratio ratio_of(const struct ana_estimate_gpu *g, int state)
{
	struct ratio r = { .ppm = ANA_SHARE_WHOLE, .least = UINT32_MAX };

	sum_pairs(g, state, &r);
	if (!r.said_ns)
		r.n = 0;
	if (!r.n)
		return r;
	r.ppm = ppm_of(r.worked_ns, r.said_ns, MOST_PPM);
	vary(g, state, &r);
	return r;
}

/* x to the @g, 0 to 1, by square roots: they are the same everywhere. */
static double power(double x, double g)
{
	double y = 1.0;

	for (int k = 0; k < BITS; k++) {
		x = sqrt(x);
		g = g * 2.0;
		if (g < 1.0)
			continue;
		y = y * x;
		g = g - 1.0;
	}
	return y;
}

/* Of the power that brings what was said while all was recorded to what was. */
static double exponent(double left, double recorded)
{
	double low = 0.0, high = 1.0, mid;

	for (int k = 0; k < BITS; k++) {
		mid = low + high;
		mid = mid / 2.0;
		if (1.0 - power(left, mid) >= recorded)
			high = mid;
		else
			low = mid;
	}
	return high;
}

/* A reading of what was not recorded that is corrected by those of @state. */
static bool is_of(const struct ana_estimate_cell *c, int state, const bool *own)
{
	return ana_estimate_is(c, ANA_PICK_TELLS, state) && (state < ANA_STATES || !own[c->top]);
}

/*
 * Where launches come faster than while they were recorded, what is around kernels may overlap: how
 * much more would be busy if kernels came at random.
 */
static double denser_ns(const struct ana_estimate_gpu *g, int state, const struct ratio *r,
			const bool *own)
{
	double share = (double)r->ppm / 1e6, said = (double)r->said_ns / (double)r->time_ns;
	double more = 0.0, x = share * said, e;

	if (r->ppm >= ANA_SHARE_WHOLE || said >= 1.0 || said <= 0.0)
		return 0.0;
	e = exponent(1.0 - said, x);
	for (size_t i = 0; i < g->cells; i++) {
		const struct ana_estimate_cell *c = &g->cell[i];
		double y = rate(c), z;

		if (!is_of(c, state, own))
			continue;
		z = share * y;
		y = 1.0 - power(1.0 - y, e);
		y = y - z;
		y = y * (double)(c->end - c->start);
		more += y;
	}
	return more;
}

/* Where much less is said than in all that show, other kernels may run: it may all be busy. */
static double sparser_ns(const struct ana_estimate_gpu *g, int state, const struct ratio *r,
			 const bool *own)
{
	int64_t said = 0;
	double part = 1.0 - (double)r->ppm / 1e6;

	if (r->ppm >= ANA_SHARE_WHOLE)
		return 0.0;
	for (size_t i = 0; i < g->cells; i++)
		if (is_of(&g->cell[i], state, own) && g->cell[i].busy * 2 < r->least)
			said += ana_estimate_said(&g->cell[i]);
	return part * (double)said;
}

/* By all but what readings of that state differ by themselves. */
static void doubt(const struct ana_estimate_gpu *g, int state, const bool *own, struct ratio *r,
		  int64_t said)
{
	double off = (double)r->ppm / 1e6, x;

	off = off - 1.0;
	off = off * off;
	if (off <= r->var) { /* it may as well be all: half of that deviation is left open */
		r->var = off / 4.0;
		r->ppm = ANA_SHARE_WHOLE;
	}
	if (r->n < FEW)
		r->var += FEW_VAR;
	x = denser_ns(g, state, r, own) / ANA_NORMAL;
	x = x / (double)base_max(said, 1);
	x = x * x;
	r->var += x;
	x = sparser_ns(g, state, r, own) / (double)base_max(said, 1);
	x = x * x;
	r->var += x;
}

/* Readings of one state, or with ANA_STATES of those that no readings of their own tell of. */
static void correct(struct ana_estimate_gpu *g, int state, bool *own, struct ana_allotted *a)
{
	struct ratio r = ratio_of(g, state);
	int64_t said = 0;
	double wide;

	if (state < ANA_STATES && r.n < ALIKE_LEAST)
		return;
	own[state] = true;
	for (size_t i = 0; i < g->cells; i++)
		if (is_of(&g->cell[i], state, own))
			said += ana_estimate_said(&g->cell[i]);
	if (!r.n)
		r.var = NONE_VAR;
	if (state == ANA_STATES && r.n > 1)
		r.var += r.apart;
	if (r.n)
		doubt(g, state, own, &r, said);
	for (size_t i = 0; i < g->cells; i++)
		if (is_of(&g->cell[i], state, own))
			g->cell[i].ppm = r.ppm;
	wide = (double)said;
	wide = wide * wide;
	wide = wide * r.var;
	a->meter_var += wide;
}

/* What all readings tell that show what was recorded. */
struct pairs {
	size_t n;
	int64_t said_ns, sm_ns, worked_ns;
};

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
static double grain(const struct ana_estimate_gpu *g, enum ana_estimate_pick pick)
{
	int64_t sm = 0, span = 0;
	double part;

	for (size_t i = 0; i < g->cells; i++) {
		const struct ana_estimate_cell *c = &g->cell[i];

		if (!ana_estimate_is(c, pick, ANA_STATES))
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
		x = share * (double)(by_sm ? ana_estimate_sm(c) : ana_estimate_said(c));
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

static bool says_too_much(const struct ana_estimate_gpu *g, const struct pairs *p,
			  const struct ana_allotted *a)
{
	if (p->n < FEW)
		return (__int128)p->worked_ns * 100 <= (__int128)p->said_ns * TOO_MUCH;
	return a->busy_ppm < ANA_SHARE_WHOLE &&
	       is_sure(a->busy_ppm, variance(g, p, false, a->busy_ppm));
}

/* False: it does not count. */
static bool count_sm(const struct ana_estimate_gpu *g, const struct pairs *p,
		     struct ana_allotted *a)
{
	double shows = grain(g, ANA_PICK_SHOWS), tells = grain(g, ANA_PICK_TELLS), var = 0.0, wide;
	int64_t said = 0;

	if (!says_too_much(g, p, a) || !knows_sm(g) || shows >= 1.0 || tells >= 1.0)
		return false;
	a->by_sm = true;
	a->worked_ppm = ppm_of(p->worked_ns, p->sm_ns, MOST_SM_PPM);
	for (size_t i = 0; i < g->cells; i++)
		if (ana_estimate_tells(&g->cell[i]))
			said += ana_estimate_sm(&g->cell[i]);
	if (p->n > 1) {
		var = variance(g, p, true, a->worked_ppm);
		var = var * ana_estimate_few(p->n);
		var = var * ana_estimate_few(p->n);
	}
	var += grain_variance(shows, tells, a->worked_ppm);
	wide = (double)said;
	wide = wide * wide;
	a->meter_var = wide * var;
	return true;
}

static void count_busy(struct ana_estimate_gpu *g, struct ana_allotted *a)
{
	bool own[ANA_STATES + 1] = { false };
	__int128 corrected = 0;
	int64_t said = 0;

	for (int s = 0; s <= ANA_STATES; s++)
		correct(g, s, own, a);
	for (size_t i = 0; i < g->cells; i++) {
		if (!ana_estimate_tells(&g->cell[i]))
			continue;
		said += ana_estimate_said(&g->cell[i]);
		corrected += (__int128)ana_estimate_said(&g->cell[i]) * g->cell[i].ppm;
	}
	a->worked_ppm = said ? (int64_t)(corrected / said) : ANA_SHARE_WHOLE;
}

void ana_estimate_correct(struct ana_estimate_gpu *g, struct ana_allotted *a)
{
	struct pairs p = pairs_of(g);

	a->busy_ppm = ANA_SHARE_WHOLE;
	a->unchecked = g->governed && !p.n && knows_sm(g);
	if (p.n && p.said_ns) {
		a->busy_ppm = ppm_of(p.worked_ns, p.said_ns, MOST_PPM);
		if (count_sm(g, &p, a))
			return;
	}
	count_busy(g, a);
}
