/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the saving of a piece of advice is of, where that is more than the finding that pages tell
 * first of its class, and on what it depends.
 */
#include "findings.h"
#include "told.h"

#include <string.h>
#include "advice.h"
#include "gain.h"
#include "loader.h"
#include "base/units.h"
#include "wire/evidence.h"

#define LEAST_PPM 500 /* of the training time: less is 0.0 % */
#define MORE_PART 50 /* of the finding: less beside it is not told */

bool view_advice_without_any(const struct view_advice *a)
{
	return a->class == ANA_INPUT_HANDOFF && !strcmp(a->id, "no-workers");
}

bool view_advice_asks_source(const struct view_summary *s, const struct view_advice *a)
{
	const struct view_finding *f = view_finding_of(s, a->class);

	return view_advice_is_number(a) && a->class == ANA_INPUT_FETCH &&
	       (!f || f->where.wait != WIRE_WAIT_SLEEP);
}

const char *view_advice_if(const struct view_summary *s, const struct view_advice *a)
{
	return view_advice_asks_source(s, a) ? ", if the source keeps up" : "";
}

const struct view_advice *view_advice_else(const struct view_summary *s,
					   const struct view_advice *a)
{
	if (!a->with_need || !view_loader_wants_cores(s))
		return NULL;
	for (size_t i = 0; i < s->advices; i++)
		if (&s->advice[i] != a && s->advice[i].class == a->class)
			return &s->advice[i];
	return NULL;
}

const char *view_advice_one_here(const struct view_summary *s, struct base_arena *mem,
				 const struct view_advice *a)
{
	const struct view_loader *v = &s->loader;
	const char *times;

	if (!a->with_need || !view_loader_wants_cores(s) || v->facts.workers)
		return "";
	times = view_gain_words(s, mem, view_gain_of_steps(s, a, a->class, v->saving_ns), 0);
	return times ? base_arena_printf(mem, ", or num_workers=1, %s", times) : "";
}

bool view_advice_is_of(const struct view_summary *s, const struct view_advice *a, enum ana_class c)
{
	if (view_advice_is_number(a))
		return ana_class_is_input(c);
	if (view_advice_without_any(a))
		return ana_class_wants_workers(c) || c == ANA_INPUT_EPOCH;
	if (a->class == ANA_INPUT_CPU_STARVED && a->saving_ns > view_advice_ns(s, a->class))
		return c == ANA_INPUT_PREP ||
		       c == a->class; /* advice_cpu.c: makers compute at once then */
	return c == a->class;
}

/* What the class's most costly cause is told to have taken, with those that it speaks for. */
static int64_t told_ns(const struct view_summary *s, struct base_arena *mem, enum ana_class c)
{
	struct view_told *told;
	struct view_cause *cause;
	size_t n = view_causes_told(s, mem, &told, &cause);

	for (size_t i = 0; i < n; i++) {
		const struct view_finding *f = &s->finding[told[cause[i].from].at];

		if (f->class == c && !f->where.late)
			return cause[i].ns;
	}
	return 0;
}

const char *view_advice_about(const struct view_summary *s, struct base_arena *mem,
			      const struct view_advice *a, int64_t *ppm)
{
	int64_t all = 0, input = 0, told = told_ns(s, mem, a->class);
	size_t classes = 0;

	if (ana_class_is_outside(a->class) || !told || a->saving_ns - told / MORE_PART <= told)
		return NULL;
	for (int c = 0; c < ANA_CLASSES; c++) {
		int64_t ns = view_advice_ns(s, (enum ana_class)c);

		view_cost_add(&input, ana_class_is_input(c) ? ns : 0);
		if (!ns || !view_advice_is_of(s, a, (enum ana_class)c))
			continue;
		view_cost_add(&all, ns);
		classes++;
	}
	*ppm = base_ppm(all, view_working_ns(s));
	if (classes < 2)
		return base_arena_printf(mem, "of all of %s", ana_class_names[a->class]);
	return base_ppm(input - all, view_working_ns(s)) < LEAST_PPM
		       ? "of all waits for input"
		       : "of these and other waits for input";
}

const char *view_advice_about_words(const struct view_summary *s, struct base_arena *mem,
				    const struct view_advice *a)
{
	int64_t ppm;
	const char *of = view_advice_about(s, mem, a, &ppm);
	base_unit share;

	return of ? base_arena_printf(mem, "%s, %s %%", of, base_percent(share, ppm)) : NULL;
}
