/* SPDX-License-Identifier: Apache-2.0 */
#include "change.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "student.h"

#define DRAWS 8000
#define BLOCKS_LEAST 8

enum { /* what is summed */
	NS,
	CUT_NS, /* items cut at CUT times the median */
	EXPOSED,
	SUMS
};
#define CUT 2

struct prefix { /* sums over the items of one run, twice around */
	double *sum[SUMS]; /* [2 * count + 1] */
	size_t count, block;
	double steps; /* in an item */
};

struct side {
	struct prefix *run;
	size_t runs, blocks;
	double sum[SUMS], steps; /* of all items */
};

struct drawn {
	double sum[SUMS], steps;
};

/* splitmix64: small, and good enough to pick blocks. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static size_t pick(uint64_t *state, size_t n)
{
	return (size_t)(((unsigned __int128)next_random(state) * n) >> 64);
}

static size_t block_length(size_t n)
{
	size_t length = (size_t)ceil(2 * sqrt((double)n));

	if (length > n / BLOCKS_LEAST)
		length = n / BLOCKS_LEAST;
	return length ? length : 1;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts a copy; 0 without memory, which cuts nothing off below it. */
static double median_of(const struct check_series *s)
{
	double *ns = calloc(s->count, sizeof(*ns)), median = 0;

	for (size_t i = 0; ns && i < s->count; i++)
		ns[i] = (double)s->item[i].ns;
	if (ns) {
		qsort(ns, s->count, sizeof(*ns), ascending);
		median = ns[s->count / 2];
	}
	free(ns);
	return median;
}

static int prefix_make(struct prefix *p, const struct check_series *s)
{
	double cut = CUT * median_of(s);
	size_t n = s->count;

	for (int k = 0; k < SUMS; k++) {
		p->sum[k] = calloc(2 * n + 1, sizeof(double));
		/* -fanalyzer: no leak, side_fini() frees it whatever becomes of this */
		if (!p->sum[k] || cut <= 0)
			return -ENOMEM;
	}
	for (size_t i = 0; i < 2 * n; i++) {
		double ns = (double)s->item[i % n].ns;
		p->sum[NS][i + 1] = p->sum[NS][i] + ns;
		p->sum[CUT_NS][i + 1] = p->sum[CUT_NS][i] + fmin(ns, cut);
		p->sum[EXPOSED][i + 1] = p->sum[EXPOSED][i] + (double)s->item[i % n].exposed_ns;
	}
	p->count = n;
	p->block = block_length(n);
	p->steps = (double)s->width;
	return 0;
}

static void side_fini(struct side *s)
{
	for (size_t i = 0; i < s->runs; i++)
		for (int k = 0; k < SUMS; k++)
			free(s->run[i].sum[k]);
	free(s->run);
}

static int side_make(struct side *s, const struct check_series *series, size_t count)
{
	int err = 0;

	s->run = calloc(count ? count : 1, sizeof(*s->run));
	if (!s->run)
		return -ENOMEM;
	for (size_t i = 0; i < count && !err; i++) {
		if (!series[i].count)
			continue;
		struct prefix *p = &s->run[s->runs++];
		err = prefix_make(p, &series[i]);
		if (err)
			break;
		s->blocks += p->count / p->block;
		for (int k = 0; k < SUMS; k++)
			s->sum[k] += p->sum[k][p->count];
		s->steps += p->steps * (double)p->count;
	}
	if (!err && s->steps < CHECK_STEPS_LEAST)
		err = -ENODATA;
	return err;
}

/*
 * From each run as many items as it has, in blocks: how much steps leave open, not how much runs
 * do.
 */
static struct drawn draw(const struct side *s, uint64_t *state)
{
	struct drawn d = { 0 };

	for (size_t r = 0; r < s->runs; r++) {
		const struct prefix *p = &s->run[r];
		for (size_t left = p->count; left;) {
			size_t length = left < p->block ? left : p->block;
			size_t at = pick(state, p->count);
			for (int k = 0; k < SUMS; k++)
				d.sum[k] += p->sum[k][at + length] - p->sum[k][at];
			left -= length;
		}
		d.steps += p->steps * (double)p->count;
	}
	return d;
}

/* How much wider Student's t asks an interval from so many blocks to be than the normal. */
static double widening(double alpha, size_t blocks)
{
	double v = blocks > 2 ? (double)blocks - 1 : 1;

	return check_student(alpha, v) / check_normal(alpha) * sqrt((v + 1) / v);
}

/* One measure of a side: as drawn, and of each run as it was. */
struct moments {
	double sum, squares; /* of the draws of a side's mean */
};

static double variance_of(const struct moments *m)
{
	return fmax(0, m->squares / DRAWS - (m->sum / DRAWS) * (m->sum / DRAWS));
}

static double measure(const double sum[SUMS], double steps, int k, double old_step)
{
	return k == EXPOSED ? sum[k] / steps / old_step : log(sum[k] / steps);
}

