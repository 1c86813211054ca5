/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Advice where one rank is late: what the others waited for it counts with its own time, and the
 * advice says whose loader, collector or lock it is.
 */
#include <inttypes.h>
#include <string.h>

#include "advice.h"
#include "base/units.h"
#include "facts/kernel.h"
#include "seldom.h"
#include "words.h"

#define NAMED_PPM 100000 /* of what all waited for the class: ranks below it are not named */

int64_t view_advice_ns(const struct view_summary *s, enum ana_class c)
{
	int64_t ns = s->result->classes[c];

	view_cost_add(&ns, s->result->skew_causes[c]);
	return ns;
}

int64_t view_advice_nano_usd(const struct view_summary *s, enum ana_class c)
{
	int64_t usd = s->cost.classes[c];

	view_cost_add(&usd, s->cost.skew[c]);
	return usd;
}

static bool is_late(const struct view_summary *s, const struct ana_rank *r, enum ana_class c)
{
	return view_rank_leads(s, r) &&
	       base_ppm(r->causes[c], s->result->skew_causes[c]) >= NAMED_PPM;
}

/* The one that others waited for most, in class @c; NULL: none leads (seldom.h). */
static const struct ana_rank *latest(const struct view_summary *s, enum ana_class c, size_t *count)
{
	const struct ana_ranks *all = &s->result->ranks;
	const struct ana_rank *best = NULL;

	*count = 0;
	for (size_t i = 0; i < all->rows; i++) {
		const struct ana_rank *r = &all->row[i];
		if (!is_late(s, r, c))
			continue;
		++*count;
		if (!best || r->causes[c] > best->causes[c])
			best = r;
	}
	return best;
}

bool view_advice_is_late(const struct view_summary *s, enum ana_class c)
{
	size_t count;

	return latest(s, c, &count) != NULL;
}

/* "rank 2 of node0", "GPU 5", "rank 2 of node0 and 1 more". */
static const char *name(struct view_summary *s, const struct ana_rank *r, size_t count)
{
	const char *host = s->result->gpu[r->gpu].host;
	bool known = s->hosts > 1 && host && host[0];
	const char *more = count > 1 ? base_arena_printf(&s->mem, " and %zu more", count - 1) : "";

	if (r->has_rank)
		return base_arena_printf(&s->mem, "rank %" PRId32 "%s%s%s", r->rank,
					 known ? " of " : "", known ? host : "", more);
	return base_arena_printf(&s->mem, "GPU %" PRIu32 "%s", r->gpu, more);
}

/* ", its line data.py:42 __getitem__"; "" where samples showed none of this class. */
static const char *line_of(struct view_summary *s, const struct ana_rank *r, enum ana_class c)
{
	const char *file = view_file_name(r->file);

	if (!file || r->top_cause != c)
		return "";
	return base_arena_printf(&s->mem, ", its line %s:%" PRIu32 "%s%s", file, r->line,
				 r->function ? " " : "", r->function ? r->function : "");
}

const char *view_advice_late(struct view_summary *s, enum ana_class c)
{
	size_t count;
	const struct ana_rank *r = latest(s, c, &count);
	base_unit time, late, of;

	if (!r)
		return "";
	return base_arena_printf(
		&s->mem,
		"; for %s of it others waited inside collectives for %s, which came late to %s of %s%s",
		base_duration(time, s->result->skew_causes[c]), name(s, r, count),
		base_count(late, r->late_much), base_count(of, r->matched), line_of(s, r, c));
}

const char *view_advice_for_rank(struct view_summary *s, enum ana_class c)
{
	size_t count;
	const struct ana_rank *r = latest(s, c, &count);

	if (!r || s->result->skew_causes[c] < s->result->classes[c])
		return "";
	return base_arena_printf(&s->mem, ", on %s", name(s, r, count));
}

/* The class is "compute": nobody waits for anything but the rank's own work. */
bool view_advise_uneven(struct view_summary *s, struct view_advice *a)
{
	size_t count;
	const struct ana_rank *r = latest(s, a->class, &count);
	base_unit slower;

	if (!r)
		return false;
	a->saving_ns = s->result->skew_causes[a->class];
	a->saving_nano_usd = s->cost.skew[a->class];
	a->why = base_arena_printf(&s->mem, "%s: one rank takes longer for its own part%s",
				   ana_class_names[a->class], view_advice_late(s, a->class));
	a->brief = base_arena_printf(&s->mem, "%s for %s",
				     r->straggler ? "a GPU as fast as the others'"
						  : "no more work than the others'",
				     name(s, r, count));
	if (r->straggler)
		a->action = base_arena_printf(
			&s->mem,
			"the same kernels take %s %% longer there: look at the GPU's clocks, "
			"temperature and neighbours, or leave it out",
			base_percent(slower, r->straggler_ppm));
	return true;
}

/* Of what ranks waited for each other, most in sends and receives of two, as between stages. */
static bool waits_are_stages(const struct view_summary *s)
{
	const struct ana_ranks *r = &s->result->ranks;
	__int128 stages = 0, all = 0;

	for (size_t i = 0; i < r->groups; i++) {
		const struct ana_group *g = &r->group[i];

		all += g->waited_ns;
		if (g->members == 2 && facts_kernel_meeting(g->name) == FACTS_MEET_ONE)
			stages += g->waited_ns;
	}
	return 2 * stages > all;
}

/* Waits that are nobody's fault count for the class, and no overlap saves them. */
bool view_advise_comm(struct view_summary *s, struct view_advice *a)
{
	int64_t waits = s->result->skew_causes[ANA_COMM];
	bool stages = waits_are_stages(s);
	base_unit time;

	if (waits <= s->result->classes[ANA_COMM])
		return true;
	a->saving_ns = waits;
	a->saving_nano_usd = s->cost.skew[ANA_COMM];
	a->title = stages ? "Shorten what stages wait for each other"
			  : "Even out the work between collectives";
	a->brief = stages ? "more micro-batches, stages of equal length"
			  : "as much work for each rank between collectives";
	a->action =
		stages ? "a pipeline of p stages stands idle for (p - 1) of (m + p - 1) parts of a "
			 "step of m micro-batches: more of them, an interleaved or zero-bubble "
			 "schedule, or fewer stages make that less; the longest stage makes all wait"
		       : "ranks come to collectives at different times, each by turns: batches by "
			 "length or tokens, and the same number of cores for each rank";
	a->why = base_arena_printf(
		&s->mem,
		"comm: ranks waited %s for each other in %s without one that was late by itself; "
		"what they communicated is not a part of that",
		base_duration(time, waits), stages ? "sends and receives" : "collectives");
	return true;
}
