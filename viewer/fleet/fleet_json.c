/* SPDX-License-Identifier: Apache-2.0 */
/* The fleet as JSON: every table as a whole. Dollars are exact decimals; docs/fleet.schema.json. */
#include "base/jsonout.h"
#include "base/units.h"
#include "bill.h"
#include "fleet_out.h"

static void put_sums(struct base_jsonout *j, const struct fleet_sums *s)
{
	const base_wide *m = s->m;

	base_json_wide(j, "runs", m[FLEET_RUNS]);
	base_json_wide(j, "held_ns", m[FLEET_HELD_NS]);
	base_json_wide(j, "busy_ns", m[FLEET_BUSY_NS]);
	base_json_wide(j, "starved_ns", m[FLEET_STARVED_NS]);
	base_json_wide(j, "wasted_ns", m[FLEET_WASTED_NS]);
	base_json_wide(j, "unpriced_ns", m[FLEET_UNPRICED_NS]);
	base_json_usd(j, "usd", m[FLEET_USD], true);
	base_json_usd(j, "starved_usd", m[FLEET_STARVED_USD], true);
	base_json_usd(j, "wasted_usd", m[FLEET_WASTED_USD], true);
	base_json_percent(j, "wasted_pct", base_ppm(m[FLEET_WASTED_NS], m[FLEET_HELD_NS]));
	base_json_percent(j, "starved_pct", base_ppm(m[FLEET_STARVED_NS], m[FLEET_HELD_NS]));
	base_json_flat_array(j, "minutes");
	for (int b = 0; b < FLEET_BANDS; b++)
		base_json_wide(j, NULL, m[FLEET_MINUTES_IDLE + b]);
	base_json_end(j);
	base_json_usd(j, "idle_usd", m[FLEET_IDLE_USD], true);
	base_json_wide(j, "failed_runs", m[FLEET_FAILED_RUNS]);
	base_json_wide(j, "failed_ns", m[FLEET_FAILED_NS]);
	base_json_usd(j, "failed_usd", m[FLEET_FAILED_USD], true);
	base_json_wide(j, "spot_ns", m[FLEET_SPOT_NS]);
	base_json_usd(j, "spot_usd", m[FLEET_SPOT_USD], true);
	base_json_wide(j, "simulated_runs", m[FLEET_SIMULATED]);
}

static void put_name(struct base_jsonout *j, const char *key, const char *name)
{
	base_json_string(j, key, name && name[0] ? name : NULL);
}

static void put_units(struct base_jsonout *j, const struct fleet_unit_sums *units)
{
	base_json_array(j, "units");
	for (size_t i = 0; i < units->sums; i++) {
		const struct fleet_unit_sum *u = &units->sum[i];
		base_wide each = fleet_unit_usd(u);

		base_json_flat_object(j, NULL);
		base_json_string(j, "unit", u->name);
		base_json_wide(j, "count", u->count);
		base_json_wide(j, "runs", u->runs);
		base_json_usd(j, "usd", u->usd, true);
		base_json_usd(j, "untold_usd", u->untold_usd, true);
		base_json_int(j, "per", view_unit_per(u->name));
		base_json_usd(j, "usd_per", each, each >= 0);
		if (fleet_unit_bound(u))
			base_json_string(j, "bound", fleet_unit_bound_name(u));
		base_json_end(j);
	}
	base_json_end(j);
}

static void put_dim(struct base_jsonout *j, const struct fleet *f, int d)
{
	const struct fleet_table *t = fleet_table_of(f, d);
	const struct fleet_sums *total = fleet_total_of(f, d);
	struct base_arena mem = { 0 };
	const int64_t *cents =
		fleet_table_quanta(t, FLEET_USD, total->m[FLEET_USD], FLEET_CENT, &mem);

	base_json_array(j, fleet_by_name(d));
	for (size_t i = 0; i < t->groups; i++) {
		base_json_flat_object(j, NULL);
		put_name(j, "name", t->group[i].key[0]);
		base_json_int(j, "cents", cents[i]);
		put_sums(j, &t->group[i].sums);
		if (t->group[i].units && t->group[i].units->sums)
			put_units(j, t->group[i].units);
		base_json_end(j);
	}
	base_json_end(j);
	base_arena_fini(&mem);
}

static void put_pair(struct base_jsonout *j, const struct fleet_group *g)
{
	base_json_wide(j, "runs", g->sums.m[FLEET_RUNS]);
	base_json_wide(j, "ns", g->sums.m[FLEET_HELD_NS]);
	base_json_usd(j, "usd", g->sums.m[FLEET_USD], true);
	base_json_end(j);
}

static void put_used(struct base_jsonout *j, const struct fleet_used *u)
{
	base_json_flat_object(j, "meters");
	base_json_wide(j, "known_ns", u->known_ns);
	base_json_wide(j, "busy_ns", u->busy_ns);
	base_json_wide(j, "tensor_ns", u->tensor_ns);
	base_json_wide(j, "dram_known_ns", u->dram_known_ns);
	base_json_wide(j, "dram_busy_ns", u->dram_busy_ns);
	base_json_wide(j, "dram_ns", u->dram_ns);
	base_json_end(j);
}

