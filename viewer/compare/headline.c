/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Of what the sentence is. A step of a server is whatever its kernels repeat, and answers one
 * request or many: what the runs were for is what they or their user counted. Requests come before
 * anything else that both have, then what was told first.
 */
#include "compare_priv.h"

const struct view_measure *compare_unit_measure(const struct view_pair *p, const char *unit)
{
	char id[VIEW_UNIT_METRIC];

	return view_pair_measure(p, view_unit_metric(id, unit));
}

/* Both counted it, and it costs something in both. The loader's own samples are those of steps. */
static bool is_told(const struct pairing *g, const char *unit)
{
	for (int i = 0; i < 2; i++) {
		const struct view_outcome *o = view_outcome_of(g->s[i], unit);

		if (!o || o->source == VIEW_OUTCOME_LOADER)
			return false;
	}
	return compare_unit_measure(g->p, unit)->comparable;
}

static const char *unit_of(const struct pairing *g)
{
	const struct view_summary *s = g->s[0];

	if (is_told(g, "requests"))
		return "requests";
	for (size_t i = 0; i < s->outcomes; i++)
		if (is_told(g, s->outcome[i].unit))
			return s->outcome[i].unit;
	/* what steps of other work have in common */
	return g->p->by_samples && compare_unit_measure(g->p, "samples")->comparable ? "samples"
										     : NULL;
}

const char *compare_unit_bound(const struct pairing *g, int i)
{
	return view_bound_each[view_outcome_of(g->s[i], g->p->unit)->bound];
}

static void note_bounds(struct pairing *g)
{
	for (int i = 0; i < 2; i++) {
		const struct view_outcome *o = view_outcome_of(g->s[i], g->p->unit);

		if (o->bound)
			compare_note(g, base_arena_printf(&g->c->mem, "%s: %s", g->label[i],
							  view_outcome_words(o, &g->c->mem)));
	}
}

static struct view_step_work work_of(const struct view_summary *s, const char *unit)
{
	const struct view_outcome *o = view_outcome_of(s, unit);

	if (o->bound)
		return (struct view_step_work){ 0 };
	return (struct view_step_work){ .num = o->num, .den = o->den, .steps = s->result->steps };
}

/* Else what stands in the table per step would seem to speak against the sentence. */
static void note_steps(struct pairing *g)
{
	struct view_step_work a = work_of(g->s[0], g->p->unit), b = work_of(g->s[1], g->p->unit);
	char x[VIEW_STEP_WORK_TEXT], y[VIEW_STEP_WORK_TEXT];

	if (g->p->why[VIEW_PART_STEP] || !view_step_works_differ(&a, &b))
		return;
	compare_note(g, base_arena_printf(&g->c->mem,
					  "a step is of %s %s in %s and of %s in %s: time and "
					  "dollars per step are of different work",
					  view_step_work_text(x, &a), g->p->unit, g->label[0],
					  view_step_work_text(y, &b), g->label[1]));
}

void compare_unit(struct pairing *g)
{
	g->p->unit = unit_of(g);
	if (!g->p->unit)
		return;
	note_bounds(g);
	note_steps(g);
}
