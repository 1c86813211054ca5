/* SPDX-License-Identifier: Apache-2.0 */
#include "seldom.h"

#include "analysis/ranks/straggler_test.h"
#include "base/units.h"

bool view_rank_is_seldom(const struct view_summary *s, size_t i)
{
	const struct ana_rank *r = &s->result->ranks.row[i];

	return r->culprit == ANA_CULPRIT_NONE && r->late_much &&
	       r->late_much < ANA_STRAGGLER_EVENTS_LEAST &&
	       base_ppm(r->caused_ns, view_working_ns(s)) >= ANA_STRAGGLER_EFFECT_PPM;
}

static bool caused_most(const struct view_summary *s, const struct ana_rank *r)
{
	const struct ana_ranks *all = &s->result->ranks;
	__int128 sum = 0;

	for (size_t i = 0; i < all->rows; i++)
		sum += all->row[i].caused_ns;
	return r->late_much >= ANA_STRAGGLER_EVENTS_LEAST &&
	       (__int128)r->caused_ns * 100 >= sum * VIEW_CHIEF_PCT;
}

bool view_rank_leads(const struct view_summary *s, const struct ana_rank *r)
{
	if (r->culprit != ANA_CULPRIT_ROTATING)
		return r->culprit == ANA_CULPRIT_STABLE;
	return r->straggler || caused_most(s, r);
}

size_t view_ranks_named(const struct view_summary *s, struct base_arena *mem, size_t **rows)
{
	const struct ana_ranks *r = &s->result->ranks;
	size_t n = 0, at;

	*rows = base_arena_array(mem, r->rows + 1, sizeof(**rows));
	for (size_t i = 0; i < r->rows; i++) {
		if (r->row[i].culprit == ANA_CULPRIT_NONE ||
		    base_ppm(r->row[i].caused_ns, view_working_ns(s)) < VIEW_NAMED_PPM)
			continue;
		for (at = n++; at && r->row[(*rows)[at - 1]].caused_ns < r->row[i].caused_ns; at--)
			(*rows)[at] = (*rows)[at - 1];
		(*rows)[at] = i;
	}
	return n;
}
