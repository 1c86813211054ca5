/* SPDX-License-Identifier: Apache-2.0 */
#include "kin.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/vec.h"
#include "kin_parts.h"
#include "told_kin.h"

#define JOINS_MAX 50000000u /* looks whether two lanes of two rings end together */
#define LEAST 3u /* times that a lane must have been seen */
#define TOGETHER_PCT 70u /* of its collectives end with the other's, ... */
#define CLOSEST_PCT 99u /* ... and so much of what either has with the closest other */
#define ENOUGH 950u /* of a thousand collectives are kin's: no larger tolerance is tried */

struct finder {
	uint32_t lanes;
	uint32_t least; /* lanes of a kin that counts */
	struct ana_coincidences seen;
	uint32_t *closest; /* by lane: most that it ended with any other */
};

/* @share of @of, rounded up. */
static uint32_t part(uint32_t of, uint32_t share)
{
	return (uint32_t)(((uint64_t)of * share + 99) / 100);
}

/*
 * Of neither many ended without the other: records get lost. Where both are there they end together
 * as often as either does with anybody: those of one communicator always do, those that merely keep
 * pace nearly always at the most.
 */
static bool together(const struct finder *f, const struct ana_coincidence *p)
{
	uint32_t a = f->seen.seen[p->a], b = f->seen.seen[p->b], most = a > b ? a : b;
	uint32_t x = f->closest[p->a], y = f->closest[p->b], closest = x > y ? x : y;
	uint32_t both = a < b ? a : b;

	return both >= LEAST && p->together >= part(most, TOGETHER_PCT) &&
	       p->together >= part(both < closest ? both : closest, CLOSEST_PCT);
}

static int find_closest(struct finder *f)
{
	uint32_t i;

	f->closest = calloc(f->lanes + 1u, sizeof(*f->closest));
	if (!f->closest)
		return -ENOMEM;
	for (i = 0; i < f->seen.pairs; i++) {
		const struct ana_coincidence *p = &f->seen.pair[i];

		if (p->together > f->closest[p->a])
			f->closest[p->a] = p->together;
		if (p->together > f->closest[p->b])
			f->closest[p->b] = p->together;
	}
	return 0;
}

/* --- lanes in rings, each at first in one of its own --- */

struct rings {
	uint32_t *next; /* by lane */
	uint32_t *name; /* by lane: one of its ring, the same for all in it */
	uint64_t looks; /* left */
};

static int rings_init(struct rings *r, uint32_t lanes)
{
	uint32_t i;

	r->looks = JOINS_MAX;
	r->next = malloc((lanes + 1u) * sizeof(*r->next));
	r->name = malloc((lanes + 1u) * sizeof(*r->name));
	if (!r->next || !r->name)
		return -ENOMEM;
	for (i = 0; i < lanes; i++)
		r->next[i] = r->name[i] = i;
	return 0;
}

static void rings_fini(struct rings *r)
{
	free(r->next);
	free(r->name);
}

/* Each of one ring ends with each of the other. */
static bool all_together(const struct finder *f, struct rings *r, uint32_t a, uint32_t b)
{
	uint32_t x = a, y;

	do {
		y = b;
		do {
			const struct ana_coincidence *p =
				r->looks ? ana_coincidences_get(&f->seen, x, y) : NULL;

			if (!p || !together(f, p))
				return false;
			r->looks--;
			y = r->next[y];
		} while (y != b);
		x = r->next[x];
	} while (x != a);
	return true;
}

static void join(struct rings *r, uint32_t a, uint32_t b)
{
	uint32_t name = r->name[a], x = b, next = r->next[a];

	do {
		r->name[x] = name;
		x = r->next[x];
	} while (x != b);
	r->next[a] = r->next[b];
	r->next[b] = next;
}

/* --- */

/* The ring of @lane becomes a kin. */
static int add_kin(struct ana_kins *k, const struct rings *r, uint32_t lane)
{
	struct ana_kin *to;
	uint32_t x = lane, n = 0;

	do {
		n++;
		x = r->next[x];
	} while (x != lane);
	if (!base_vec_more(k->kin, k->count, k->room))
		return -ENOMEM;
	to = &k->kin[k->count];
	*to = (struct ana_kin){ .lane = malloc(n * sizeof(*to->lane)) };
	if (!to->lane)
		return -ENOMEM;
	do {
		k->of[x] = k->count;
		to->lane[to->lanes++] = x;
		x = r->next[x];
	} while (x != lane);
	qsort(to->lane, to->lanes, sizeof(*to->lane), ana_lanes_compare);
	k->count++;
	return 0;
}

