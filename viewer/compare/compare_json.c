/* SPDX-License-Identifier: Apache-2.0 */
/* The comparison as JSON, canonical; docs/comparison.schema.json says what each member means. */
#include <string.h>
#include "base/jsonout.h"
#include "findings/words.h"
#include "findings/loader.h"
#include "findings/unused.h"
#include "compare_priv.h"

static void put_or_null(struct base_jsonout *j, const char *key, bool known, int64_t v)
{
	if (known)
		base_json_int(j, key, v);
	else
		base_json_null(j, key);
}

static void put_gpus(struct base_jsonout *j, const struct ana_result *r)
{
	base_json_array(j, "gpus");
	for (size_t i = 0; i < r->gpus; i++)
		base_json_string(j, NULL, r->gpu[i].name);
	base_json_end(j);
}

static void put_run(struct base_jsonout *j, const struct view_compared_run *c)
{
	const struct view_summary *s = c->summary;
	const struct ana_loader_facts *l = view_loader_facts(s);
	const struct ana_judgement *v = &s->result->judgement;
	struct view_unused unused = view_unused_gpus(s);

	base_json_object(j, NULL);
	base_json_string(j, "label", c->label);
	base_json_string(j, "id", s->id);
	base_json_string(j, "path", c->path);
	base_json_string(j, "verdict", ana_verdict_names[v->verdict]);
	base_json_string(j, "severity", ana_severity_names[v->severity]);
	base_json_string(j, "window", s->window == ANA_WINDOW_DEVICE ? "device" : "job");
	base_json_int(j, "start_unix_ns", s->start_unix_ns);
	base_json_bool(j, "complete", s->result->complete);
	if (view_told_bound(s))
		base_json_string(j, "steps_bound", view_outcome_bounds[view_told_bound(s)]);
	put_or_null(j, "exit_status", s->has_exit_status, s->exit_status);
	put_gpus(j, s->result);
	base_json_uint(j, "unused_gpus", unused.no_process + unused.no_work);
	base_json_string(j, "dataset", l ? l->dataset : NULL);
	base_json_end(j);
}

static void put_parts(struct base_jsonout *j, const struct view_pair *p)
{
	base_json_object(j, "not_comparable");
	for (int k = 0; k < VIEW_PARTS; k++)
		if (p->why[k])
			base_json_string(j, view_part_names[k], p->why[k]);
	base_json_end(j);
}

static void put_measures(struct base_jsonout *j, const struct view_pair *p)
{
	base_json_array(j, "measures");
	for (size_t i = 0; i < p->measures; i++) {
		const struct view_measure *m = &p->measure[i];
		if (!m->known[0] && !m->known[1])
			continue;
		base_json_flat_object(j, NULL);
		base_json_string(j, "id", m->id);
		base_json_string(j, "unit", view_figure_names[m->figure]);
		base_json_string(j, "part", view_part_names[m->part]);
		put_or_null(j, "base", m->known[0], m->value[0]);
		put_or_null(j, "run", m->known[1], m->value[1]);
		put_or_null(j, "difference", m->comparable, m->difference);
		put_or_null(j, "change_ppm", m->has_change, m->change_ppm);
		base_json_end(j);
	}
	base_json_end(j);
}

/* @key: base, run, difference of one amount. */
static void put_both(struct base_jsonout *j, const char *unit, const bool known[2],
		     const int64_t v[2], bool comparable)
{
	base_json_flat_object(j, unit);
	put_or_null(j, "base", known[0], v[0]);
	put_or_null(j, "run", known[1], v[1]);
	put_or_null(j, "difference", comparable, v[1] - v[0]);
	base_json_end(j);
}

static void put_classes(struct base_jsonout *j, const struct view_pair *p)
{
	const bool both[2] = { true, true };
	const bool money[2] = { p->priced[0] && p->stepped[0], p->priced[1] && p->stepped[1] };

	base_json_array(j, "classes");
	for (size_t i = 0; i < p->classes; i++) {
		const struct view_class_change *k = &p->class[i];
		base_json_object(j, NULL);
		base_json_string(j, "class", ana_class_names[k->class]);
		put_both(j, "ns", both, k->ns, !p->why[VIEW_PART_GPU_RUN]);
		put_both(j, "ppm", both, k->ppm, !p->why[VIEW_PART_SHARE]);
		put_both(j, "step_ns", p->stepped, k->step_ns, !p->why[VIEW_PART_GPU_STEP]);
		put_both(j, "step_nano_usd", money, k->step_nano_usd, !p->why[VIEW_PART_USD_STEP]);
		base_json_end(j);
	}
	base_json_end(j);
}

static void put_hotspot(struct base_jsonout *j, const char *key, const struct view_finding *f)
{
	if (!f) {
		base_json_null(j, key);
		return;
	}
	base_json_flat_object(j, key);
	base_json_string(j, "class", ana_class_names[f->class]);
	base_json_string(j, "file", f->where.file);
	put_or_null(j, "line", f->where.line > 0, f->where.line);
	base_json_string(j, "function", f->where.function);
	base_json_bool(j, "rest", f->rest);
	base_json_end(j);
}

