/* SPDX-License-Identifier: Apache-2.0 */
#include "all_to_all.h"

#include <errno.h>
#include <stdlib.h>
#include "base/minmax.h"
#include "base/vec.h"
#include "coincidence.h"
#include "kin.h"
#include "pace.h"
#include "twos.h"

#define TRIAL_MAX 400000u /* kernels that are looked at */
#define TRIAL 128u /* of each lane, in which those are looked for that end together */
#define LEAST_LANES 3u
#define LEAST 8u /* meetings, ... */
#define SEEN_PCT 70u /* ... and so many of those of each lane */
#define OUTSIDE_PCT 20u /* of a lane's kernels end beside one of another lane, ... */
#define OUTSIDE_NEAR_PCT 125u /* ... at most so far away, of how far its kin is */

struct seeker {
	const struct ana_match *match;
	struct ana_kins *kins; /* that may be ones */
	uint32_t *from; /* by kin: the one it was a part of, or itself */
	bool *is; /* by kin */
	struct ana_coincidences near;
	uint32_t *other; /* by lane: the nearest of its kin; itself: none is left for it */
	uint32_t *two; /* by lane: which of its kin */
	struct ana_twos *twos; /* by kin */
	uint32_t kins_at_first;
	struct ana_pace pace; /* of kins */
	const struct ana_arrival **at; /* by lane: in the meeting at hand */
	uint64_t *met; /* by kin */
	uint64_t *seen; /* by lane */
};

/* --- lanes that are nearer to others than to their kin --- */

struct inside { /* of a kin: how far its lanes are apart */
	uint64_t together, apart_ns;
};

static bool is_often_outside(const struct seeker *s, uint32_t lane, const struct ana_coincidence *p)
{
	return s->kins->of[lane] != UINT32_MAX &&
	       p->together * UINT64_C(100) >= s->near.seen[lane] * (uint64_t)OUTSIDE_PCT;
}

static bool is_nearer_outside(const struct seeker *s, const struct inside *in, uint32_t lane,
			      const struct ana_coincidence *p)
{
	uint32_t kin = s->kins->of[lane];

	return is_often_outside(s, lane, p) && in[kin].together &&
	       ana_coincidence_mean(p) * 100 <=
		       in[kin].apart_ns / in[kin].together * (uint64_t)OUTSIDE_NEAR_PCT;
}

/* Two kins of which each leaves when its own last lane has come: they are near by keeping pace. */
static bool keep_pace(const struct seeker *s, const struct ana_coincidence *p)
{
	uint32_t a = s->kins->of[p->a], b = s->kins->of[p->b];

	return a != UINT32_MAX && b != UINT32_MAX &&
	       (s->from[a] == s->from[b] || ana_pace_only(&s->pace, s->from[a], s->from[b]));
}

static int leave_out_pipelines(struct seeker *s)
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

		if (k->of[p->a] == k->of[p->b] || keep_pace(s, p))
			continue;
		if (is_nearer_outside(s, in, p->a, p))
			s->is[k->of[p->a]] = false;
		if (is_nearer_outside(s, in, p->b, p))
			s->is[k->of[p->b]] = false;
	}
	free(in);
	return in ? 0 : -ENOMEM;
}

/* Kins that end near each other are to be compared. */
static int ask_for_pace(struct seeker *s)
{
	const uint32_t *of = s->kins->of;
	int err = ana_pace_init(&s->pace, s->kins->count);
	uint32_t i;

	for (i = 0; !err && i < s->near.pairs; i++) {
		const struct ana_coincidence *p = &s->near.pair[i];

		if (of[p->a] != of[p->b] && of[p->a] != UINT32_MAX && of[p->b] != UINT32_MAX &&
		    (is_often_outside(s, p->a, p) || is_often_outside(s, p->b, p)))
			err = ana_pace_ask(&s->pace, of[p->a], of[p->b]);
	}
	return err;
}

/* --- lanes that do not wait for all --- */

static int make_room(struct seeker *s)
{
	size_t lanes = s->match->lanes + 1u, kins = s->kins->count + lanes; /* with parts of some */

	s->other = malloc(lanes * sizeof(*s->other));
	s->two = calloc(lanes, sizeof(*s->two));
	s->at = calloc(lanes, sizeof(*s->at));
	s->seen = calloc(lanes, sizeof(*s->seen));
	s->met = calloc(kins, sizeof(*s->met));
	s->is = calloc(kins, sizeof(*s->is));
	s->from = calloc(kins, sizeof(*s->from));
	s->kins_at_first = s->kins->count;
	s->twos = calloc(s->kins->count + 1u, sizeof(*s->twos));
	return s->other && s->two && s->at && s->seen && s->met && s->is && s->from && s->twos
		       ? 0
		       : -ENOMEM;
}

