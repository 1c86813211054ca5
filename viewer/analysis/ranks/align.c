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
#define RESIDUAL_GOOD_NS 100000
#define TRIES 64u
#define PER_KNOT 16u

/*
 * Distances between ends agree to this, and to a five-thousandth: the first at which half of them
 * do. Ends on one node are closer to each other than to those on another.
 */
static const int64_t distance_ns[DISTANCES] = { 30000, 100000, 300000 };

struct points {
	int64_t *t, *d;
	size_t count;
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
	size_t k = lag < 0 ? (size_t)-lag : 0, at = 0, i;
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
	}
}

static int64_t median(const int64_t *v, size_t n, int64_t *room)
{
	memcpy(room, v, n * sizeof(*v));
	qsort(room, n, sizeof(*room), by_value);
	return room[n / 2];
}

static void make_knots(struct ana_timebase *b, const struct points *p, int64_t *room)
{
	size_t n = p->count / PER_KNOT, i;

	n = n > ANA_KNOTS ? ANA_KNOTS : n;
	n = n < 2 && p->count >= 4 ? 2 : n;
	n = n < 1 ? 1 : n;
	b->knots = 0;
	for (i = 0; i < n; i++) {
		size_t from = p->count * i / n, to = p->count * (i + 1) / n;
		struct ana_knot k = { p->t[from + (to - from) / 2],
				      median(p->d + from, to - from, room) };

		if (!b->knots || k.t > b->knot[b->knots - 1].t)
			b->knot[b->knots++] = k;
	}
}

static int64_t residual(const struct ana_timebase *b, const struct points *p, int64_t *room)
{
	size_t i;

	for (i = 0; i < p->count; i++)
		room[i] = distance(ana_align_to(b, p->t[i]), p->t[i] + p->d[i]);
	qsort(room, p->count, sizeof(*room), by_value);
	return room[p->count - 1 - p->count / 20];
}

bool ana_align_pair(const int64_t *x, size_t nx, const int64_t *y, size_t ny,
		    struct ana_timebase *out)
{
	struct sides s = { .x = x, .y = y, .nx = nx, .ny = ny };
	struct points p = { 0 };
	int64_t *room = malloc((3 * ny + 1) * sizeof(*room)), lag;
	const struct ana_knot *first, *last;

	*out = (struct ana_timebase){ 0 };
	if (!room || nx < POINTS_LEAST || ny < POINTS_LEAST || !find_any_lag(&s, &lag)) {
		free(room);
		return false;
	}
	p.t = room + ny;
	p.d = room + 2 * ny;
	follow(&s, lag, &p);
	if (p.count >= POINTS_LEAST) {
		make_knots(out, &p, room);
		out->residual_ns = residual(out, &p, room);
		out->points = p.count;
		out->aligned = out->residual_ns <= RESIDUAL_MAX_NS;
		first = out->knot;
		last = &out->knot[out->knots - 1];
		if (last->t > first->t)
			out->drift_ppb = (int64_t)((__int128)(last->offset - first->offset) *
						   1000000000 / (last->t - first->t));
	}
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

/* --- over the logs --- */

struct ends {
	int64_t *at;
	size_t count;
};

/* The ends of one lane's collectives, on the common clock where @b is given. */
static int read_ends(const struct ana_collective_log *t, uint32_t lane,
		     const struct ana_timebase *b, struct ends *e)
{
	struct ana_log_cursor c;
	struct ana_log_mark m;

	e->count = 0;
	e->at = malloc((t->lane[lane].count + 1) * sizeof(*e->at));
	if (!e->at)
		return -ENOMEM;
	ana_log_cursor_init(&c, t);
	while (ana_log_cursor_next(&c, &m))
		if (m.kind == ANA_MARK_END && m.lane == lane)
			e->at[e->count++] = b ? ana_align_to(b, m.t) : m.t;
	ana_log_cursor_fini(&c);
	return c.err;
}

struct search { /* for the timebase of one host */
	struct ana_align *a;
	struct ana_collective_log *const *log;
	size_t logs;
	uint32_t host;
	unsigned int tries;
	struct ana_timebase best;
	int err;
};

static bool better(const struct ana_timebase *a, const struct ana_timebase *b)
{
	if (!a->aligned || !b->aligned)
		return a->aligned;
	if (a->points / 2 > b->points || b->points / 2 > a->points)
		return a->points > b->points;
	return a->residual_ns < b->residual_ns;
}

static void try_lanes(struct search *s, size_t known, uint32_t l, size_t log, uint32_t k)
{
	const struct ana_timebase *base = &s->a->host[s->a->host_of[known]];
	struct ends x = { 0 }, y = { 0 };
	struct ana_timebase found;

	s->tries++;
	s->err = read_ends(s->log[known], l, base, &x);
	if (!s->err)
		s->err = read_ends(s->log[log], k, NULL, &y);
	if (!s->err && ana_align_pair(x.at, x.count, y.at, y.count, &found) &&
	    better(&found, &s->best))
		s->best = found;
	free(x.at);
	free(y.at);
}

static bool done(const struct search *s)
{
	return s->err || s->tries >= TRIES ||
	       (s->best.aligned && s->best.residual_ns <= RESIDUAL_GOOD_NS && s->best.points >= 8);
}

static void try_logs(struct search *s, size_t known, size_t log)
{
	const struct ana_collective_log *a = s->log[known], *b = s->log[log];
	uint32_t i, k;

	for (i = 0; i < a->lanes; i++)
		for (k = 0; k < b->lanes && !done(s); k++)
			if (a->lane[i].hash == b->lane[k].hash &&
			    a->lane[i].meeting == FACTS_MEET_ALL)
				try_lanes(s, known, i, log, k);
}

/* Against any host that is aligned already, so that it need not share a group with the first. */
static int align_host(struct search *s)
{
	size_t i, k;

	for (i = 0; i < s->logs && !done(s); i++)
		for (k = 0; k < s->logs && !done(s); k++)
			if (s->a->host_of[k] == s->host && s->a->host[s->a->host_of[i]].aligned)
				try_logs(s, i, k);
	if (s->best.aligned)
		s->a->host[s->host] = s->best;
	return s->err;
}

int ana_align_find(struct ana_align *a, struct ana_collective_log *const *log, size_t logs,
		   const uint32_t *host_of, uint32_t hosts)
{
	bool more = true;
	uint32_t h;
	int err = 0;

	*a = (struct ana_align){ .hosts = hosts, .host_of = host_of };
	a->host = calloc(hosts + 1, sizeof(*a->host));
	if (!a->host)
		return -ENOMEM;
	if (logs)
		a->host[host_of[0]].aligned = true;
	while (more && !err) {
		more = false;
		for (h = 0; h < hosts && !err; h++) {
			struct search s = { .a = a, .log = log, .logs = logs, .host = h };

			if (a->host[h].aligned)
				continue;
			err = align_host(&s);
			more |= a->host[h].aligned;
		}
	}
	return err;
}

void ana_align_fini(struct ana_align *a)
{
	free(a->host);
	*a = (struct ana_align){ 0 };
}