static void put_compute(struct base_jsonout *j, const struct fleet *f)
{
	base_json_array(j, "compute");
	for (size_t i = 0; i < f->compute.groups; i++) {
		base_json_flat_object(j, NULL);
		base_json_string(j, "kind", f->compute.group[i].key[0]);
		base_json_string(j, "precision", f->compute.group[i].key[1]);
		put_pair(j, &f->compute.group[i]);
	}
	base_json_end(j);
}

static void put_why(struct base_jsonout *j, const struct fleet *f)
{
	size_t top = f->options.top;

	base_json_array(j, "class");
	for (size_t i = 0; i < f->classes.groups; i++) {
		base_json_flat_object(j, NULL);
		base_json_string(j, "class", f->classes.group[i].key[0]);
		put_pair(j, &f->classes.group[i]);
	}
	base_json_end(j);
	if (f->options.by == FLEET_BY_COMPUTE)
		put_compute(j, f);
	base_json_array(j, "line");
	for (size_t i = 0; i < f->hotspots.groups && i < top; i++) {
		base_json_flat_object(j, NULL);
		base_json_string(j, "class", f->hotspots.group[i].key[0]);
		base_json_string(j, "place", f->hotspots.group[i].key[1]);
		put_pair(j, &f->hotspots.group[i]);
	}
	base_json_end(j);
	base_json_array(j, "fix");
	for (size_t i = 0; i < f->fixes.groups && i < top; i++) {
		const struct fleet_group *g = &f->fixes.group[i];

		base_json_flat_object(j, NULL);
		base_json_string(j, "id", g->key[0]);
		base_json_string(j, "title", g->key[1]);
		put_name(j, "brief", g->text);
		base_json_string(j, "class", g->key[2]);
		put_name(j, "place", g->key[3]);
		put_pair(j, g);
	}
	base_json_end(j);
}

static void put_rates(struct base_jsonout *j, const struct fleet *f)
{
	base_json_array(j, "prices");
	for (size_t i = 0; i < f->rates.groups; i++) {
		const struct fleet_group *g = &f->rates.group[i];

		base_json_flat_object(j, NULL);
		base_json_string(j, "gpu", g->key[0]);
		base_json_string(j, "model", g->key[1]);
		base_json_string(j, "label", g->key[2]);
		base_json_string(j, "source", g->key[3]);
		base_json_string(j, "date", g->text);
		base_json_number(j, "nano_usd_per_gpu_hour", g->key[4][0] ? g->key[4] : "0");
		base_json_wide(j, "held_ns", g->sums.m[FLEET_HELD_NS]);
		base_json_usd(j, "usd", g->sums.m[FLEET_USD], true);
		base_json_end(j);
	}
	base_json_end(j);
}

static void put_runs(struct base_jsonout *j, const char *key, const struct fleet_runs *r,
		     size_t top)
{
	base_json_object(j, key);
	base_json_uint(j, "count", r->count);
	base_json_wide(j, "held_ns", r->held_ns);
	base_json_usd(j, "usd", r->usd, true);
	base_json_array(j, "runs");
	for (size_t i = 0; i < r->runs && i < top; i++) {
		const struct fleet_run *run = &r->run[i];

		base_json_flat_object(j, NULL);
		base_json_string(j, "run", run->id);
		put_name(j, "team", run->team);
		put_name(j, "user", run->user);
		put_name(j, "project", run->project);
		base_json_string(j, "end", run->end);
		put_name(j, "exit_status", run->exit);
		base_json_int(j, "start_unix_ns", run->start_ns);
		base_json_int(j, "held_ns", run->held_ns);
		base_json_usd(j, "usd", run->usd, run->priced);
		base_json_end(j);
	}
	base_json_end(j);
	base_json_end(j);
}

static void put_bill(struct base_jsonout *j, const struct fleet *f)
{
	base_json_object(j, "bill");
	base_json_int(j, "total_cents", f->bill.total_cents);
	base_json_int(j, "untagged_cents", f->bill.untagged_cents);
	base_json_wide(j, "unpriced_ns", f->bill.unpriced_ns);
	base_json_array(j, "lines");
	for (size_t i = 0; i < f->bill.lines; i++) {
		const struct fleet_group *g = f->bill.line[i].group;

		base_json_flat_object(j, NULL);
		for (int k = 0; k < FLEET_BILL_DIMS; k++)
			put_name(j, fleet_dim_names[fleet_bill_dims[k]], g->key[k]);
		base_json_int(j, "cents", f->bill.line[i].cents);
		base_json_usd(j, "usd", g->sums.m[FLEET_USD], true);
		base_json_wide(j, "runs", g->sums.m[FLEET_RUNS]);
		base_json_wide(j, "held_ns", g->sums.m[FLEET_HELD_NS]);
		base_json_wide(j, "unpriced_ns", g->sums.m[FLEET_UNPRICED_NS]);
		base_json_end(j);
	}
	base_json_end(j);
	base_json_end(j);
}