/* Squared differences of a side's runs from their mean. */
static double scatter(const struct side *s, int k, double old_step)
{
	double sum = 0, squares = 0;

	for (size_t i = 0; i < s->runs; i++) {
		const struct prefix *p = &s->run[i];
		double all[SUMS];
		for (int m = 0; m < SUMS; m++)
			all[m] = p->sum[m][p->count];
		double v = measure(all, p->steps * (double)p->count, k, old_step);
		sum += v;
		squares += v * v;
	}
	return fmax(0, squares - sum * sum / (double)s->runs);
}

/*
 * By how much, as a standard deviation, the means of runs of the same code differ beyond what their
 * steps explain: what was assumed, drawn towards what the runs show, the more the more there are;
 * but never less than they show.
 */
static double between(const struct side *o, const struct side *n, const struct moments drawn[2],
		      int k, double old_step, double assumed)
{
	const struct side *side[] = { o, n };
	double freedom = (double)(o->runs + n->runs - 2), within = 0, seen = 0;

	for (int i = 0; i < 2 && freedom > 0; i++) {
		double runs = (double)side[i]->runs;
		seen += scatter(side[i], k, old_step) / freedom;
		within += (runs - 1) / freedom * variance_of(&drawn[i]) * runs;
	}
	double excess = fmax(0, seen - within);
	double drawn_to = (CHECK_SPREAD_WEIGHT * assumed * assumed + freedom * excess) /
			  (CHECK_SPREAD_WEIGHT + freedom);
	return sqrt(fmax(drawn_to, excess));
}

/* Half of the interval that runs leave open, however many steps they have. */
static double between_half(const struct side *o, const struct side *n, double spread, double alpha)
{
	double freedom = (double)(o->runs + n->runs - 2);
	/* What is assumed is not estimated: there is no t in that. */
	double q = freedom > 0 ? check_student(alpha, CHECK_SPREAD_WEIGHT + freedom)
			       : check_normal(alpha);

	return q * spread * sqrt(1 / (double)o->runs + 1 / (double)n->runs);
}

/* Of the draws @x around @centre; the caller's scale. @half: what is open besides. */
static struct check_interval interval(double *x, double centre, size_t blocks, double alpha,
				      double half)
{
	size_t tail = (size_t)floor(DRAWS * alpha / 2);
	double wide = widening(alpha, blocks);

	qsort(x, DRAWS, sizeof(*x), ascending);
	return (struct check_interval){ centre, centre - hypot((centre - x[tail]) * wide, half),
					centre + hypot((x[DRAWS - 1 - tail] - centre) * wide,
						       half) };
}

/* Logarithms made the two directions of a ratio alike; back to new / old - 1. */
static struct check_interval relative(struct check_interval i)
{
	return (struct check_interval){ expm1(i.value), expm1(i.low), expm1(i.high) };
}

static int bootstrap(const struct side *o, const struct side *n, double alpha, double spread,
		     struct check_change *out)
{
	struct check_interval *const answer[SUMS] = { &out->whole, &out->typical, &out->exposed };
	const double share[SUMS] = { alpha / 2, alpha / 2, alpha };
	double *x[SUMS] = { 0 }, old_step = o->sum[NS] / o->steps;
	struct moments drawn[SUMS][2] = { 0 };
	uint64_t state = 20261109;
	int err = 0;

	for (int k = 0; k < SUMS; k++) {
		x[k] = calloc(DRAWS, sizeof(double));
		err = x[k] ? err : -ENOMEM;
	}
	if (err)
		goto out;
	for (int i = 0; i < DRAWS; i++) {
		struct drawn side[2] = { draw(o, &state), draw(n, &state) };
		for (int k = 0; k < SUMS; k++) {
			double v[2];
			for (int b = 0; b < 2; b++) {
				v[b] = measure(side[b].sum, side[b].steps, k, old_step);
				drawn[k][b].sum += v[b];
				drawn[k][b].squares += v[b] * v[b];
			}
			x[k][i] = v[1] - v[0];
		}
	}
	out->blocks = o->blocks < n->blocks ? o->blocks : n->blocks;
	for (int k = 0; k < SUMS; k++) {
		double runs = between(o, n, drawn[k], k, old_step, spread);
		double value = measure(n->sum, n->steps, k, old_step) -
			       measure(o->sum, o->steps, k, old_step);
		struct check_interval i = interval(x[k], value, out->blocks, share[k],
						   between_half(o, n, runs, share[k]));
		*answer[k] = k == EXPOSED ? i : relative(i);
		out->spread = fmax(out->spread, runs);
	}
out:
	for (int k = 0; k < SUMS; k++)
		free(x[k]);
	return err;
}

int check_change_estimate(const struct check_series *olds, size_t old_count,
			  const struct check_series *news, size_t new_count, double alpha,
			  double spread, struct check_change *out)
{
	struct side o = { 0 }, n = { 0 };
	int err = side_make(&o, olds, old_count);

	*out = (struct check_change){ 0 };
	if (!err)
		err = side_make(&n, news, new_count);
	if (!err) {
		out->old_ms = o.sum[NS] / o.steps / 1e6;
		out->new_ms = n.sum[NS] / n.steps / 1e6;
		out->old_steps = (uint64_t)o.steps;
		out->new_steps = (uint64_t)n.steps;
		err = bootstrap(&o, &n, alpha, spread, out);
	}
	side_fini(&o);
	side_fini(&n);
	return err;
}
