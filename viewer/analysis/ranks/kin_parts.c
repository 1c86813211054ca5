/* SPDX-License-Identifier: Apache-2.0 */
#include "kin_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/map.h"
#include "base/minmax.h"
#include "base/vec.h"

#define TRIAL_MAX 400000u /* kernels that are looked at */
#define RECENT 256u /* collectives of kins that one is laid beside */
#define LOOKS_MAX 8000000u
#define LEAST 3u /* times that two must have met, ... */
#define TOGETHER_PCT 70u /* ... and so many of the collectives of either */
#define NEVER_PCT 98u /* in so many all must have come before any left */
#define CLOSER 4u /* squares of the ends' distances sum up to so much less than the arrivals' */
#define APART_MAX_US 1000000

struct meeting { /* of one kin */
	uint32_t kin;
	uint64_t number; /* among all; 0: none */
	uint64_t hash;
	int64_t arrival, first_end; /* arrival: of the last one */
};

struct link { /* two kins that ended near each other */
	uint32_t a, b; /* a < b */
	uint64_t used_a, used_b; /* number of the meeting that was compared last */
	uint64_t met, possible;
	uint64_t arrivals, ends; /* squares of how far they were apart, in us, sum */
};

struct unite {
	struct ana_kins *k;
	const struct ana_match *m;
	struct meeting recent[RECENT];
	uint64_t meetings, looks;
	uint64_t *seen; /* by kin */
	struct link *link;
	uint32_t links, link_room;
	struct ana_map link_of; /* by both kins */
	int err;
};

static struct link *link_of(struct unite *u, uint32_t x, uint32_t y)
{
	uint32_t a = x < y ? x : y, b = x < y ? y : x, i;
	uint64_t key = (uint64_t)a << 32 | b;

	i = ana_map_get(&u->link_of, key);
	if (i != ANA_MAP_NONE)
		return &u->link[i];
	i = u->links;
	if (!base_vec_more(u->link, i, u->link_room) || ana_map_put(&u->link_of, key, i)) {
		u->err = -ENOMEM;
		return NULL;
	}
	u->link[u->links++] = (struct link){ .a = a, .b = b };
	return &u->link[i];
}

static uint64_t square(int64_t x, int64_t y)
{
	int64_t us = (x < y ? y - x : x - y) / 1000;

	us = base_min(us, APART_MAX_US);
	return (uint64_t)(us * us);
}

/* Each meeting is compared once with one of each other kin. */
static void compare(struct unite *u, const struct meeting *x, const struct meeting *y)
{
	struct link *l = link_of(u, x->kin, y->kin);
	uint64_t *used_x, *used_y;

	if (!l)
		return;
	used_x = x->kin == l->a ? &l->used_a : &l->used_b;
	used_y = x->kin == l->a ? &l->used_b : &l->used_a;
	if (*used_x >= x->number || *used_y >= y->number)
		return;
	*used_x = x->number;
	*used_y = y->number;
	l->met++;
	l->possible += x->arrival <= y->first_end && y->arrival <= x->first_end;
	l->arrivals += square(x->arrival, y->arrival);
	l->ends += square(x->first_end, y->first_end);
}

/* The kin that they are all of; UINT32_MAX: of none. */
static uint32_t kin_of(const struct unite *u, struct ana_arrival *const *member, size_t n)
{
	uint32_t first = u->k->of[ana_lane_number(u->m->first_lane, member[0])];
	uint32_t last = u->k->of[ana_lane_number(u->m->first_lane, member[n - 1])];

	return first == last && first != UINT32_MAX && u->k->kin[first].lanes == n ? first
										   : UINT32_MAX;
}

