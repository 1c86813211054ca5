/* SPDX-License-Identifier: Apache-2.0 */
#include "check_out.h"

#include "base/jsonout.h"

static void put_number(struct base_jsonout *j, const char *key, double v)
{
	char digits[32];

	snprintf(digits, sizeof(digits), "%.6f", v);
	base_json_number(j, key, digits);
}

static void put_interval(struct base_jsonout *j, const char *key, const struct check_interval *i)
{
	base_json_flat_object(j, key);
	put_number(j, "value", i->value);
	put_number(j, "low", i->low);
	put_number(j, "high", i->high);
	base_json_end(j);
}

static void put_change(struct base_jsonout *j, const struct check_result *r)
{
	const struct check_change *c = &r->change;

	base_json_object(j, "change");
	base_json_string(j, "per", r->old_samples_per_step > 0 ? "1k_samples" : "step");
	if (r->old_samples_per_step > 0) {
		put_number(j, "old_samples_per_step", r->old_samples_per_step);
		put_number(j, "new_samples_per_step", r->new_samples_per_step);
		put_number(j, "old_1k_samples_ms", c->old_ms);
		put_number(j, "new_1k_samples_ms", c->new_ms);
		put_number(j, "old_step_ms", c->old_ms * r->old_samples_per_step / 1000);
		put_number(j, "new_step_ms", c->new_ms * r->new_samples_per_step / 1000);
	} else {
		put_number(j, "old_step_ms", c->old_ms);
		put_number(j, "new_step_ms", c->new_ms);
	}
	put_interval(j, "whole", &c->whole);
	put_interval(j, "typical", &c->typical);
	put_interval(j, "loader_wait", &c->exposed);
	base_json_uint(j, "old_steps", c->old_steps);
	base_json_uint(j, "new_steps", c->new_steps);
	base_json_uint(j, "old_runs", r->old_runs);
	base_json_uint(j, "new_runs", r->new_runs);
	put_number(j, "run_spread", c->spread);
	put_number(j, "alpha", r->alpha);
	put_number(j, "min_effect", r->min_effect);
	base_json_end(j);
}

static void put_prediction(struct base_jsonout *j, const struct check_prediction *p)
{
	base_json_object(j, "prediction");
	base_json_int(j, "ranks_now", p->ranks_now);
	base_json_int(j, "ranks", p->ranks);
	base_json_int(j, "step_now_ns", p->step_now_ns);
	base_json_int(j, "step_ns", p->step_ns);
	base_json_int(j, "fed_ns", p->fed_ns);
	base_json_int(j, "loader_ns", p->loader_ns);
	base_json_int(j, "waits_for_cores_ns", p->cores_ns);
	base_json_percent(j, "starved_pct", p->starved_ppm);
	base_json_percent(j, "gain_at_most_pct", p->gain_most_ppm);
	base_json_usd(j, "usd_per_1k_steps", p->nano_usd_per_1k_steps,
		      p->nano_usd_per_1k_steps >= 0);
	base_json_end(j);
}

static void put_judgement(struct base_jsonout *j, const struct check_result *r,
			  const struct check_judgement *g)
{
	base_json_object(j, NULL);
	base_json_string(j, "status", check_status_names[g->status]);
	base_json_string(j, "name", g->name);
	base_json_string(j, "run", g->run);
	base_json_string(j, "message", g->message);
	if (g->value)
		base_json_number(j, "value", g->value);
	if (g->bound)
		base_json_string(j, "bound", view_outcome_bounds[g->bound]);
	if (g->limit)
		base_json_number(j, "limit", g->limit);
	base_json_string(j, "file", check_out_path(r, g->file));
	base_json_uint(j, "line", g->line);
	base_json_string(j, "function", g->function);
	base_json_end(j);
}

void check_out_json(const struct check_result *r, FILE *f)
{
	struct base_jsonout j = { .f = f };

	base_json_object(&j, NULL);
	base_json_string(&j, "schema", "gpustarve.check/1");
	base_json_string(&j, "status", check_status_names[r->worst]);
	base_json_uint(&j, "judgements_failed", r->failed);
	base_json_uint(&j, "judgements_warned", r->warned);
	base_json_array(&j, "judgements");
	for (const struct check_judgement *g = r->first; g; g = g->next)
		put_judgement(&j, r, g);
	base_json_end(&j);
	if (r->has_change)
		put_change(&j, r);
	if (r->has_replay) {
		base_json_object(&j, "replay");
		base_json_percent(&j, "starved_pct", r->replay_starved_ppm);
		base_json_percent(&j, "accelerator_utilization_pct", r->replay_utilization_ppm);
		base_json_end(&j);
	}
	if (r->has_prediction)
		put_prediction(&j, &r->prediction);
	base_json_end(&j);
}
