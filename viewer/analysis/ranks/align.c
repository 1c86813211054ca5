/* SPDX-License-Identifier: Apache-2.0 */
#include "align.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLE 256u /* distances looked at per lag */
#define LAGS 512 /* tried to either side, besides the difference in length */
#define DISTANCES 3u
#define DOUBT 4000000 /* four deviations of a score, squared, times how many it is of */
#define FOLLOW_NS 100000 /* an end is looked for so near to where it should be ... */
#define FOLLOW_PPM 100 /* ... and so much further per time without one */
#define FOLLOW_MAX_NS 5000000
#define POINTS_LEAST 3u
#define RESIDUAL_MAX_NS 1000000
#define LIKE_LEAST 64 /* distances that tell whether two vary alike, ... */
#define LIKE_NS 1000
#define LIKE_LAGS 16 /* ... and shifts that tell it */
#define CLASSES 4u /* how near ends are, as a class */
#define CLASS_PCT 30 /* of the ends of who has fewer are in it, and ... */
#define FAR_OFF 4 /* ... so many times further is no end of theirs */
#define NEAR_NS 20000 /* nobody is as near by chance */
#define NEARLY_NS 80000
#define MATCHED_PCT 75 /* of the ends of who has fewer are nearly all */
#define DRIFT_MAX_PPB 100000 /* of two clocks against each other; made ones differ by 50 ppm */
#define WANDER 2 /* residuals that a clock may be off a straight line */
#define PER_KNOT 16u

/*
 * Distances between ends agree to this, and to a five-thousandth: the first at which half of them
 * do. Ends on one node are closer to each other than to those on another.
 */
static const int64_t distance_ns[DISTANCES] = { 30000, 100000, 300000 };

static const int64_t class_ns[CLASSES] = { 5000, 20000, 80000, 320000 };

struct points {
	int64_t *t, *d;
	size_t count;
	size_t passed; /* ends from the first to the last of them, of the side with fewer */
};

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static int64_t distance(int64_t a, int64_t b)
{
	return a < b ? b - a : a - b;
}

static bool agree(const int64_t *x, const int64_t *y, int64_t within)
{
	int64_t dx = x[0] - x[-1], dy = y[0] - y[-1];

	return distance(dx, dy) <= within + dx / 5000;
}

struct sides { /* ends on two clocks, ascending */
	const int64_t *x, *y;
	size_t nx, ny;
	int64_t within; /* distances agree */
};

/*
 * How many of a thousand distances agree when x[k] is beside y[k + lag], of *all that were looked
 * at; -1: too few to say.
 */
static int score(const struct sides *s, int64_t lag, int *all)
{
	const int64_t *x = s->x, *y = s->y;
	size_t nx = s->nx, ny = s->ny;
	int64_t from = lag < 0 ? -lag : 0, to = (int64_t)ny - lag, k, step;
	int good = 0;

	*all = 0;
	if (to > (int64_t)nx)
		to = (int64_t)nx;
	if (to - from < (int64_t)POINTS_LEAST)
		return -1;
	step = (to - from) / SAMPLE + 1;
	for (k = from + 1; k < to; k += step, ++*all)
		good += agree(&x[k], &y[k + lag], s->within);
	return *all ? good * 1000 / *all : -1;
}

/* So much better than @best that it is no chance. */
static void try_lag(const struct sides *s, int64_t at, int *best, int64_t *lag)
{
	int all, now = score(s, at, &all);

	if (now <= *best || (int64_t)(now - *best) * (now - *best) * all <= DOUBT)
		return;
	*best = now;
	*lag = at;
}

/* Of lags that are equally good the nearest to none: both began at the same collective. */
static bool find_lag(const struct sides *s, int64_t *lag)
{
	int64_t most = LAGS + distance((int64_t)s->nx, (int64_t)s->ny), i;
	int all, best = score(s, 0, &all);

	*lag = 0;
	if (most > 4 * LAGS)
		most = 4 * LAGS;
	for (i = 1; i <= most && best < 980; i++) {
		try_lag(s, i, &best, lag);
		try_lag(s, -i, &best, lag);
	}
	return best >= 500;
}

static bool find_any_lag(struct sides *s, int64_t *lag)
{
	size_t i;

	for (i = 0; i < DISTANCES; i++) {
		s->within = distance_ns[i];
		if (find_lag(s, lag))
			return true;
	}
	return false;
}

/* The value of ascending @x nearest to @t, searched from *@at on. */
static int64_t nearest(const int64_t *x, size_t n, size_t *at, int64_t t)
{
	while (*at + 1 < n && distance(x[*at + 1], t) <= distance(x[*at], t))
		(*at)++;
	return x[*at];
}

