/* SPDX-License-Identifier: Apache-2.0 */
#include "partner.h"

#include <errno.h>
#include <stdlib.h>
#include "base/minmax.h"
#include "coincidence.h"

#define LEAST 3u /* times that two lanes must have ended together, ... */
#define SHARE_PCT 5u /* ... of the kernels of the one with more */
#define NEAR 3u /* ends lie so many times nearer than they may, where by chance it is twice, ... */
#define NEARER 8u /* ... and of fewer than ... */
#define MANY 100u
#define BESIDE_PCT 50u /* of what ends together may be ends beside those of their own partners */
#define ENOUGH 950u /* of a thousand kernels have a partner: no larger tolerance is tried */

struct taken {
	uint32_t *pair; /* of the coincidences, which became partners */
	uint32_t pairs;
	uint32_t *left; /* by lane: kernels that no partner is known of */
};

static bool is_kin(const struct ana_match *m, uint32_t lane)
{
	return m->kins && m->kins->of[lane] != UINT32_MAX;
}

static bool may_meet(const struct ana_coincidences *c, const struct ana_coincidence *p)
{
	uint64_t most = (uint64_t)base_max(c->seen[p->a], c->seen[p->b]);
	uint64_t near = p->together < MANY ? NEARER : NEAR;

	return p->together >= LEAST && p->together * UINT64_C(100) >= most * SHARE_PCT &&
	       p->apart_ns * near <= p->most_ns;
}

/* Each kernel meets one other, so a lane has no more partners than kernels for them. */
static void take(const struct ana_coincidences *c, struct taken *t)
{
	uint32_t i;

	for (i = 0; i < c->pairs; i++) {
		const struct ana_coincidence *p = &c->pair[i];
		uint32_t need = p->together - (uint32_t)((uint64_t)p->together * BESIDE_PCT / 100);

		if (!may_meet(c, p) || t->left[p->a] < need || t->left[p->b] < need)
			continue;
		t->left[p->a] -= (uint32_t)base_min(t->left[p->a], p->together);
		t->left[p->b] -= (uint32_t)base_min(t->left[p->b], p->together);
		t->pair[t->pairs++] = i;
	}
}

/* Partners of each lane behind those of the lane before it. */
static int write_down(struct ana_partners *p, const struct ana_coincidences *c, uint32_t lanes,
		      const struct taken *t)
{
	uint32_t *at = calloc(lanes + 1u, sizeof(*at)), i, sum = 0;

	p->first = calloc(lanes + 1u, sizeof(*p->first));
	p->list = calloc(2 * (size_t)t->pairs + 1, sizeof(*p->list));
	if (!at || !p->first || !p->list) {
		free(at);
		return -ENOMEM;
	}
	for (i = 0; i < t->pairs; i++) {
		at[c->pair[t->pair[i]].a]++;
		at[c->pair[t->pair[i]].b]++;
	}
	for (i = 0; i <= lanes; i++) {
		p->first[i] = sum;
		sum += at[i];
		at[i] = p->first[i];
	}
	for (i = 0; i < t->pairs; i++) {
		const struct ana_coincidence *x = &c->pair[t->pair[i]];

		p->list[at[x->a]++] = (struct ana_partner){ x->b, UINT32_MAX };
		p->list[at[x->b]++] = (struct ana_partner){ x->a, UINT32_MAX };
	}
	p->lanes = lanes;
	p->count = 2 * t->pairs;
	free(at);
	return 0;
}

/* At one tolerance. *cover: of a thousand kernels how many have a partner. */
static int find_at(struct ana_partners *p, const struct ana_match *m, int64_t tolerance,
		   uint64_t *cover)
{
	struct ana_coincidences c = { 0 };
	struct taken t = { 0 };
	uint64_t left = 0;
	uint32_t i;
	int err = ana_coincidences_count(&c, m, tolerance, ANA_MATCH_SENDS);

	ana_partners_fini(p);
	p->tolerance_ns = tolerance;
	*cover = 0;
	if (err)
		goto out;
	t.pair = calloc(c.pairs + 1u, sizeof(*t.pair));
	t.left = calloc(m->lanes + 1u, sizeof(*t.left));
	err = t.pair && t.left ? 0 : -ENOMEM;
	if (err)
		goto out;
	for (i = 0; i < m->lanes; i++)
		t.left[i] = is_kin(m, i) ? 0 : c.seen[i];
	take(&c, &t);
	for (i = 0; i < m->lanes; i++)
		left += t.left[i];
	*cover = c.all ? (c.all - left) * 1000 / c.all : ENOUGH;
	err = write_down(p, &c, m->lanes, &t);
out:
	free(t.pair);
	free(t.left);
	ana_coincidences_fini(&c);
	return err;
}

static bool anybody_sends(const struct ana_match *m)
{
	size_t i;

	for (i = 0; i < m->logs; i++)
		if (m->log[i]->sends)
			return true;
	return false;
}

/* The least tolerance at which nearly all have partners, or as many as at any. */
int ana_partners_find(struct ana_partners *p, const struct ana_match *m, int64_t slack_ns)
{
	uint64_t cover[ANA_TOLERANCES] = { 0 }, most = 0;
	size_t i;
	int err = 0;

	*p = (struct ana_partners){ 0 };
	if (!anybody_sends(m))
		return 0;
	for (i = 0; i < ANA_TOLERANCES && !err; i++) {
		err = find_at(p, m, ana_tolerance_ns[i] + slack_ns, &cover[i]);
		if (cover[i] >= ENOUGH)
			return err;
		most = cover[i] > most ? cover[i] : most;
	}
	for (i = 0; i < ANA_TOLERANCES && cover[i] * 100 < most * 98; i++)
		;
	if (!err && i < ANA_TOLERANCES - 1) /* the last is at hand */
		err = find_at(p, m, ana_tolerance_ns[i] + slack_ns, &cover[i]);
	return err;
}

void ana_partners_fini(struct ana_partners *p)
{
	free(p->first);
	free(p->list);
	*p = (struct ana_partners){ 0 };
}

struct ana_partner *ana_partners_get(const struct ana_partners *p, uint32_t lane, uint32_t other)
{
	uint32_t i;

	if (lane >= p->lanes)
		return NULL;
	for (i = p->first[lane]; i < p->first[lane + 1]; i++)
		if (p->list[i].lane == other)
			return &p->list[i];
	return NULL;
}
