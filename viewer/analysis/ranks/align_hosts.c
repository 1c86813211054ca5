/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which ends of which hosts are laid beside each other: of what is found the nearest fit is taken,
 * for collectives of other communicators look alike where programs do, and by these stages of a
 * pipeline that have only sends in common are a stage apart. Hosts are laid one after the other,
 * the nearest fit first.
 */
#include "align.h"

#include <errno.h>
#include <stdlib.h>
#include "base/minmax.h"

#define ENDS_MAX 1024u /* of a lane that are looked at */
#define MARKS_MAX 16384u /* of a log */
#define FEW_HOSTS 16u /* each is tried against each; of more, 1, 2, 4 and so on apart */
#define ROWS_FEW 2u /* GPUs of a host that are tried, of few hosts */
#define TRIES 256u /* of GPUs that are not in the same place, in all */
#define POINTS_MANY 16u
#define AS_GOOD_PCT 125 /* two fits are as near as each other */
#define APART_NS 50000 /* and do not say the same */

struct ends { /* of a lane, ascending, on its own clock */
	int64_t *at;
	uint32_t count;
};

struct fit { /* of a host */
	struct ana_timebase base;
	size_t known, log; /* from these logs' lanes */
	uint32_t known_lane, lane;
};

struct host {
	struct fit best, rival; /* rival: as near as any that does not say the same */
};

struct search {
	struct ana_align *a;
	struct ana_collective_log *const *log;
	size_t logs;
	uint32_t *place; /* by log: among those of its host */
	struct ends **ends; /* by log, of each lane; NULL: not read */
	struct host *host;
	int64_t *room; /* ENDS_MAX */
	unsigned int tries; /* of GPUs in other places */
	int err;
};

static struct ends *read_ends(struct search *s, size_t log)
{
	const struct ana_collective_log *t = s->log[log];
	uint32_t marks = 0, i;
	struct ana_log_cursor c;
	struct ana_log_mark m;
	struct ends *e;

	if (s->ends[log])
		return s->ends[log];
	e = s->ends[log] = calloc(t->lanes + 1u, sizeof(*e));
	for (i = 0; e && i < t->lanes; i++) {
		e[i].at = malloc((size_t)(base_min((int64_t)t->lane[i].count, ENDS_MAX) + 1) *
				 sizeof(*e[i].at));
		s->err = e[i].at ? s->err : -ENOMEM;
	}
	if (!e || s->err) {
		s->err = -ENOMEM;
		return NULL;
	}
	ana_log_cursor_init(&c, t);
	while (marks++ < MARKS_MAX && ana_log_cursor_next(&c, &m))
		if (m.kind == ANA_MARK_END && e[m.lane].count < ENDS_MAX &&
		    e[m.lane].count < t->lane[m.lane].count)
			e[m.lane].at[e[m.lane].count++] = m.t;
	s->err = c.err ? c.err : s->err;
	ana_log_cursor_fini(&c);
	return e;
}

static void forget_ends(struct search *s)
{
	size_t i;
	uint32_t l;

	for (i = 0; s->ends && i < s->logs; i++) {
		for (l = 0; s->ends[i] && l < s->log[i]->lanes; l++)
			free(s->ends[i][l].at);
		free(s->ends[i]);
	}
	free(s->ends);
}

static bool nearer(const struct ana_timebase *a, const struct ana_timebase *b)
{
	if (!a->aligned || !b->aligned)
		return a->aligned;
	if ((a->points < POINTS_MANY || b->points < POINTS_MANY) && a->points != b->points)
		return a->points > b->points;
	return a->within_ns != b->within_ns ? a->within_ns < b->within_ns
					    : a->typical_ns < b->typical_ns;
}

static bool say_the_same(const struct ana_timebase *a, const struct ana_timebase *b)
{
	int64_t t = a->knot[a->knots / 2].t, apart = ana_align_to(a, t) - ana_align_to(b, t);

	return (apart < 0 ? -apart : apart) <= APART_NS + a->residual_ns + b->residual_ns;
}

