/* SPDX-License-Identifier: Apache-2.0 */
#include "all_to_all.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "base/minmax.h"
#include "base/vec.h"
#include "coincidence.h"
#include "kin.h"

#define TRIAL_MAX 400000u /* kernels that are looked at */
#define TRIAL 128u /* of each lane, in which those are looked for that end together */
#define LEAST_LANES 3u
#define LEAST 8u /* meetings, ... */
#define SEEN_PCT 70u /* ... and so many of those of each lane */
#define OUTSIDE_PCT 20u /* of a lane's kernels end beside one of another lane, ... */
#define OUTSIDE_NEAR_PCT 125u /* ... at most so far away, of how far its kin is */
#define FOLLOW 8.0 /* ends follow arrivals by this part of them or less, ... */
#define DEVIATIONS 3.0 /* ... or by what is no more than chance */
#define APART_MAX_NS 1000000000

struct line { /* how much later two came and left than two others: sums */
	double n, came, left, came2, left2, both;
};

struct seeker {
	const struct ana_match *match;
	struct ana_kins *kins; /* that may be ones */
	struct ana_coincidences near;
	uint32_t *other; /* by lane: the nearest of its kin; itself: none is left for it */
	const struct ana_arrival **at; /* by lane: in the meeting at hand */
	struct line *line; /* by lane, of it and its other against those before them in the kin */
	uint64_t *met; /* by kin */
	uint64_t *seen; /* by lane */
};

/* --- lanes that are nearer to others than to their kin --- */

struct inside { /* of a kin: how far its lanes are apart */
	uint64_t together, apart_ns;
};

static bool is_nearer_outside(const struct seeker *s, const struct inside *in, uint32_t lane,
			      const struct ana_coincidence *p)
{
	uint32_t kin = s->kins->of[lane];

	return kin != UINT32_MAX &&
	       p->together * UINT64_C(100) >= s->near.seen[lane] * (uint64_t)OUTSIDE_PCT &&
	       in[kin].together &&
	       ana_coincidence_mean(p) * 100 <=
		       in[kin].apart_ns / in[kin].together * (uint64_t)OUTSIDE_NEAR_PCT;
}

static int leave_out_pipelines(struct seeker *s, bool *is)
{
	const struct ana_kins *k = s->kins;
	struct inside *in = calloc(k->count + 1u, sizeof(*in));
	uint32_t i;

	for (i = 0; in && i < s->near.pairs; i++) {
		const struct ana_coincidence *p = &s->near.pair[i];

		if (k->of[p->a] == UINT32_MAX || k->of[p->a] != k->of[p->b])
			continue;
		in[k->of[p->a]].together += p->together;
		in[k->of[p->a]].apart_ns += p->apart_ns;
	}
	for (i = 0; in && i < s->near.pairs; i++) {
		const struct ana_coincidence *p = &s->near.pair[i];

		if (k->of[p->a] == k->of[p->b])
			continue;
		if (is_nearer_outside(s, in, p->a, p))
			is[k->of[p->a]] = false;
		if (is_nearer_outside(s, in, p->b, p))
			is[k->of[p->b]] = false;
	}
	free(in);
	return in ? 0 : -ENOMEM;
}

/* --- lanes that do not wait for all --- */

/* In twos, the nearest first, as pairs of a send and a receive would be; one may be left alone. */
static int pair_up(struct seeker *s)
{
	uint32_t lanes = s->match->lanes, i;

	s->other = malloc((lanes + 1u) * sizeof(*s->other));
	s->at = calloc(lanes + 1u, sizeof(*s->at));
	s->line = calloc(lanes + 1u, sizeof(*s->line));
	s->seen = calloc(lanes + 1u, sizeof(*s->seen));
	s->met = calloc(s->kins->count + 1u, sizeof(*s->met));
	if (!s->other || !s->at || !s->line || !s->seen || !s->met)
		return -ENOMEM;
	for (i = 0; i < lanes; i++)
		s->other[i] = i;
	for (i = 0; i < s->near.pairs; i++) {
		const struct ana_coincidence *p = &s->near.pair[i];

		if (s->kins->of[p->a] == UINT32_MAX || s->kins->of[p->a] != s->kins->of[p->b] ||
		    s->other[p->a] != p->a || s->other[p->b] != p->b)
			continue;
		s->other[p->a] = p->b;
		s->other[p->b] = p->a;
	}
	return 0;
}