/* Numbers the twos of a kin, by their first lanes. */
static int number_twos(struct seeker *s, uint32_t kin)
{
	const struct ana_kin *k = &s->kins->kin[kin];
	uint32_t n = 0, i;

	for (i = 0; i < k->lanes; i++) {
		uint32_t lane = k->lane[i], other = s->other[lane];

		s->two[lane] = other < lane ? s->two[other] : n++;
	}
	s->from[kin] = kin;
	return ana_twos_init(&s->twos[kin], n);
}

static int pair_up(struct seeker *s)
{
	int err = make_room(s);
	uint32_t i;

	for (i = 0; !err && i < s->match->lanes; i++)
		s->other[i] = i;
	for (i = 0; !err && i < s->near.pairs; i++) {
		const struct ana_coincidence *p = &s->near.pair[i];

		if (s->kins->of[p->a] == UINT32_MAX || s->kins->of[p->a] != s->kins->of[p->b] ||
		    s->other[p->a] != p->a || s->other[p->b] != p->b)
			continue;
		s->other[p->a] = p->b;
		s->other[p->b] = p->a;
	}
	for (i = 0; !err && i < s->kins->count; i++)
		err = number_twos(s, i);
	return err;
}

static void compare(struct seeker *s, uint32_t kin)
{
	const struct ana_kin *k = &s->kins->kin[kin];
	struct ana_twos *t = &s->twos[kin];
	int64_t came = INT64_MIN, left = INT64_MAX;
	uint32_t i;

	for (i = 0; i < k->lanes; i++) {
		uint32_t lane = k->lane[i];
		const struct ana_arrival *x = s->at[lane], *y = s->at[s->other[lane]];

		t->came[s->two[lane]] = base_max(x->common_start, y->common_start);
		t->left[s->two[lane]] = x->common_end + (y->common_end - x->common_end) / 2;
		came = base_max(came, x->common_start);
		left = base_min(left, x->common_end);
	}
	ana_twos_met(t);
	ana_pace_met(&s->pace, kin, came, left, s->match->tolerance_ns);
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
	compare(s, kin);
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

static int look_at_ends(struct seeker *s)
{
	struct ana_match_user user = { .cluster = see, .arg = s };
	struct ana_match match = *s->match;

	match.what = ANA_MATCH_COLLECTIVES; /* which kin are taken for */
	match.kins = s->kins;
	match.limit = TRIAL_MAX;
	return ana_match_collectives(&match, &user);
}

/* --- those that meet --- */

/* The lanes of a part of @kin become one. */
static int add_part(struct seeker *s, uint32_t kin, uint32_t part)
{
	struct ana_kins *k = s->kins;
	struct ana_kin own = { .lane = malloc(k->kin[kin].lanes * sizeof(*own.lane)) };
	uint32_t i;

	if (!own.lane || !base_vec_more(k->kin, k->count, k->room)) {
		free(own.lane);
		return -ENOMEM;
	}
	for (i = 0; i < k->kin[kin].lanes; i++) {
		uint32_t lane = k->kin[kin].lane[i];

		if (s->twos[kin].part[s->two[lane]] != part)
			continue;
		own.lane[own.lanes++] = lane;
		k->of[lane] = k->count;
	}
	s->from[k->count] = kin;
	s->is[k->count] = own.lanes >= LEAST_LANES && ana_twos_meet(&s->twos[kin], part);
	k->kin[k->count++] = own;
	return 0;
}

/* Each leaves with all, whenever it came; or it falls into parts of which that is true. */
static int ask_kin(struct seeker *s, uint32_t kin)
{
	struct ana_kin *k = &s->kins->kin[kin];
	uint32_t part;
	int err = 0;

	if (k->lanes < LEAST_LANES || !met_often(s, kin))
		return 0;
	s->is[kin] = ana_twos_meet(&s->twos[kin], 0);
	if (s->is[kin] || !ana_twos_split(&s->twos[kin]))
		return 0;
	for (part = 0; !err && part < s->twos[kin].parts; part++)
		err = add_part(s, kin, part);
	free(s->kins->kin[kin].lane);
	s->kins->kin[kin] = (struct ana_kin){ 0 };
	return err;
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
	int err = 0;
	uint32_t i;

	for (i = 0; !err && i < s->kins_at_first; i++)
		err = ask_kin(s, i);
	if (!err)
		err = leave_out_pipelines(s);
	for (i = 0; !err && i < s->kins->count; i++)
		if (s->is[i])
			err = move(to, &s->kins->kin[i]);
	return err;
}

static void seeker_fini(struct seeker *s)
{
	uint32_t i;

	for (i = 0; s->twos && i < s->kins_at_first; i++)
		ana_twos_fini(&s->twos[i]);
	free(s->twos);
	free(s->other);
	free(s->two);
	free(s->at);
	free(s->seen);
	free(s->met);
	free(s->is);
	free(s->from);
	ana_pace_fini(&s->pace);
	ana_coincidences_fini(&s->near);
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
		err = ask_for_pace(&s);
	if (!err)
		err = look_at_ends(&s);
	if (!err)
		err = add_those(k, &s);
	seeker_fini(&s);
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