/* Follows the offset from the first pair that agrees. */
static void follow(const struct sides *s, int64_t lag, struct points *p)
{
	const int64_t *x = s->x, *y = s->y;
	size_t nx = s->nx, ny = s->ny;
	size_t k = lag < 0 ? (size_t)-lag : 0, at = 0, first_x = 0, first_y = 0, i;
	int64_t offset, last;

	for (k++; k + 1 < nx && (int64_t)k + lag + 1 < (int64_t)ny; k++)
		if (agree(&x[k], &y[(int64_t)k + lag], s->within))
			break;
	if (k >= nx || (int64_t)k + lag >= (int64_t)ny)
		return;
	i = (size_t)((int64_t)k + lag);
	offset = x[k] - y[i];
	last = y[i];
	i = i > 0 ? i - 1 : 0;
	for (; i < ny; i++) {
		int64_t gap = distance(y[i], last);
		int64_t room = FOLLOW_NS + gap / 1000000 * FOLLOW_PPM;
		int64_t d = nearest(x, nx, &at, y[i] + offset) - y[i];

		if (distance(d, offset) > (room < FOLLOW_MAX_NS ? room : FOLLOW_MAX_NS))
			continue;
		p->t[p->count] = y[i];
		p->d[p->count++] = offset = d;
		last = y[i];
		first_x = p->count == 1 ? at : first_x;
		first_y = p->count == 1 ? i : first_y;
		p->passed = at - first_x < i - first_y ? at - first_x + 1 : i - first_y + 1;
	}
}

static int64_t median(const int64_t *v, size_t n, int64_t *room)
{
	memcpy(room, v, n * sizeof(*v));
	qsort(room, n, sizeof(*room), by_value);
	return room[n / 2];
}

/* Where a third of them lie closest together, as those of one other GPU's do among many others'. */
static int64_t densest(const int64_t *v, size_t n, int64_t *room)
{
	size_t third = n / 3, i, best = 0;

	memcpy(room, v, n * sizeof(*v));
	qsort(room, n, sizeof(*room), by_value);
	for (i = 1; i + third < n; i++)
		if (room[i + third] - room[i] < room[best + third] - room[best])
			best = i;
	return room[best + third / 2];
}

static void make_knots(struct ana_timebase *b, const struct points *p,
		       int64_t (*middle)(const int64_t *v, size_t n, int64_t *room), int64_t *room)
{
	size_t n = p->count / PER_KNOT, i;

	n = n > ANA_KNOTS ? ANA_KNOTS : n;
	n = n < 2 && p->count >= 4 ? 2 : n;
	n = n < 1 ? 1 : n;
	b->knots = 0;
	for (i = 0; i < n; i++) {
		size_t from = p->count * i / n, to = p->count * (i + 1) / n;
		struct ana_knot k = { p->t[from + (to - from) / 2],
				      middle(p->d + from, to - from, room) };

		if (!b->knots || k.t > b->knot[b->knots - 1].t)
			b->knot[b->knots++] = k;
	}
}

static int64_t deviation(const struct ana_timebase *b, const struct points *p, size_t i)
{
	return distance(ana_align_to(b, p->t[i]), p->t[i] + p->d[i]);
}

/*
 * How near so many ends of the lane with fewer are, as a class: what is beyond is no matter, but
 * that it is less, as where ends lie anyhow it is not.
 */
static int64_t class_of(const struct ana_timebase *b, const struct points *p)
{
	size_t c, i, n;

	for (c = 0; c < CLASSES; c++) {
		for (n = 0, i = 0; i < p->count; i++)
			n += deviation(b, p, i) <= class_ns[c];
		if (n * 100 >= p->passed * CLASS_PCT && n * 2 >= p->count)
			return class_ns[c];
	}
	return RESIDUAL_MAX_NS;
}

/*
 * Without those far off: a lane whose kernels meet several others by turns has ends beside others'
 * that merely are near.
 */
static void leave_out(struct points *p, const struct ana_timebase *b, int64_t beyond)
{
	size_t n = 0, i;

	for (i = 0; i < p->count; i++) {
		if (deviation(b, p, i) > beyond)
			continue;
		p->t[n] = p->t[i];
		p->d[n++] = p->d[i];
	}
	p->count = n;
}

/* Half of them are as near as that or nearer; *most: 95 % of them. */
static int64_t typical(const struct ana_timebase *b, const struct points *p, int64_t *room,
		       int64_t *most)
{
	size_t i;

	for (i = 0; i < p->count; i++)
		room[i] = deviation(b, p, i);
	qsort(room, p->count, sizeof(*room), by_value);
	*most = room[p->count - 1 - p->count / 20];
	return room[p->count / 2];
}

/*
 * How much distances differ, of some, three quarters of them at most: within a step they may always
 * be the same. INT64_MAX: too few to say.
 */
