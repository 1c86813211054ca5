/* SPDX-License-Identifier: Apache-2.0 */
#include "peaks.h"

#include "base/minmax.h"
#include "base/units.h"

#define PPM 1000000

struct pair { /* of GPUs, and what runs there */
	const struct fit_gpu *a, *b;
	const struct ana_work *work;
};

/* Ratios of times, millionths; none: low > high. */
static const struct fit_range nothing = { INT64_MAX, 0 };

static void widen(struct fit_range *r, int64_t ppm)
{
	r->low = base_min(r->low, ppm);
	r->high = base_max(r->high, ppm);
}

static void widen_by(struct fit_range *r, struct fit_range more)
{
	if (more.low <= more.high) {
		widen(r, more.low);
		widen(r, more.high);
	}
}

/* What takes 1 at the rate @a takes so much at the rate @b. */
static struct fit_range ratio(int64_t a, int64_t b)
{
	struct fit_range r = nothing;

	if (a > 0 && b > 0)
		widen(&r, base_ppm(a, b));
	return r;
}

/* The rate of a precision; what lacks it computes in the next that it has. */
static int64_t rate(const struct fit_gpu *g, int precision)
{
	static const int instead[FACTS_PRECISIONS] = {
		[FACTS_PRECISION_TF32] = FACTS_PRECISION_FP32,
		[FACTS_PRECISION_BF16] = FACTS_PRECISION_FP32,
		[FACTS_PRECISION_FP8] = FACTS_PRECISION_FP16,
	};
	int64_t own = g->peak[precision];

	return own == FIT_NONE && instead[precision] ? g->peak[instead[precision]] : own;
}

/* What a kernel may compute in whose name does not tell: what is usual, and what others do. */
static bool is_usual(const struct ana_work *w, int precision)
{
	if (precision == FACTS_PRECISION_FP32 || precision == FACTS_PRECISION_TF32 ||
	    precision == FACTS_PRECISION_BF16 || precision == FACTS_PRECISION_FP16)
		return true;
	for (int k = 0; k < FACTS_KINDS; k++)
		if (w->ns[ANA_WORK(k, precision)])
			return precision != FACTS_PRECISION_UNKNOWN;
	return false;
}

static struct fit_range arithmetic(const struct pair *g, int precision)
{
	struct fit_range r = nothing;

	if (precision != FACTS_PRECISION_UNKNOWN)
		return ratio(rate(g->a, precision), rate(g->b, precision));
	for (int p = 0; p < FACTS_PRECISIONS; p++)
		if (is_usual(g->work, p))
			widen_by(&r, ratio(rate(g->a, p), rate(g->b, p)));
	return r;
}

/* Whether kernels of a kind compute more than they move. */
static bool is_dense(int kind)
{
	return kind == FACTS_KIND_MATMUL || kind == FACTS_KIND_ATTENTION ||
	       kind == FACTS_KIND_CONVOLUTION;
}

static bool is_streaming(int kind)
{
	return kind == FACTS_KIND_NORMALISATION || kind == FACTS_KIND_ELEMENTWISE ||
	       kind == FACTS_KIND_REDUCTION || kind == FACTS_KIND_OPTIMIZER ||
	       kind == FACTS_KIND_EMBEDDING;
}

/* Between moving bytes alone and computing alone; none where either is not known. */
static struct fit_range moved_or_computed(const struct pair *g, int precision)
{
	struct fit_range memory = ratio(g->a->memory, g->b->memory);
	struct fit_range math = arithmetic(g, precision);

	if (memory.low > memory.high || math.low > math.high)
		return nothing;
	widen_by(&memory, math);
	return memory;
}

static struct fit_range any_ratio(const struct pair *g)
{
	return moved_or_computed(g, FACTS_PRECISION_UNKNOWN);
}

static struct fit_range kind_ratio(const struct pair *g, int kind, int precision)
{
	if (is_streaming(kind))
		return ratio(g->a->memory, g->b->memory);
	return is_dense(kind) ? moved_or_computed(g, precision) : any_ratio(g);
}

struct sum { /* of times on B */
	struct fit_range ns;
	int64_t unknown_ns; /* on A: of no ratio that is known */
	struct fit_range all; /* the ratios that were met */
};

static void add(struct sum *s, int64_t ns, struct fit_range r)
{
	if (r.low > r.high) {
		s->unknown_ns += ns;
		return;
	}
	widen_by(&s->all, r);
	s->ns.low += base_div_even((base_wide)ns * r.low, PPM);
	s->ns.high += base_div_even((base_wide)ns * r.high, PPM);
}

static void add_compute(struct sum *sum, const struct pair *g)
{
	const struct ana_work *w = g->work;

	for (int i = 0; i < ANA_WORKS; i++) {
		struct fit_range r;
		if (!w->ns[i])
			continue;
		r = kind_ratio(g, i / FACTS_PRECISIONS, i % FACTS_PRECISIONS);
		if (r.low <= r.high && w->count[i] &&
		    w->ns[i] / (int64_t)w->count[i] < FIT_SHORT_NS)
			widen(&r, PPM);
		add(sum, w->ns[i], r);
	}
}

/* Over the link, or over something else that is as it was. */
static struct fit_range carried(int64_t a, int64_t b)
{
	struct fit_range r = ratio(a, b);

	if (r.low <= r.high)
		widen(&r, PPM);
	return r;
}

static int64_t between_gpus(const struct fit_gpu *g)
{
	return g->link == FIT_NONE ? 2 * g->host : g->link;
}

const char *fit_work(const struct view_summary *s, const struct fit_gpu *a, const struct fit_gpu *b,
		     struct fit_range *d)
{
	const int64_t *c = s->result->classes;
	int64_t unseen = c[ANA_EXCLUDED_UNOBSERVED] + c[ANA_DEVICE_LOST];
	int64_t work = (int64_t)ana_class_sum(c, ana_class_is_busy) + c[ANA_INPUT_H2D] + unseen;
	const struct pair g = { a, b, &s->result->work };
	struct sum sum = { .all = nothing };

	*d = (struct fit_range){ 0, 0 };
	if (a == b)
		return NULL;
	add_compute(&sum, &g);
	if (c[ANA_COPY] + c[ANA_INPUT_H2D])
		add(&sum, c[ANA_COPY] + c[ANA_INPUT_H2D], carried(a->host, b->host));
	if (c[ANA_COMM])
		add(&sum, c[ANA_COMM], carried(between_gpus(a), between_gpus(b)));
	/* Who waits for a late rank waits for its work; and what nobody saw may have been any. */
	struct fit_range any = any_ratio(&g);
	widen_by(&any, sum.all);
	if (any.low <= any.high)
		widen(&any, PPM);
	if (c[ANA_COMM_SKEW] + unseen)
		add(&sum, c[ANA_COMM_SKEW] + unseen, any);
	if (sum.unknown_ns)
		return "some of its work has no published ratio between the two GPUs";
	d->low = sum.ns.low - work;
	d->high = sum.ns.high - work;
	return NULL;
}