static void see(void *arg, struct ana_arrival *const *member, size_t n)
{
	struct unite *u = arg;
	uint32_t kin = kin_of(u, member, n), i;
	struct meeting x = { .kin = kin, .number = u->meetings + 1 };
	size_t k;

	if (kin == UINT32_MAX || u->err || u->k->kin[kin].told)
		return;
	x.hash = ana_match_hash(u->m, member[0]);
	x.first_end = member[0]->common_end;
	x.arrival = member[0]->common_start;
	for (k = 1; k < n; k++)
		x.arrival = base_max(x.arrival, member[k]->common_start);
	u->seen[kin]++;
	for (i = 1; i <= RECENT && i <= u->meetings && u->looks < LOOKS_MAX; i++, u->looks++) {
		const struct meeting *y = &u->recent[(u->meetings - i) % RECENT];

		if (y->first_end + ANA_TOLERANCE_MAX_NS < x.first_end)
			break;
		if (y->kin != kin && y->hash == x.hash)
			compare(u, &x, y);
	}
	u->recent[u->meetings++ % RECENT] = x;
}

static bool is_one(const struct unite *u, const struct link *l)
{
	uint64_t most = base_max((int64_t)u->seen[l->a], (int64_t)u->seen[l->b]);

	return l->met >= LEAST && l->met * 100 >= most * TOGETHER_PCT &&
	       l->possible * 100 >= l->met * NEVER_PCT && l->arrivals &&
	       l->ends * CLOSER <= l->arrivals;
}

static uint32_t root_of(const uint32_t *root, uint32_t kin)
{
	while (root[kin] != kin)
		kin = root[kin];
	return kin;
}

/* @from's lanes are @to's, too; it has none any more. */
static int take_in(struct ana_kins *k, uint32_t to, uint32_t from)
{
	struct ana_kin *x = &k->kin[to], *y = &k->kin[from];
	uint32_t *lane = reallocarray(x->lane, x->lanes + y->lanes, sizeof(*lane)), i;

	if (!lane)
		return -ENOMEM;
	x->lane = lane;
	memcpy(lane + x->lanes, y->lane, y->lanes * sizeof(*lane));
	x->lanes += y->lanes;
	qsort(lane, x->lanes, sizeof(*lane), ana_lanes_compare);
	for (i = 0; i < y->lanes; i++)
		k->of[y->lane[i]] = to;
	free(y->lane);
	*y = (struct ana_kin){ 0 };
	return 0;
}

/* Those without lanes go. */
static void close_up(struct ana_kins *k)
{
	uint32_t i, n = 0, lane;

	for (i = 0; i < k->count; i++) {
		if (!k->kin[i].lanes)
			continue;
		k->kin[n] = k->kin[i];
		for (lane = 0; lane < k->kin[n].lanes; lane++)
			k->of[k->kin[n].lane[lane]] = n;
		n++;
	}
	k->count = n;
}

static int join_parts(struct unite *u)
{
	uint32_t *root = malloc((u->k->count + 1u) * sizeof(*root)), i;
	int err = root ? 0 : -ENOMEM;

	for (i = 0; !err && i < u->k->count; i++)
		root[i] = i;
	for (i = 0; !err && i < u->links; i++) {
		uint32_t a, b;

		if (!is_one(u, &u->link[i]))
			continue;
		a = root_of(root, u->link[i].a);
		b = root_of(root, u->link[i].b);
		if (a == b)
			continue;
		root[b] = a;
		err = take_in(u->k, a, b);
	}
	close_up(u->k);
	free(root);
	return err;
}

int ana_kins_unite(struct ana_kins *k, const struct ana_match *m)
{
	struct unite *u = k->count > 1 ? calloc(1, sizeof(*u)) : NULL;
	struct ana_match_user user = { .cluster = see, .arg = u };
	struct ana_match match = *m;
	int err = -ENOMEM;

	if (k->count < 2)
		return 0;
	match.what = ANA_MATCH_COLLECTIVES;
	match.limit = TRIAL_MAX;
	match.kins = k;
	if (u) {
		u->k = k;
		u->m = &match;
		u->seen = calloc(k->count + 1u, sizeof(*u->seen));
	}
	if (u && u->seen)
		err = ana_match_collectives(&match, &user);
	err = err ? err : u->err;
	if (!err)
		err = join_parts(u);
	if (u) {
		free(u->seen);
		free(u->link);
		ana_map_fini(&u->link_of);
	}
	free(u);
	return err;
}