static void consider(struct host *h, const struct fit *f)
{
	if (nearer(&f->base, &h->best.base)) {
		if (h->best.base.aligned && !say_the_same(&f->base, &h->best.base))
			h->rival = h->best;
		h->best = *f;
	} else if (!say_the_same(&f->base, &h->best.base) && nearer(&f->base, &h->rival.base)) {
		h->rival = *f;
	}
}

static void try_lanes(struct search *s, size_t known, uint32_t l, size_t log, uint32_t k)
{
	const struct ana_timebase *base = &s->a->host[s->a->host_of[known]];
	struct host *h = &s->host[s->a->host_of[log]];
	struct fit f = { .known = known, .known_lane = l, .log = log, .lane = k };
	const struct ends *x = read_ends(s, known), *y = read_ends(s, log);
	uint32_t i;

	if (!x || !y)
		return;
	for (i = 0; i < x[l].count; i++)
		s->room[i] = ana_align_to(base, x[l].at[i]);
	if (ana_align_pair(s->room, x[l].count, y[k].at, y[k].count, &f.base))
		consider(h, &f);
}

/* By what is known of them. */
static bool may_be_one(const struct ana_lane *x, const struct ana_lane *y)
{
	return x->hash == y->hash && x->meeting != FACTS_MEET_NOT &&
	       (!x->comm || !y->comm || x->comm == y->comm);
}

static void try_logs(struct search *s, size_t known, size_t log)
{
	const struct ana_collective_log *a = s->log[known], *b = s->log[log];
	uint32_t i, k;

	for (i = 0; i < a->lanes; i++)
		for (k = 0; k < b->lanes && !s->err; k++)
			if (may_be_one(&a->lane[i], &b->lane[k]))
				try_lanes(s, known, i, log, k);
}

/* Hosts whose GPUs are in the same place in what the job is cut into, as a rule. */
static bool may_meet(const struct search *s, uint32_t a, uint32_t b)
{
	uint32_t apart = a > b ? a - b : b - a;

	return s->a->hosts <= FEW_HOSTS || !(apart & (apart - 1));
}

/* All that are not laid, against one that just was. */
static void try_host(struct search *s, uint32_t known)
{
	uint32_t rows = s->a->hosts <= FEW_HOSTS ? ROWS_FEW : 1;
	size_t i, k;

	for (i = 0; i < s->logs && !s->err; i++) {
		if (s->a->host_of[i] != known || s->place[i] >= rows)
			continue;
		for (k = 0; k < s->logs && !s->err; k++)
			if (!s->a->host[s->a->host_of[k]].aligned && s->place[k] == s->place[i] &&
			    may_meet(s, known, s->a->host_of[k]))
				try_logs(s, i, k);
	}
}

/* One of which nothing was found: all its GPUs against all others'. */
static void try_all(struct search *s, uint32_t host)
{
	size_t i, k;

	for (i = 0; i < s->logs; i++)
		for (k = 0; k < s->logs && !s->err && s->tries < TRIES; k++)
			if (s->a->host_of[k] == host && s->a->host[s->a->host_of[i]].aligned) {
				try_logs(s, i, k);
				s->tries++;
			}
}

/* Another that says something else is as near: which one is right is not known. */
static bool doubtful(const struct host *h)
{
	const struct ana_timebase *a = &h->best.base, *b = &h->rival.base;

	return b->aligned && b->within_ns == a->within_ns &&
	       b->typical_ns * 100 <= a->typical_ns * AS_GOOD_PCT &&
	       b->points * a->of * 3 >= a->points * b->of * 2;
}

