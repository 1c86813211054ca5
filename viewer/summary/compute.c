/* SPDX-License-Identifier: Apache-2.0 */
/* ledger.compute: a row for each kind and precision that ran; ledger.units. */
#include <string.h>
#include "base/units.h"
#include "fields.h"
#include "summary_priv.h"

void summary_put_work(struct base_jsonout *j, const struct view_summary *s)
{
	struct view_work rows[ANA_WORKS];
	size_t n = view_work_rows(s, rows);

	if (!n)
		return;
	base_json_array(j, "compute");
	for (size_t i = 0; i < n; i++) {
		base_json_flat_object(j, NULL);
		base_json_string(j, "kind", rows[i].kind);
		base_json_string(j, "precision", rows[i].precision);
		base_json_int(j, "ns", rows[i].ns);
		base_json_percent(j, "pct", base_ppm(rows[i].ns, s->result->classes[ANA_COMPUTE]));
		base_json_usd(j, "usd", rows[i].nano_usd, s->cost.known);
		base_json_uint(j, "count", rows[i].count);
		base_json_end(j);
	}
	base_json_end(j);
}

static void put_phases(struct base_jsonout *j, const struct ana_units in[ANA_PHASES])
{
	if (!ana_units_told(in))
		return;
	base_json_array(j, "phases");
	for (int i = 0; i < ANA_PHASES; i++) {
		if (!in[i].known_ns)
			continue;
		base_json_flat_object(j, NULL);
		base_json_string(j, "phase", ana_phase_names[i]);
		summary_put_fields(j, summary_units, &in[i]);
		base_json_end(j);
	}
	base_json_end(j);
}

void summary_put_units(struct base_jsonout *j, const struct ana_result *r)
{
	const struct ana_units *u = &r->units;

	if (!u->known_ns)
		return;
	base_json_object(j, "units");
	summary_put_fields(j, summary_units, u);
	put_phases(j, r->units_in);
	base_json_end(j);
}

void summary_read_units(struct view_summary *s, const struct base_json *units)
{
	struct ana_result *r = s->result;

	summary_read_fields(s, units, summary_units, &r->units);
	BASE_JSON_EACH(n, base_json_get(units, "phases")) {
		int phase = summary_by_name(base_json_get_text(n, "phase", ""), ana_phase_names,
					    ANA_PHASES, -1);

		if (phase >= 0)
			summary_read_fields(s, n, summary_units, &r->units_in[phase]);
	}
}

static int named(const struct facts_kind_row *rows, int n, const char *name)
{
	for (int i = 0; i < n; i++)
		if (!strcmp(rows[i].name, name))
			return i;
	return -1;
}

/* -1: no place that this program knows. */
static int place_of(const struct base_json *row)
{
	int kind = named(facts_kinds, FACTS_KINDS, base_json_get_text(row, "kind", ""));
	int precision =
		named(facts_precisions, FACTS_PRECISIONS, base_json_get_text(row, "precision", ""));

	return kind < 0 || precision < 0 ? -1 : ANA_WORK(kind, precision);
}

void summary_read_work(struct view_summary *s, const struct base_json *compute)
{
	struct ana_work *w = &s->result->work;

	BASE_JSON_EACH(row, compute) {
		int place = place_of(row);

		if (place < 0)
			continue;
		w->ns[place] = summary_total(row, "ns");
		w->count[place] = base_json_get_uint(row, "count", 0);
		s->cost.work[place] = summary_usd(row, "usd", 0);
	}
}