static void put_spikes(struct base_jsonout *j, const struct fleet *f)
{
	base_json_array(j, "spikes");
	for (size_t i = 0; i < f->spikes; i++) {
		const struct fleet_spike *s = &f->spike[i];

		base_json_flat_object(j, NULL);
		base_json_bool(j, "all", !s->team);
		put_name(j, "team", s->team);
		base_json_string(j, "week", s->week);
		base_json_usd(j, "usd", s->usd, true);
		base_json_usd(j, "median_usd", s->median_usd, true);
		base_json_usd(j, "limit_usd", s->limit_usd, true);
		base_json_uint(j, "history", s->history);
		base_json_end(j);
	}
	base_json_end(j);
}

static void put_budgets(struct base_jsonout *j, const struct fleet *f)
{
	base_json_array(j, "budgets");
	for (size_t i = 0; i < f->budgets; i++) {
		const struct fleet_budget_state *b = &f->budget[i];

		base_json_flat_object(j, NULL);
		base_json_string(j, "budget", b->condition);
		put_name(j, "run", b->run);
		put_name(j, "team", b->team);
		put_name(j, "period", b->period);
		base_json_bool(j, "running", b->running);
		base_json_usd(j, "usd", b->usd, true);
		base_json_usd(j, "limit_usd", b->limit_usd, true);
		base_json_int(j, "level", b->level);
		base_json_bool(j, "told", b->told);
		base_json_end(j);
	}
	base_json_end(j);
}

static void put_rules(struct base_jsonout *j, const struct fleet *f)
{
	base_json_array(j, "rules");
	for (size_t i = 0; i < f->numbers; i++) {
		base_json_flat_object(j, NULL);
		base_json_int(j, "rules", f->rules[i].number);
		base_json_wide(j, "runs", f->rules[i].runs);
		base_json_wide(j, "held_ns", f->rules[i].held_ns);
		base_json_end(j);
	}
	base_json_end(j);
}

static void put_provisional(struct base_jsonout *j, const struct fleet *f)
{
	const struct fleet_group none = { 0 };

	base_json_flat_object(j, "provisional");
	put_pair(j, f->not_analysed ? f->not_analysed : &none);
}

static void put_bound(struct base_jsonout *j, const char *key, int64_t ns, int64_t none)
{
	if (ns == none)
		base_json_null(j, key);
	else
		base_json_int(j, key, ns);
}

void fleet_write_json(const struct fleet *f, const struct fleet *converted, FILE *out)
{
	struct base_jsonout j = { .f = out };

	base_json_object(&j, NULL);
	base_json_string(&j, "schema", FLEET_SCHEMA);
	put_bound(&j, "since_unix_ns", f->options.query.since_ns, 0);
	put_bound(&j, "until_unix_ns", f->options.query.until_ns, INT64_MAX);
	put_name(&j, "only_team", f->options.query.team);
	put_name(&j, "label", f->options.query.label);
	base_json_object(&j, "total");
	put_sums(&j, &f->total);
	base_json_end(&j);
	if (fleet_is_bounded(f)) {
		base_json_object(&j, "begun");
		put_sums(&j, &f->begun);
		base_json_end(&j);
	}
	fleet_currency_json(converted, &j);
	put_provisional(&j, f);
	fleet_whole_json(&f->whole, &j);
	base_json_object(&j, "by");
	for (int d = 0; d < FLEET_DIMS; d++)
		if (d != FLEET_DIM_LABEL || f->options.query.label)
			put_dim(&j, f, d);
	if (fleet_is_cut(f->options.by))
		put_dim(&j, f, f->options.by);
	put_why(&j, f);
	base_json_end(&j);
	if (f->options.by == FLEET_BY_COMPUTE)
		put_used(&j, &f->used);
	if (f->options.by == FLEET_BY_LOST)
		fleet_lost_json(f, &j);
	if (f->options.by == FLEET_BY_UNUSED)
		fleet_vacant_json(f, &j);
	if (f->options.by == FLEET_BY_PLAN)
		fleet_plan_json(&f->plan, &j);
	if (fleet_has_savings(f->options.by))
		fleet_savings_json(f, &j);
	if (f->options.by == FLEET_BY_REVIEW)
		fleet_review_json(f, &j);
	put_bill(&j, f);
	put_runs(&j, "failed", &f->failed, f->options.top);
	if (f->options.by == FLEET_BY_RUN)
		put_runs(&j, "runs", &f->all, f->all.runs);
	put_name(&j, "required", f->options.query.required);
	put_runs(&j, "unlabelled", &f->unlabelled, f->options.top);
	put_spikes(&j, f);
	put_budgets(&j, f);
	put_rates(&j, f);
	put_rules(&j, f);
	base_json_end(&j);
}
