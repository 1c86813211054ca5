/* SPDX-License-Identifier: Apache-2.0 */
/* What a run brought forth, and what of it cost. */
#include <inttypes.h>
#include <string.h>
#include "base/units.h"
#include "model.h"

const char *const view_outcome_sources[VIEW_OUTCOME_SOURCES] = { "loader", "counted", "given" };

const char *const view_outcome_bounds[VIEW_OUTCOME_BOUNDS] = { "exact", "at_least", "at_most" };

const char *const view_bound_words[VIEW_OUTCOME_BOUNDS] = { "", "at least ", "at most " };

/* The other way round than the count's. */
const char *const view_bound_each[VIEW_OUTCOME_BOUNDS] = { "", "at most ", "at least " };

enum view_outcome_bound view_told_bound(const struct view_summary *s)
{
	return s->result->complete || s->result->imported ? VIEW_OUTCOME_EXACT
							  : VIEW_OUTCOME_AT_LEAST;
}

const struct view_outcome *view_outcome_of(const struct view_summary *s, const char *unit)
{
	for (size_t i = 0; i < s->outcomes; i++)
		if (!strcmp(s->outcome[i].unit, unit))
			return &s->outcome[i];
	return NULL;
}

/* All that the run cost, for view_unit_per() of it; rounded here and nowhere else. */
static int64_t dollars(const struct view_summary *s, const struct view_outcome *o)
{
	__int128 each;

	if (!s->cost.known ||
	    __builtin_mul_overflow((__int128)s->cost.total * o->den, view_unit_per(o->unit), &each))
		return -1;
	return base_div_even(each, o->num);
}

void view_outcome_set(struct view_summary *s, const char *name, int64_t num, int64_t den,
		      enum view_outcome_source source, enum view_outcome_bound bound)
{
	struct view_outcome *o = (struct view_outcome *)view_outcome_of(s, name);

	if (num <= 0 || den <= 0 || (o && o->source > source))
		return;
	if (!o) {
		if (s->outcomes == VIEW_OUTCOMES_MAX)
			return;
		o = &s->outcome[s->outcomes++];
	}
	*o = (struct view_outcome){
		.unit = name, .num = num, .den = den, .source = source, .bound = bound
	};
	o->nano_usd = dollars(s, o);
}

/* Three decimals of what is no whole number, without the zeros behind. */
const char *view_outcome_count(const struct view_outcome *o, struct base_arena *mem)
{
	__int128 milli = base_div_even_wide((__int128)o->num * 1000, o->den);
	int rest = (int)(milli % 1000);
	base_unit whole;
	char digits[8] = "";

	if (rest) {
		size_t n = (size_t)snprintf(digits, sizeof(digits), ".%03d", rest);

		while (digits[n - 1] == '0')
			digits[--n] = '\0';
	}
	return base_arena_printf(mem, "%s%s %s", base_count(whole, (uint64_t)(milli / 1000)),
				 digits,
				 milli == 1000 && !strcmp(o->unit, "epochs") ? "epoch" : o->unit);
}

const char *view_outcome_each(const struct view_outcome *o, struct base_arena *mem)
{
	int64_t per = view_unit_per(o->unit);

	if (per == 1)
		return "epoch";
	return base_arena_printf(mem, "%s %s", per == 1000 ? "1,000" : "million", o->unit);
}

const char *view_outcome_words(const struct view_outcome *o, struct base_arena *mem)
{
	static const char *const from[] = { "as the loader gave them", "as the program counted",
					    "as --unit says" };
	bool of_all = o->source == VIEW_OUTCOME_LOADER && o->bound == VIEW_OUTCOME_AT_MOST;
	base_unit usd;
	const char *t = base_arena_printf(mem, "%s%s, %s", view_bound_words[o->bound],
					  view_outcome_count(o, mem),
					  of_all ? "as all loaders gave them" : from[o->source]);

	if (o->bound && !of_all)
		t = base_arena_printf(mem, "%s%s", t,
				      o->bound == VIEW_OUTCOME_AT_LEAST
					      ? " up to the last record of it"
					      : " of a run that ends well, and it did not");
	if (o->nano_usd < 0)
		return t;
	return base_arena_printf(mem, "%s: %s%s per %s", t, view_bound_each[o->bound],
				 base_money(usd, o->nano_usd), view_outcome_each(o, mem));
}