static void forget(struct ana_kins *k, uint32_t lanes)
{
	uint32_t i;

	for (i = 0; i < k->count; i++)
		free(k->kin[i].lane);
	k->count = 0;
	for (i = 0; k->of && i < lanes; i++)
		k->of[i] = UINT32_MAX;
}

/*
 * Rings grow together from the closest pairs on, and only as wholes: so others that keep pace come
 * neither between those of one communicator, nor with some of them to another.
 */
static int gather(const struct finder *f, struct ana_kins *k)
{
	uint32_t lanes = f->lanes, i;
	struct rings r = { .next = NULL };
	int err = rings_init(&r, lanes);

	for (i = 0; !err && i < f->seen.pairs; i++) {
		const struct ana_coincidence *p = &f->seen.pair[i];

		if (k->of[p->a] == UINT32_MAX && k->of[p->b] == UINT32_MAX &&
		    r.name[p->a] != r.name[p->b] && together(f, p) &&
		    all_together(f, &r, p->a, p->b))
			join(&r, p->a, p->b);
	}
	for (i = 0; !err && i < lanes; i++)
		if (k->of[i] == UINT32_MAX && r.next[i] != i)
			err = add_kin(k, &r, i);
	rings_fini(&r);
	return err;
}

/* Of a thousand collectives how many are of kin. */
static uint64_t coverage(const struct finder *f, const struct ana_kins *k)
{
	uint64_t covered = 0;
	uint32_t i;

	for (i = 0; i < f->lanes; i++)
		if (k->of[i] != UINT32_MAX && k->kin[k->of[i]].lanes >= f->least)
			covered += f->seen.seen[i];
	return f->seen.all ? covered * 1000 / f->seen.all : 0;
}

static int find_at(struct ana_kins *k, const struct ana_match *m, uint32_t least, int64_t tolerance,
		   uint64_t *cover)
{
	struct finder f = { .lanes = m->lanes, .least = least };
	int err = ana_coincidences_count(&f.seen, m, tolerance, m->what);

	forget(k, m->lanes);
	if (!err && m->what & ANA_MATCH_COLLECTIVES)
		err = ana_told_kins_add(k, m);
	if (!err)
		err = find_closest(&f);
	if (!err)
		err = gather(&f, k);
	if (!err)
		*cover = coverage(&f, k);
	free(f.closest);
	ana_coincidences_fini(&f.seen);
	return err;
}

/* The least tolerance at which nearly all are kin, or as many as at any. */
static int find(struct ana_kins *k, struct ana_match *m, uint32_t least, int64_t slack_ns)
{
	uint64_t cover[ANA_TOLERANCES] = { 0 }, most = 0;
	size_t i;
	int err = 0;

	for (i = 0; i < ANA_TOLERANCES && !err; i++) {
		m->tolerance_ns = ana_tolerance_ns[i] + slack_ns;
		err = find_at(k, m, least, m->tolerance_ns, &cover[i]);
		if (cover[i] >= ENOUGH)
			return err;
		most = cover[i] > most ? cover[i] : most;
	}
	for (i = 0; i < ANA_TOLERANCES && cover[i] * 100 < most * 98; i++)
		;
	if (!err && i < ANA_TOLERANCES - 1) { /* the last is at hand */
		m->tolerance_ns = ana_tolerance_ns[i] + slack_ns;
		err = find_at(k, m, least, m->tolerance_ns, &cover[i]);
	}
	return err;
}

int ana_kins_find(struct ana_kins *k, const struct ana_match *of, uint32_t least, int64_t slack_ns,
		  int64_t *tolerance_ns)
{
	struct ana_match m = *of;
	int err;

	*k = (struct ana_kins){ 0 };
	k->of = malloc((m.lanes + 1u) * sizeof(*k->of));
	if (!k->of)
		return -ENOMEM;
	err = find(k, &m, least, slack_ns);
	*tolerance_ns = m.tolerance_ns;
	return err ? err : ana_kins_unite(k, &m);
}

void ana_kins_fini(struct ana_kins *k)
{
	forget(k, 0);
	free(k->kin);
	free(k->of);
	*k = (struct ana_kins){ 0 };
}

bool ana_kins_has(const struct ana_kins *k, const uint32_t *lane, size_t n)
{
	uint32_t i = k->of[lane[0]];

	return i != UINT32_MAX && k->kin[i].lanes == n &&
	       !memcmp(k->kin[i].lane, lane, n * sizeof(*lane));
}
