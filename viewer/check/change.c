/* SPDX-License-Identifier: Apache-2.0 */
#include "change.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

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

/* As many runs as there are, from each as many items as it has, in blocks. */
static struct drawn draw(const struct side *s, uint64_t *state)
{
	struct drawn d = { 0 };

	for (size_t r = 0; r < s->runs; r++) {
		const struct prefix *p = &s->run[s->runs > 1 ? pick(state, s->runs) : 0];
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

/* The normal quantile for tails down to 1e-12, by bisection: called twice, so it may be slow. */
static double normal_quantile(double p)
{
	double low = -8, high = 8;

	for (int i = 0; i < 80; i++) {
		double mid = (low + high) / 2;
		if (0.5 * erfc(-mid / M_SQRT2) < p)
			low = mid;
		else
			high = mid;
	}
	return (low + high) / 2;
}

/* How much wider Student's t with @freedom is than the normal: the usual expansion in 1 / freedom. */
static double widening(double alpha, size_t blocks)
{
	double z = normal_quantile(1 - alpha / 2), v = blocks > 2 ? (double)blocks - 1 : 1;
	double t = z + (pow(z, 3) + z) / (4 * v) +
		   (5 * pow(z, 5) + 16 * pow(z, 3) + 3 * z) / (96 * v * v);

	return t / z * sqrt((v + 1) / v);
}

/* Of the draws @x around @centre; the caller's scale. */
static struct check_interval interval(double *x, double centre, size_t blocks, double alpha)
{
	size_t tail = (size_t)floor(DRAWS * alpha / 2);
	double wide = widening(alpha, blocks);

	qsort(x, DRAWS, sizeof(*x), ascending);
	return (struct check_interval){ centre, centre + (x[tail] - centre) * wide,
					centre + (x[DRAWS - 1 - tail] - centre) * wide };
}

/* Logarithms made the two directions of a ratio alike; back to new / old - 1. */
static struct check_interval relative(struct check_interval i)
{
	return (struct check_interval){ expm1(i.value), expm1(i.low), expm1(i.high) };
}

static double log_ratio(const struct drawn *o, const struct drawn *n, int k)
{
	return log((n->sum[k] / n->steps) / (o->sum[k] / o->steps));
}

static struct drawn whole_of(const struct side *s)
{
	struct drawn d = { .steps = s->steps };

	for (int k = 0; k < SUMS; k++)
		d.sum[k] = s->sum[k];
	return d;
}

static double exposed_more(const struct drawn *o, const struct drawn *n, double old_step)
{
	return (n->sum[EXPOSED] / n->steps - o->sum[EXPOSED] / o->steps) / old_step;
}

static int bootstrap(const struct side *o, const struct side *n, double alpha,
		     struct check_change *out)
{
	double *x[SUMS] = { 0 }, old_step = o->sum[NS] / o->steps;
	struct drawn old = whole_of(o), new = whole_of(n);
	uint64_t state = 20261109;
	int err = 0;

	for (int k = 0; k < SUMS; k++) {
		x[k] = calloc(DRAWS, sizeof(double));
		err = x[k] ? err : -ENOMEM;
	}
	if (err)
		goto out;
	for (int i = 0; i < DRAWS; i++) {
		struct drawn a = draw(o, &state), b = draw(n, &state);
		x[NS][i] = log_ratio(&a, &b, NS);
		x[CUT_NS][i] = log_ratio(&a, &b, CUT_NS);
		x[EXPOSED][i] = exposed_more(&a, &b, old_step);
	}
	out->blocks = o->blocks < n->blocks ? o->blocks : n->blocks;
	out->whole = relative(interval(x[NS], log_ratio(&old, &new, NS), out->blocks, alpha / 2));
	out->typical = relative(
		interval(x[CUT_NS], log_ratio(&old, &new, CUT_NS), out->blocks, alpha / 2));
	out->exposed = interval(x[EXPOSED], exposed_more(&old, &new, old_step), out->blocks, alpha);
out:
	for (int k = 0; k < SUMS; k++)
		free(x[k]);
	return err;
}

int check_change_estimate(const struct check_series *olds, size_t old_count,
			  const struct check_series *news, size_t new_count, double alpha,
			  struct check_change *out)
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
		err = bootstrap(&o, &n, alpha, out);
	}
	side_fini(&o);
	side_fini(&n);
	return err;
}