static double clamped(int64_t ns)
{
	return (double)base_clamp(ns, -APART_MAX_NS, APART_MAX_NS);
}

static void add(struct line *l, double came, double left)
{
	l->n += 1;
	l->came += came;
	l->left += left;
	l->came2 += came * came;
	l->left2 += left * left;
	l->both += came * left;
}

/* Two of the kin against the two before them, and so on. */
static void compare(struct seeker *s, const struct ana_kin *kin)
{
	int64_t came_before = 0, left_before = 0;
	uint32_t i;

	for (i = 0; i < kin->lanes; i++) {
		uint32_t lane = kin->lane[i];
		const struct ana_arrival *x = s->at[lane], *y = s->at[s->other[lane]];
		int64_t came = base_max(x->common_start, y->common_start);
		int64_t left = x->common_end + (y->common_end - x->common_end) / 2;

		if (s->other[lane] < lane) /* they have had their turn */
			continue;
		if (i)
			add(&s->line[lane], clamped(came - came_before),
			    clamped(left - left_before));
		came_before = came;
		left_before = left;
	}
}

static void see(void *arg, struct ana_arrival *const *member, size_t n)
{
	struct seeker *s = arg;
	const uint32_t *first_lane = s->match->first_lane;
	uint32_t kin = s->kins->of[ana_lane_number(first_lane, member[0])];
	size_t i;

	for (i = 0; i < n; i++)
		s->seen[ana_lane_number(first_lane, member[i])]++;
	if (kin == UINT32_MAX || s->kins->kin[kin].lanes != n)
		return;
	for (i = 0; i < n; i++) {
		uint32_t lane = ana_lane_number(first_lane, member[i]);

		if (s->kins->of[lane] != kin)
			return;
		s->at[lane] = member[i];
	}
	s->met[kin]++;
	compare(s, &s->kins->kin[kin]);
}

/* About the means: that one comes later each time tells nothing. */
static struct line centred(const struct line *l)
{
	return (struct line){ .n = l->n,
			      .came2 = l->came2 - l->came * l->came / l->n,
			      .left2 = l->left2 - l->left * l->left / l->n,
			      .both = l->both - l->came * l->left / l->n };
}

/* In a ring they may go before, where those are compared that have no part in common. */
static bool follow(const struct line *l)
{
	return fabs(l->both) * FOLLOW > l->came2 &&
	       l->both * l->both * l->n > DEVIATIONS * DEVIATIONS * l->left2 * l->came2;
}

/* Had the ends followed at all, it would have been seen. */
static bool tells(const struct line *l)
{
	double most = FOLLOW * DEVIATIONS;

	return l->came2 * l->n >= most * most * l->left2 && l->came2 > 0;
}

static bool met_often(const struct seeker *s, uint32_t kin)
{
	const struct ana_kin *k = &s->kins->kin[kin];
	uint32_t i;

	for (i = 0; i < k->lanes; i++)
		if (s->met[kin] * UINT64_C(100) < s->seen[k->lane[i]] * SEEN_PCT)
			return false;
	return s->met[kin] >= LEAST;
}

