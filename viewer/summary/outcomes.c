/* SPDX-License-Identifier: Apache-2.0 */
/* cost.outcomes: how many samples, epochs and units of the program's own the dollars bought. */
#include <inttypes.h>
#include <string.h>
#include "analysis/evidence/passes.h"
#include "findings/words.h"
#include "summary_priv.h"

enum from { /* which loaders the outcomes are of */
	FROM_ONE, /* there is no other one */
	FROM_TRAINING, /* those that train */
	FROM_ALL, /* all of them do what the run is there for */
	FROM_ANY /* nothing tells which train: no more than what all of them gave */
};

static bool any_trains(const struct ana_result *r)
{
	for (size_t i = 0; i < r->loaders; i++)
		if (r->loader[i].trains)
			return true;
	return false;
}

static enum from from_which(const struct view_summary *s)
{
	if (!ana_loaders_differ(s->result))
		return FROM_ONE;
	if (any_trains(s->result))
		return FROM_TRAINING;
	return s->kind.kind == FACTS_RUN_EVALUATION ? FROM_ALL : FROM_ANY;
}

/* What counts of a loader, in the place of all that it gave. False: nothing. */
static bool counted(const struct ana_loader_facts *f, enum from from, struct ana_loader_facts *of)
{
	*of = *f;
	if (from == FROM_TRAINING) {
		of->given = f->learnt;
		of->trainers = f->learners;
	}
	return of->given.batches && (from != FROM_TRAINING || f->trains);
}

/* False: of one it is not known. */
static bool sum_samples(const struct view_summary *s, enum from from, int64_t *sum)
{
	const struct ana_result *r = s->result;
	struct ana_loader_facts f;
	uint64_t n;

	*sum = 0;
	for (size_t i = 0; i < r->loaders; i++) {
		if (!counted(&r->loader[i], from, &f))
			continue;
		if (!ana_loader_samples(&f, &n) || __builtin_add_overflow(*sum, (int64_t)n, sum))
			return false;
	}
	return *sum > 0;
}

struct epochs {
	uint64_t num, den;
	enum view_outcome_bound bound;
};

/* No more than the passes that were begun, whatever is an epoch of which. */
static bool sum_passes(const struct view_summary *s, enum from from, struct epochs *e)
{
	const struct ana_result *r = s->result;
	struct ana_loader_facts f;
	uint64_t num, den;
	bool known = false;

	*e = (struct epochs){ 0, 1, VIEW_OUTCOME_AT_MOST };
	for (size_t i = 0; i < r->loaders; i++) {
		if (!counted(&r->loader[i], from, &f))
			continue;
		if (!f.given.told || f.given.lost || !f.trainers)
			return false;
		known |= ana_loader_epochs(&f, &num, &den);
		e->num += (f.given.passes + f.trainers - 1) / f.trainers;
	}
	return known && e->num <= INT64_MAX;
}

/* Of the only one that counts; of passes that are not alike nobody knows what an epoch is. */
static bool find_epochs(const struct view_summary *s, enum from from, struct epochs *e)
{
	const struct ana_result *r = s->result;
	struct ana_loader_facts f, only;
	size_t n = 0;

	for (size_t i = 0; i < r->loaders; i++)
		if (counted(&r->loader[i], from, &f)) {
			only = f;
			n++;
		}
	e->bound = VIEW_OUTCOME_EXACT;
	if (n == 1 && from != FROM_ANY && from != FROM_ALL &&
	    !(from == FROM_TRAINING && only.uneven))
		return ana_loader_epochs(&only, &e->num, &e->den);
	return sum_passes(s, from, e);
}

/* Whatever was lost of the record may have been a batch. */
static bool is_whole(const struct ana_quality *q)
{
	return !q->dropped && !q->frames_missing && !q->damage_bytes;
}

static enum view_outcome_bound planned_bound(const struct view_summary *s)
{
	bool failed = s->has_exit_status && s->exit_status;

	return failed || view_told_bound(s) ? VIEW_OUTCOME_AT_MOST : VIEW_OUTCOME_EXACT;
}

/* False: not known so, for there is more than one thing that is not known. */
static bool both(enum view_outcome_bound a, enum view_outcome_bound b, enum view_outcome_bound *of)
{
	*of = a ? a : b;
	return !a || !b || a == b;
}

static void add_loader(struct view_summary *s)
{
	enum from from = from_which(s);
	enum view_outcome_bound bound, told = view_told_bound(s);
	struct epochs e;
	int64_t samples;

	if (!is_whole(&s->result->quality))
		return;
	if (sum_samples(s, from, &samples) &&
	    both(told, from == FROM_ANY ? VIEW_OUTCOME_AT_MOST : VIEW_OUTCOME_EXACT, &bound))
		view_outcome_set(s, "samples", samples, 1, VIEW_OUTCOME_LOADER, bound);
	if (find_epochs(s, from, &e) && both(told, e.bound, &bound))
		view_outcome_set(s, "epochs", (int64_t)e.num, (int64_t)e.den, VIEW_OUTCOME_LOADER,
				 bound);
}

static bool tells_of_loader(const struct view_summary *s)
{
	for (size_t i = 0; i < s->outcomes; i++)
		if (s->outcome[i].source == VIEW_OUTCOME_LOADER)
			return true;
	return false;
}