/* All ends of a lane; @b: on the common clock. */
static int64_t *all_ends(struct search *s, size_t log, uint32_t lane, const struct ana_timebase *b,
			 size_t *count)
{
	const struct ana_collective_log *t = s->log[log];
	int64_t *at = malloc((t->lane[lane].count + 1) * sizeof(*at));
	struct ana_log_cursor c;
	struct ana_log_mark m;

	*count = 0;
	if (!at) {
		s->err = -ENOMEM;
		return NULL;
	}
	ana_log_cursor_init(&c, t);
	while (ana_log_cursor_next(&c, &m))
		if (m.kind == ANA_MARK_END && m.lane == lane && *count < t->lane[lane].count)
			at[(*count)++] = b ? ana_align_to(b, m.t) : m.t;
	s->err = c.err ? c.err : s->err;
	ana_log_cursor_fini(&c);
	return at;
}

/* From beginning to end. */
static void lay(struct search *s, uint32_t host)
{
	const struct fit *f = &s->host[host].best;
	size_t nx, ny;
	int64_t *x =
		all_ends(s, f->known, f->known_lane, &s->a->host[s->a->host_of[f->known]], &nx);
	int64_t *y = all_ends(s, f->log, f->lane, NULL, &ny);

	s->a->host[host] = f->base;
	if (!s->err &&
	    (nx > s->ends[f->known][f->known_lane].count || ny > s->ends[f->log][f->lane].count) &&
	    !ana_align_pair(x, nx, y, ny, &s->a->host[host]))
		s->a->host[host] = f->base;
	free(x);
	free(y);
}

/* The one to be laid next; a->hosts: none can be. */
static uint32_t nearest(const struct search *s)
{
	uint32_t best = s->a->hosts, h;

	for (h = 0; h < s->a->hosts; h++)
		if (!s->a->host[h].aligned && s->host[h].best.base.aligned &&
		    !doubtful(&s->host[h]) &&
		    (best == s->a->hosts ||
		     nearer(&s->host[h].best.base, &s->host[best].best.base)))
			best = h;
	return best;
}

static void find(struct search *s, uint32_t first)
{
	uint32_t next = first, h;

	s->a->host[first].aligned = true;
	while (next < s->a->hosts && !s->err) {
		try_host(s, next);
		next = nearest(s);
		for (h = 0; next == s->a->hosts && h < s->a->hosts && !s->err; h++) {
			if (s->a->host[h].aligned || s->host[h].best.base.aligned)
				continue;
			try_all(s, h);
			next = nearest(s);
		}
		if (next < s->a->hosts && !s->err)
			lay(s, next);
	}
}

static int init(struct search *s)
{
	uint32_t *count = calloc(s->a->hosts + 1u, sizeof(*count));
	size_t i;

	s->place = calloc(s->logs + 1, sizeof(*s->place));
	s->ends = calloc(s->logs + 1, sizeof(struct ends *));
	s->host = calloc(s->a->hosts + 1u, sizeof(*s->host));
	s->room = malloc(ENDS_MAX * sizeof(*s->room));
	for (i = 0; count && s->place && i < s->logs; i++)
		s->place[i] = count[s->a->host_of[i]]++;
	free(count);
	return count && s->place && s->ends && s->host && s->room ? 0 : -ENOMEM;
}

int ana_align_find(struct ana_align *a, struct ana_collective_log *const *log, size_t logs,
		   const uint32_t *host_of, uint32_t hosts)
{
	struct search s = { .a = a, .log = log, .logs = logs };

	*a = (struct ana_align){ .hosts = hosts, .host_of = host_of };
	a->host = calloc(hosts + 1, sizeof(*a->host));
	if (!a->host)
		return -ENOMEM;
	if (hosts < 2) {
		a->host[0].aligned = logs > 0;
		return 0;
	}
	s.err = init(&s);
	if (!s.err)
		find(&s, host_of[0]);
	forget_ends(&s);
	free(s.place);
	free(s.host);
	free(s.room);
	return s.err;
}

void ana_align_fini(struct ana_align *a)
{
	free(a->host);
	*a = (struct ana_align){ 0 };
}