/* Each leaves with all, whenever it came. */
static bool meet_all(const struct seeker *s, uint32_t kin)
{
	const struct ana_kin *k = &s->kins->kin[kin];
	struct line all = { 0 };
	uint32_t i;

	if (k->lanes < LEAST_LANES || !met_often(s, kin))
		return false;
	for (i = 0; i < k->lanes; i++) {
		struct line own;

		if (!(s->line[k->lane[i]].n > 0))
			continue;
		own = centred(&s->line[k->lane[i]]);
		if (follow(&own))
			return false;
		all.n += own.n;
		all.came2 += own.came2;
		all.left2 += own.left2;
		all.both += own.both;
	}
	return fabs(all.both) * FOLLOW <= all.came2 && tells(&all);
}

static int look_at_ends(struct seeker *s)
{
	struct ana_match_user user = { .cluster = see, .arg = s };
	struct ana_match match = *s->match;

	match.what = ANA_MATCH_COLLECTIVES; /* which kin are taken for */
	match.kins = s->kins;
	match.limit = TRIAL_MAX;
	return ana_match_collectives(&match, &user);
}

/* --- */

static bool any_of_three(const struct ana_kins *k)
{
	uint32_t i;

	for (i = 0; i < k->count; i++)
		if (k->kin[i].lanes >= LEAST_LANES)
			return true;
	return false;
}

/* Its lanes become @to's. */
static int move(struct ana_kins *to, struct ana_kin *kin)
{
	uint32_t i;

	if (!base_vec_more(to->kin, to->count, to->room))
		return -ENOMEM;
	for (i = 0; i < kin->lanes; i++)
		to->of[kin->lane[i]] = to->count;
	to->kin[to->count++] = *kin;
	*kin = (struct ana_kin){ 0 };
	return 0;
}

static int add_those(struct ana_kins *to, struct seeker *s)
{
	bool *is = calloc(s->kins->count + 1u, sizeof(*is));
	int err = is ? 0 : -ENOMEM;
	uint32_t i;

	for (i = 0; !err && i < s->kins->count; i++)
		is[i] = meet_all(s, i);
	if (!err)
		err = leave_out_pipelines(s, is);
	for (i = 0; !err && i < s->kins->count; i++)
		if (is[i])
			err = move(to, &s->kins->kin[i]);
	free(is);
	return err;
}

static uint32_t send_lanes(const struct ana_match *m)
{
	uint32_t n = 0, k;
	size_t i;

	for (i = 0; i < m->logs; i++)
		for (k = 0; k < m->log[i]->lanes; k++)
			n += m->log[i]->lane[k].meeting == FACTS_MEET_ONE;
	return n;
}

static int find(struct ana_kins *k, struct ana_kins *maybe, const struct ana_match *of,
		int64_t slack_ns)
{
	struct ana_match m = *of;
	struct seeker s = { .match = &m, .kins = maybe };
	int err;

	m.what = ANA_MATCH_SENDS;
	m.kins = NULL;
	m.limit = (uint64_t)send_lanes(of) * TRIAL;
	err = ana_kins_find(maybe, &m, LEAST_LANES, slack_ns, &m.tolerance_ns);
	if (err || !any_of_three(maybe))
		return err;
	err = ana_coincidences_count(&s.near, &m, m.tolerance_ns, ANA_MATCH_SENDS);
	if (!err)
		err = pair_up(&s);
	if (!err)
		err = look_at_ends(&s);
	if (!err)
		err = add_those(k, &s);
	free(s.other);
	free(s.at);
	free(s.line);
	free(s.seen);
	free(s.met);
	ana_coincidences_fini(&s.near);
	return err;
}

static size_t senders(const struct ana_match *m)
{
	size_t n = 0, i;

	for (i = 0; i < m->logs; i++)
		n += m->log[i]->sends > 0;
	return n;
}

int ana_all_to_alls_find(struct ana_kins *k, const struct ana_match *m, int64_t slack_ns)
{
	struct ana_kins maybe = { 0 };
	int err;

	if (senders(m) < LEAST_LANES)
		return 0;
	err = find(k, &maybe, m, slack_ns);
	ana_kins_fini(&maybe);
	return err;
}