/* " made at train.py:33", of the only one that trains */
static const char *made_at(const struct ana_result *r, struct base_arena *mem)
{
	for (size_t i = 0; i < r->loaders; i++)
		if (r->loader[i].trains && r->loader[i].made_file)
			return base_arena_printf(mem, " made at %s:%" PRIu32,
						 view_file_name(r->loader[i].made_file),
						 r->loader[i].made_line);
	return "";
}

/* One that was made anew for each epoch is one. */
static bool all_alike(const struct ana_result *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->loaders; i++)
		n += r->loader[i].given.batches > 0;
	return n == 1 && r->apart_trains == r->apart;
}

static const char *those_that_train(const struct ana_result *r, struct base_arena *mem)
{
	if (all_alike(r))
		return NULL;
	if (r->apart_trains == 1)
		return base_arena_printf(mem,
					 "what the loader gave is of the one%s that trains, of "
					 "%" PRIu32 ": a batch of it came before each step of the "
					 "optimizer",
					 made_at(r, mem), r->apart);
	return base_arena_printf(mem,
				 "what the loaders gave is of the %" PRIu32 " that train, of "
				 "%" PRIu32 ": steps of the optimizer came behind batches of each",
				 r->apart_trains, r->apart);
}

const char *view_outcome_loaders(const struct view_summary *s, struct base_arena *mem)
{
	switch (from_which(s)) {
	case FROM_TRAINING:
		return tells_of_loader(s) ? those_that_train(s->result, mem) : NULL;
	case FROM_ALL:
		return tells_of_loader(s) ? "what the loaders gave is of all of them together"
					  : NULL;
	case FROM_ANY:
		if (tells_of_loader(s))
			return "what the loaders gave is of all of them together: nothing tells "
			       "which train, and some may validate";
		return view_told_bound(s) == VIEW_OUTCOME_EXACT
			       ? NULL
			       : "how many samples is not known: nothing tells which loaders train, "
				 "and what came last may not have been told";
	case FROM_ONE:
		break;
	}
	return NULL;
}

static void add_units(struct view_summary *s, const struct view_unit *unit, size_t n,
		      enum view_outcome_source source, enum view_outcome_bound bound)
{
	for (size_t i = 0; i < n; i++)
		view_outcome_set(s, base_arena_text(&s->mem, unit[i].name), unit[i].count, 1,
				 source, bound);
}

/* What the program counted is told by it; what `run --unit` was given before it began, is not. */
static bool was_counted(const struct view_counts *c, const char *name)
{
	for (size_t i = 0; !c->large && i < c->units; i++)
		if (!strcmp(c->unit[i].name, name))
			return true;
	return false;
}

void summary_make_outcomes(struct view_summary *s, const struct view_trace *t)
{
	add_loader(s);
	if (!t)
		return;
	for (size_t i = 0; i < t->run.units; i++)
		if (!was_counted(&t->run.counts, t->run.unit[i].name))
			add_units(s, &t->run.unit[i], 1, VIEW_OUTCOME_GIVEN, planned_bound(s));
	if (!t->run.counts.large)
		add_units(s, t->run.counts.unit, t->run.counts.units, VIEW_OUTCOME_COUNTED,
			  view_told_bound(s));
}

void view_summary_set_units(struct view_summary *s, const struct view_unit *unit, size_t n)
{
	add_units(s, unit, n, VIEW_OUTCOME_GIVEN, VIEW_OUTCOME_EXACT);
}

void summary_put_outcomes(struct base_jsonout *j, const struct view_summary *s)
{
	if (!s->outcomes)
		return;
	base_json_array(j, "outcomes");
	for (size_t i = 0; i < s->outcomes; i++) {
		const struct view_outcome *o = &s->outcome[i];

		base_json_flat_object(j, NULL);
		base_json_string(j, "unit", o->unit);
		base_json_int(j, "count", o->num);
		base_json_int(j, "divisor", o->den);
		base_json_int(j, "per", view_unit_per(o->unit));
		base_json_usd(j, "usd", o->nano_usd, o->nano_usd >= 0);
		base_json_string(j, "source", view_outcome_sources[o->source]);
		if (o->bound)
			base_json_string(j, "bound", view_outcome_bounds[o->bound]);
		base_json_end(j);
	}
	base_json_end(j);
}

static enum view_outcome_bound bound_of(const struct base_json *n)
{
	return (enum view_outcome_bound)summary_by_name(base_json_get_text(n, "bound", NULL),
							view_outcome_bounds, VIEW_OUTCOME_BOUNDS,
							VIEW_OUTCOME_EXACT);
}

/* The dollars are made anew: they follow from the others. */
void summary_read_outcomes(struct view_summary *s, const struct base_json *outcomes)
{
	char text[VIEW_UNIT_NAME + 8];
	struct view_unit u;

	BASE_JSON_EACH(n, outcomes) {
		int source = summary_by_name(base_json_get_text(n, "source", NULL),
					     view_outcome_sources, VIEW_OUTCOME_SOURCES, -1);

		snprintf(text, sizeof(text), "%.*s=1", VIEW_UNIT_NAME,
			 base_json_get_text(n, "unit", ""));
		if (source < 0 || !view_unit_parse(text, strlen(text), &u))
			continue;
		view_outcome_set(s, base_arena_text(&s->mem, u.name),
				 base_json_get_int(n, "count", 0),
				 base_json_get_int(n, "divisor", 0),
				 (enum view_outcome_source)source, bound_of(n));
	}
}