static void put_findings(struct base_jsonout *j, const struct view_comparison *c,
			 const struct view_pair *p, struct base_arena *mem)
{
	base_json_array(j, "findings");
	for (size_t i = 0; i < p->findings; i++) {
		const struct view_finding_change *f = &p->finding[i];
		const bool known[2] = { f->finding[0] != NULL, f->finding[1] != NULL };
		const bool step[2] = { known[0] && p->stepped[0], known[1] && p->stepped[1] };
		base_json_object(j, NULL);
		base_json_string(j, "status", view_finding_states[f->status]);
		base_json_string(j, "what", compare_finding_words(c, p, f, mem));
		put_hotspot(j, "base", f->finding[0]);
		put_hotspot(j, "run", f->finding[1]);
		put_both(j, "ns", known, f->ns, !p->why[VIEW_PART_GPU_RUN]);
		put_both(j, "ppm", known, f->ppm, !p->why[VIEW_PART_SHARE]);
		put_both(j, "step_ns", step, f->step_ns, !p->why[VIEW_PART_GPU_STEP]);
		base_json_end(j);
	}
	base_json_end(j);
	base_json_uint(j, "findings_left_out", p->findings_left_out);
}

static void put_amounts(struct base_jsonout *j, const char *key, bool ns_known, int64_t ns,
			bool usd_known, int64_t nano_usd)
{
	base_json_flat_object(j, key);
	put_or_null(j, "ns", ns_known, ns);
	put_or_null(j, "nano_usd", usd_known, nano_usd);
	base_json_end(j);
}

static void put_promises(struct base_jsonout *j, const struct view_pair *p)
{
	bool step = !p->why[VIEW_PART_GPU_STEP];

	base_json_array(j, "advice");
	for (size_t i = 0; i < p->promises; i++) {
		const struct view_promise *q = &p->promise[i];
		const struct view_advice *a = q->advice;
		base_json_object(j, NULL);
		base_json_string(j, "id", a->id);
		base_json_string(j, "class", ana_class_names[a->class]);
		base_json_string(j, "brief", a->brief);
		put_amounts(j, "upper_run", true, compare_bounded(a->saving_ns), p->priced[0],
			    compare_bounded(a->saving_nano_usd));
		put_amounts(j, "upper_step", p->stepped[0], q->upper_step_ns,
			    p->stepped[0] && p->priced[0], q->upper_step_nano_usd);
		put_or_null(j, "change_step_ns", step, q->change_step_ns);
		put_amounts(j, "realised_step", step, q->step_ns, !p->why[VIEW_PART_USD_STEP],
			    q->step_nano_usd);
		put_amounts(j, "realised_run", !p->why[VIEW_PART_GPU_RUN], q->run_ns,
			    !p->why[VIEW_PART_USD_RUN], q->run_nano_usd);
		if (p->by_samples) {
			put_amounts(j, "upper_1k_samples", true, q->upper_samples_ns, p->priced[0],
				    q->upper_samples_nano_usd);
			put_amounts(j, "realised_1k_samples", p->samples_gpu, q->samples_ns,
				    p->samples_usd, q->samples_nano_usd);
		}
		base_json_string(j, "limit",
				 step		  ? view_limit_names[q->limit]
				 : p->samples_gpu ? view_limit_names[q->samples_limit]
						  : NULL);
		base_json_end(j);
	}
	base_json_end(j);
}

static void put_saving(struct base_jsonout *j, const struct view_comparison *c,
		       const struct view_pair *p)
{
	const struct view_saving *s = &p->saving;
	bool ns = !p->why[VIEW_PART_GPU_RUN], usd = !p->why[VIEW_PART_USD_RUN];
	bool month = c->runs_per_month >= 0;

	base_json_object(j, "saving");
	put_amounts(j, "per_step", !p->why[VIEW_PART_GPU_STEP], s->step_ns,
		    !p->why[VIEW_PART_USD_STEP], s->step_nano_usd);
	put_amounts(j, "per_run", ns, s->run_ns, usd, s->run_nano_usd);
	put_amounts(j, "per_month", month && ns, s->month_ns, month && usd, s->month_nano_usd);
	base_json_end(j);
}

static void put_pair(struct base_jsonout *j, const struct view_comparison *c,
		     const struct view_pair *p)
{
	struct base_arena mem = { 0 };

	base_json_object(j, NULL);
	base_json_string(j, "base", c->run[0].label);
	base_json_string(j, "run", c->run[p->run].label);
	base_json_string(j, "sentence", p->sentence);
	base_json_string(j, "headline", p->headline ? p->headline->id : NULL);
	put_parts(j, p);
	put_measures(j, p);
	put_classes(j, p);
	put_findings(j, c, p, &mem);
	put_promises(j, p);
	put_saving(j, c, p);
	base_json_array(j, "notes");
	for (size_t i = 0; i < p->notes; i++)
		base_json_string(j, NULL, p->note[i]);
	base_json_end(j);
	base_json_end(j);
	base_arena_fini(&mem);
}

void view_compare_json(const struct view_comparison *c, FILE *f)
{
	struct base_jsonout j = { .f = f };

	base_json_object(&j, NULL);
	base_json_string(&j, "schema", VIEW_COMPARE_SCHEMA);
	put_or_null(&j, "runs_per_month", c->runs_per_month >= 0, c->runs_per_month);
	base_json_array(&j, "runs");
	for (size_t i = 0; i < c->runs; i++)
		put_run(&j, &c->run[i]);
	base_json_end(&j);
	base_json_array(&j, "comparisons");
	for (size_t i = 0; i + 1 < c->runs; i++)
		put_pair(&j, c, &c->pair[i]);
	base_json_end(&j);
	base_json_end(&j);
}
