/* SPDX-License-Identifier: Apache-2.0 */
/* The comparison in one sentence: cost, starving, what went or came, what was promised and came. */
#include <string.h>
#include "findings/findings.h"
#include "findings/words.h"
#include "compare_priv.h"

#define COLUMNS 40
#define LEAST_PPM 10000 /* of the GPU time: smaller findings are not worth a headline */

/* "B costs 31.2 % less per step than A ($0.012 -> $0.0083)". */
static const char *told(const struct pairing *g, const struct view_measure *m, const char *verb,
			const char *what, const char *values)
{
	struct base_arena *mem = &g->c->mem;
	base_unit change;

	g->p->headline = m;
	if (!m->difference)
		return base_arena_printf(mem, "%s %s the same%s as %s %s", g->label[1], verb, what,
					 g->label[0], values);
	if (!m->has_change)
		return base_arena_printf(mem, "%s %s %s%s than %s %s", g->label[1], verb,
					 m->difference < 0 ? "less" : "more", what, g->label[0],
					 values);
	return base_arena_printf(mem, "%s %s %s %% %s%s than %s %s", g->label[1], verb,
				 base_percent(change,
					      m->change_ppm < 0 ? -m->change_ppm : m->change_ppm),
				 m->difference < 0 ? "less" : "more", what, g->label[0], values);
}

static const char *by_measure(const struct pairing *g, const char *id, const char *verb,
			      const char *what, const char *besides)
{
	const struct view_measure *m = view_pair_measure(g->p, id);
	base_unit v[2], difference;

	if (!m->comparable)
		return NULL;
	compare_row(m->figure, m->value, v, difference);
	return told(g, m, verb, what,
		    base_arena_printf(&g->c->mem, "(%s -> %s%s)", v[0], v[1], besides));
}

/* What it was for: of a server its requests, whatever a step of it has of them. */
static const char *by_unit(const struct pairing *g)
{
	struct base_arena *mem = &g->c->mem;
	const char *unit = g->p->unit;
	base_unit v[2], difference;

	if (!unit)
		return NULL;
	const struct view_measure *m = compare_unit_measure(g->p, unit);
	const struct view_outcome *o = view_outcome_of(g->s[1], unit);
	compare_row(m->figure, m->value, v, difference);
	return told(g, m, "costs", base_arena_printf(mem, " per %s", view_outcome_each(o, mem)),
		    base_arena_printf(mem, "(%s%s -> %s%s)", compare_unit_bound(g, 0), v[0],
				      compare_unit_bound(g, 1), v[1]));
}

/* Start-up and teardown are a third or more: a short trial, whose cost per step they decide. */
static bool mostly_starts(const struct view_summary *s)
{
	return s->result->gpu_ns - view_working_ns(s) >= s->result->gpu_ns / 3;
}

static const char *cost_clause(const struct pairing *g)
{
	bool brief = mostly_starts(g->s[0]) || mostly_starts(g->s[1]);
	const char *t = by_unit(g);

	if (!t && !brief)
		t = by_measure(g, "usd_step", "costs", " per step", "");
	if (!t)
		t = by_measure(g, "usd_step_working", "costs", " per step", " without start-up");
	if (!t)
		t = by_measure(g, "gpu_step_working", "takes", " GPU time per step", "");
	if (!t)
		t = by_measure(g, "step_median", "takes", " time per step", " median");
	if (t)
		return t;
	return base_arena_printf(&g->c->mem, "%s and %s are not comparable per step: %s",
				 g->label[0], g->label[1],
				 g->p->why[VIEW_PART_STEP] ? g->p->why[VIEW_PART_STEP]
							   : g->p->why[VIEW_PART_GPU_STEP]);
}

/* What both do. */
static const char *work(const struct pairing *g)
{
	const char *of[2] = { view_work_word(&g->s[0]->kind), view_work_word(&g->s[1]->kind) };

	return of[0] == of[1] || !strcmp(of[0], of[1]) ? of[0] : "working";
}

static const char *starved_clause(const struct pairing *g)
{
	const struct view_measure *m = view_pair_measure(g->p, "share_starved_working");
	base_unit a, b;

	if (!m->known[0] || !m->known[1])
		return "";
	return base_arena_printf(&g->c->mem, "; GPUs waited for input %s %s %s of the %s time",
				 compare_figure(a, m->figure, m->value[0]),
				 m->comparable ? "->" : "and",
				 compare_figure(b, m->figure, m->value[1]), work(g));
}

/* The largest change worth a word. */
static const char *finding_clause(const struct pairing *g)
{
	struct base_arena *mem = &g->c->mem;
	const char *hotspot;

	for (size_t i = 0; i < g->p->findings; i++) {
		const struct view_finding_change *f = &g->p->finding[i];
		if (f->ppm[0] < LEAST_PPM && f->ppm[1] < LEAST_PPM)
			continue;
		switch (f->status) {
		case VIEW_FINDING_WENT:
			return base_arena_printf(mem, "; %s went",
						 compare_finding_name(mem, f->finding[0]));
		case VIEW_FINDING_CAME:
			return base_arena_printf(mem, "; %s came",
						 compare_finding_name(mem, f->finding[1]));
		case VIEW_FINDING_MOVED:
			hotspot = f->finding[0]->class == f->finding[1]->class
					  ? view_words_hotspot(mem, &f->finding[1]->where, COLUMNS)
					  : ana_class_names[f->finding[1]->class];
			return base_arena_printf(mem, "; %s moved to %s",
						 compare_finding_name(mem, f->finding[0]),
						 hotspot ? hotspot : "another line");
		default:
			break;
		}
	}
	return "";
}

/* The advice that the first run's verdict named. */
static const struct view_promise *headline_promise(const struct pairing *g)
{
	const struct view_pair *p = g->p;
	const struct view_advice *first = view_advice_first(g->s[0]);

	for (size_t i = 0; first && i < p->promises; i++)
		if (p->promise[i].advice == first)
			return &p->promise[i];
	return NULL;
}

static const char *promise_clause(const struct pairing *g)
{
	const struct view_promise *q = headline_promise(g);

	/* per step it would be about something else than what stands before it */
	if (!q ||
	    (!g->p->samples_gpu && g->p->why[g->p->unit ? VIEW_PART_GPU_RUN : VIEW_PART_GPU_STEP]))
		return "";
	return base_arena_printf(&g->c->mem, "; of the predicted saving, %s",
				 compare_promise_words(g->p, q, &g->c->mem));
}

void compare_sentence(struct pairing *g)
{
	const char *cost = cost_clause(g), *starved = starved_clause(g);
	const char *finding = finding_clause(g), *promise = promise_clause(g);

	g->p->sentence = base_arena_printf(&g->c->mem, "%s%s%s%s", cost, starved, finding, promise);
}