static int64_t usual_difference(const struct sides *s, int64_t lag)
{
	int64_t from = lag < 0 ? -lag : 0, to = (int64_t)s->ny - lag, step, k, room[2 * SAMPLE];
	size_t n = 0;

	to = to < (int64_t)s->nx ? to : (int64_t)s->nx;
	if (to - from < LIKE_LEAST)
		return INT64_MAX;
	step = (to - from) / SAMPLE + 1;
	for (k = from + 1; k < to; k += step)
		room[n++] = distance(s->x[k] - s->x[k - 1], s->y[k + lag] - s->y[k + lag - 1]);
	qsort(room, n, sizeof(*room), by_value);
	return room[n - 1 - n / 4];
}

/*
 * What varies from collective to collective varies on both: shifted by any other number of them,
 * distances differ by much more. Of two that merely do the same, as often, they do not.
 */
static bool vary_alike(const struct sides *s, int64_t lag)
{
	int64_t here = usual_difference(s, lag), i;

	for (i = 1; i <= LIKE_LAGS && here < INT64_MAX; i++)
		if (usual_difference(s, lag + i) < 2 * here + LIKE_NS ||
		    usual_difference(s, lag - i) < 2 * here + LIKE_NS)
			return false;
	return here < INT64_MAX;
}

/* As clocks drift: little, and much the same all along. */
static bool drifts_as_clocks(const struct ana_timebase *b)
{
	const struct ana_knot *first = b->knot, *last = &b->knot[b->knots - 1];
	int64_t span = last->t - first->t, most = WANDER * b->residual_ns;
	uint32_t i;

	if (span <= 0)
		return true;
	if (distance(b->drift_ppb, 0) > DRIFT_MAX_PPB)
		return false;
	for (i = 1; i + 1 < b->knots; i++) {
		const struct ana_knot *k = &b->knot[i];
		int64_t line = (int64_t)((__int128)(last->offset - first->offset) *
					 (k->t - first->t) / span);

		if (distance(k->offset - first->offset, line) > most)
			return false;
	}
	return true;
}

static void set_drift(struct ana_timebase *b)
{
	const struct ana_knot *first = b->knot, *last = &b->knot[b->knots - 1];

	if (last->t > first->t)
		b->drift_ppb = (int64_t)((__int128)(last->offset - first->offset) * 1000000000 /
					 (last->t - first->t));
}

/* Nearer than by chance, or nearly all of them nearly so. */
static bool is_near(const struct ana_timebase *b)
{
	return b->within_ns <= NEAR_NS ||
	       (b->within_ns <= NEARLY_NS && b->points * 100 >= b->of * MATCHED_PCT);
}

static void judge(struct ana_timebase *out, const struct sides *s, int64_t lag,
		  const struct points *p, int64_t *room)
{
	make_knots(out, p, median, room);
	out->typical_ns = typical(out, p, room, &out->residual_ns);
	out->points = p->count;
	out->of = p->passed;
	set_drift(out);
	out->aligned = out->residual_ns <= RESIDUAL_MAX_NS &&
		       ((drifts_as_clocks(out) && is_near(out)) || vary_alike(s, lag));
}

bool ana_align_pair(const int64_t *x, size_t nx, const int64_t *y, size_t ny,
		    struct ana_timebase *out)
{
	struct sides s = { .x = x, .y = y, .nx = nx, .ny = ny };
	struct points p = { 0 };
	int64_t *room = malloc((3 * ny + 1) * sizeof(*room)), lag;

	*out = (struct ana_timebase){ 0 };
	if (!room || nx < POINTS_LEAST || ny < POINTS_LEAST || !find_any_lag(&s, &lag)) {
		free(room);
		return false;
	}
	p.t = room + ny;
	p.d = room + 2 * ny;
	follow(&s, lag, &p);
	if (p.count >= POINTS_LEAST) {
		make_knots(out, &p, densest, room);
		out->within_ns = class_of(out, &p);
		leave_out(&p, out, FAR_OFF * out->within_ns);
	}
	if (p.count >= POINTS_LEAST)
		judge(out, &s, lag, &p, room);
	free(room);
	return out->aligned;
}

int64_t ana_align_to(const struct ana_timebase *b, int64_t t)
{
	const struct ana_knot *k = b->knot, *n;
	uint32_t low = 0, high = b->knots;

	if (!b->knots)
		return t;
	if (b->knots == 1)
		return t + k->offset;
	while (high - low > 1) { /* the last knot not after it */
		uint32_t mid = low + (high - low) / 2;

		if (b->knot[mid].t <= t)
			low = mid;
		else
			high = mid;
	}
	if (low == b->knots - 1)
		low--;
	k = &b->knot[low];
	n = k + 1;
	return t + k->offset +
	       (int64_t)((__int128)(n->offset - k->offset) * (t - k->t) / (n->t - k->t));
}

int64_t ana_align_offset(const struct ana_timebase *b)
{
	int64_t t;

	if (!b->knots)
		return 0;
	t = b->knot[0].t + (b->knot[b->knots - 1].t - b->knot[0].t) / 2;
	return ana_align_to(b, t) - t;
}
