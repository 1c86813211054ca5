/* SPDX-License-Identifier: Apache-2.0 */
/* cost.outcomes: how many samples, epochs and units of the program's own the dollars bought. */
#include <string.h>
#include "analysis/evidence/passes.h"
#include "summary_priv.h"

/*
 * The loader that gave most samples is the one that the run is about; a smaller one validates.
 * Where one of them does not know, most batches tell.
 */
static const struct ana_loader_facts *largest_loader(const struct ana_result *r)
{
	const struct ana_loader_facts *most = NULL;
	uint64_t samples = 0, n;
	bool known = true;

	for (size_t i = 0; i < r->loaders; i++)
		known &= !r->loader[i].given.batches || ana_loader_samples(&r->loader[i], &n);
	for (size_t i = 0; i < r->loaders; i++) {
		const struct ana_loader_facts *f = &r->loader[i];

		if (!known || !ana_loader_samples(f, &n))
			n = known ? 0 : f->given.batches;
		if (n > samples) {
			samples = n;
			most = f;
		}
	}
	return most;
}

/* The one that trains, where that is told. */
static const struct ana_loader_facts *main_loader(const struct ana_result *r)
{
	for (size_t i = 0; i < r->loaders; i++)
		if (r->loader[i].trains)
			return &r->loader[i];
	return largest_loader(r);
}

const struct ana_loader_facts *view_outcome_loader(const struct view_summary *s, size_t *of)
{
	const struct ana_result *r = s->result;
	bool told = false;

	*of = 0;
	for (size_t i = 0; i < r->loaders; i++)
		*of += r->loader[i].given.batches > 0;
	for (size_t i = 0; i < s->outcomes; i++)
		told |= s->outcome[i].source == VIEW_OUTCOME_LOADER;
	return told && *of > 1 ? main_loader(r) : NULL;
}

/* Whatever was lost of the record may have been a batch. */
static bool is_whole(const struct ana_quality *q)
{
	return !q->dropped && !q->frames_missing && !q->damage_bytes;
}

/* What was told up to its end by a run whose end is known is all of it. */
static enum view_outcome_bound told_bound(const struct view_summary *s)
{
	return s->result->complete || s->result->imported ? VIEW_OUTCOME_EXACT
							  : VIEW_OUTCOME_AT_LEAST;
}

static enum view_outcome_bound planned_bound(const struct view_summary *s)
{
	bool failed = s->has_exit_status && s->exit_status;

	return failed || told_bound(s) ? VIEW_OUTCOME_AT_MOST : VIEW_OUTCOME_EXACT;
}

static void add_loader(struct view_summary *s)
{
	const struct ana_loader_facts *f = main_loader(s->result);
	enum view_outcome_bound bound = told_bound(s);
	uint64_t num, den;

	if (!f || !is_whole(&s->result->quality))
		return;
	if (ana_loader_samples(f, &num))
		view_outcome_set(s, "samples", (int64_t)num, 1, VIEW_OUTCOME_LOADER, bound);
	if (ana_loader_epochs(f, &num, &den))
		view_outcome_set(s, "epochs", (int64_t)num, (int64_t)den, VIEW_OUTCOME_LOADER,
				 bound);
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
			  told_bound(s));
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
