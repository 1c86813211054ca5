/* SPDX-License-Identifier: Apache-2.0 */
/* summary.json: one function per member, in the schema's order. */
#include <stdlib.h>
#include <string.h>
#include "base/jsonout.h"
#include "findings/unused.h"
#include "summary.h"
#include "fields.h"
#include "summary_priv.h"
#include "base/units.h"
#include "wire/crc32c.h"

void summary_put_classes(struct base_jsonout *j, const char *key, const int64_t *classes)
{
	base_json_object(j, key);
	for (int c = 0; c < ANA_CLASSES; c++)
		if (classes[c])
			base_json_int(j, ana_class_names[c], classes[c]);
	base_json_end(j);
}

static void put_judgement(struct base_jsonout *j, const struct ana_judgement *v)
{
	base_json_string(j, "verdict", ana_verdict_names[v->verdict]);
	base_json_string(j, "severity", ana_severity_names[v->severity]);
	base_json_bool(j, "flagged", v->flagged);
}

static void put_process(struct base_jsonout *j, const struct ana_process *p)
{
	base_json_flat_object(j, NULL);
	base_json_string(j, "host", p->host ? p->host : "");
	base_json_int(j, "pid", p->pid);
	if (p->has_rank)
		base_json_int(j, "rank", p->rank);
	else
		base_json_null(j, "rank");
	base_json_string(j, "role", p->role ? p->role : "other");
	if (p->ended)
		base_json_string(j, "ended", p->ended);
	base_json_int(j, "start_ns", p->start_ns);
	base_json_int(j, "end_ns", p->end_ns);
	base_json_end(j);
}

static void put_known(struct base_jsonout *j, const char *key, const char *text)
{
	base_json_string(j, key, text[0] ? text : NULL);
}

static void put_kind(struct base_jsonout *j, const struct view_kind *k)
{
	base_json_string(j, "kind", facts_run_kinds[k->kind]);
	base_json_flat_array(j, "kind_signs");
	for (size_t i = 0; i < k->signs; i++)
		base_json_string(j, NULL, facts_run_signs[k->sign[i]]);
	base_json_end(j);
	if (k->after_last_ns) {
		base_json_int(j, "after_last_ns", k->after_last_ns);
		summary_put_classes(j, "after_last_classes", k->after_last);
	}
	if (k->no_work_after_ns)
		base_json_int(j, "no_work_after_last_ns", k->no_work_after_ns);
}

static void put_run(struct base_jsonout *j, const struct view_summary *s)
{
	const struct ana_result *r = s->result;

	base_json_object(j, "run");
	base_json_string(j, "id", s->id);
	base_json_flat_array(j, "command");
	for (size_t i = 0; i < s->commands; i++)
		base_json_string(j, NULL, s->command[i]);
	base_json_end(j);
	base_json_int(j, "start_unix_ns", s->start_unix_ns);
	base_json_int(j, "wall_ns", s->wall_ns);
	if (s->has_exit_status)
		base_json_int(j, "exit_status", s->exit_status);
	else
		base_json_null(j, "exit_status");
	base_json_bool(j, "complete", r->complete);
	base_json_object(j, "labels");
	for (size_t i = 0; i < s->labels; i++)
		base_json_string(j, s->label[i].key, s->label[i].value);
	base_json_end(j);
	base_json_flat_array(j, "hosts");
	for (size_t i = 0; i < s->hosts; i++)
		base_json_string(j, NULL, s->host[i]);
	base_json_end(j);
	base_json_array(j, "processes");
	for (size_t i = 0; i < r->processes; i++)
		put_process(j, &r->process[i]);
	base_json_end(j);
	base_json_int(j, "ranks", s->ranks);
	put_kind(j, &s->kind);
	put_known(j, "provider", s->machine.provider);
	put_known(j, "instance_type", s->machine.instance_type);
	base_json_bool(j, "simulated", r->simulated);
	base_json_string(j, "imported", r->imported ? r->import_kind : NULL);
	summary_put_job(j, s);
	base_json_end(j);
}

static void put_copies(struct base_jsonout *j, const char *key, const struct ana_copies *copies)
{
	base_json_object(j, key);
	for (int d = 0; d < ANA_COPY_DIRS; d++) {
		const struct ana_copies *c = &copies[d];
		if (!c->count)
			continue;
		base_json_flat_object(j, ana_copy_names[d]);
		summary_put_fields(j, summary_copies, c);
		base_json_end(j);
	}
	base_json_end(j);
}

static void put_ns_or_null(struct base_jsonout *j, const char *key, int64_t ns)
{
	if (ns >= 0)
		base_json_int(j, key, ns);
	else
		base_json_null(j, key);
}

static void put_gpu_facts(struct base_jsonout *j, const struct ana_gpu *g)
{
	summary_put_fields(j, summary_gpu_memory, g);
	if (g->nvml_utilization_pct < 0)
		base_json_null(j, "nvml_utilization_pct");
	else
		base_json_percent(j, "nvml_utilization_pct",
				  (int64_t)(g->nvml_utilization_pct * 10000 + 0.5));
	summary_put_fields(j, summary_gpu_rest, g);
}

static int64_t wasted_usd(const struct view_summary *s, size_t g)
{
	return view_set_sum(s->waste, s->cost.gpu_class[g], s->cost.gpu_skew[g]);
}

static void put_gpu(struct base_jsonout *j, const struct view_summary *s, size_t i)
{
	const struct ana_gpu *g = &s->result->gpu[i];

	base_json_object(j, NULL);
	summary_put_fields(j, summary_gpu_head, g);
	summary_put_classes(j, "classes", g->classes);
	summary_put_gpu_vacancy(j, g);
	if (g->classes[ANA_COMM_SKEW])
		summary_put_classes(j, "skew_causes", g->skew_causes);
	put_judgement(j, &g->judgement);
	base_json_int(j, "starved_ns", view_gpu_starved_ns(g));
	base_json_int(j, "loader_outside_ns", g->loader_outside_ns);
	base_json_usd(j, "usd", view_gpu_nano_usd(s, i), s->cost.known);
	base_json_usd(j, "wasted_usd", wasted_usd(s, i), s->cost.known);
	put_gpu_facts(j, g);
	put_copies(j, "copies", g->copies);
	base_json_flat_array(j, "minutes");
	for (int b = 0; b < ANA_BANDS; b++)
		base_json_int(j, NULL, g->minutes[b]);
	base_json_end(j);
	base_json_end(j);
}

static void put_gpus(struct base_jsonout *j, const struct view_summary *s)
{
	base_json_array(j, "gpus");
	for (size_t i = 0; i < s->result->gpus; i++)
		put_gpu(j, s, i);
	base_json_end(j);
}

/* GPUs that did nothing at all; part of what the classes say. */
static void put_unused(struct base_jsonout *j, const struct view_summary *s)
{
	struct view_unused u = view_unused_gpus(s);

	base_json_flat_object(j, "unused");
	base_json_uint(j, "gpus", u.no_process + u.no_work);
	base_json_uint(j, "no_process_gpus", u.no_process);
	base_json_uint(j, "no_work_gpus", u.no_work);
	base_json_int(j, "ns", u.ns);
	base_json_usd(j, "usd", u.nano_usd, s->cost.known);
	base_json_end(j);
}

static void put_ledger(struct base_jsonout *j, const struct view_summary *s)
{
	const struct ana_result *r = s->result;

	base_json_object(j, "ledger");
	base_json_int(j, "gpu_ns", r->gpu_ns);
	base_json_object(j, "classes");
	for (int c = 0; c < ANA_CLASSES; c++) {
		if (!r->classes[c])
			continue;
		base_json_flat_object(j, ana_class_names[c]);
		base_json_int(j, "ns", r->classes[c]);
		base_json_percent(j, "pct", base_ppm(r->classes[c], r->gpu_ns));
		base_json_usd(j, "usd", s->cost.classes[c], s->cost.known);
		summary_put_confidence(j, r->confidence[c]);
		base_json_end(j);
	}
	base_json_end(j);
	summary_put_work(j, s);
	summary_put_units(j, r);
	summary_put_estimated(j, &r->estimated);
	base_json_int(j, "starved_ns", s->starved_ns);
	base_json_percent(j, "starved_pct", base_ppm(s->starved_ns, r->gpu_ns));
	base_json_int(j, "wasted_ns", s->wasted_ns);
	base_json_percent(j, "wasted_pct", base_ppm(s->wasted_ns, r->gpu_ns));
	base_json_int(j, "busy_ns", view_busy_ns(s));
	base_json_int(j, "working_ns", view_working_ns(s));
	base_json_percent(j, "starved_of_working_pct", base_ppm(s->starved_ns, view_working_ns(s)));
	if (r->before_cuda_ns)
		base_json_int(j, "before_cuda_ns", r->before_cuda_ns);
	put_unused(j, s);
	summary_put_vacancy(j, s);
	base_json_flat_array(j, "waste_set");
	for (int c = 0; c < ANA_CLASSES; c++)
		if (s->waste[c])
			base_json_string(j, NULL, ana_class_names[c]);
	base_json_end(j);
	if (r->ranks.rows)
		summary_put_classes(j, "skew_causes", r->skew_causes);
	base_json_end(j);
}

static void put_steps(struct base_jsonout *j, const struct view_summary *s)
{
	static const char *const source[] = { "none", "range", "optimizer", "period", "batches" };
	const struct ana_result *r = s->result;
	const struct ana_unrecorded *u = &r->unrecorded;
	enum view_outcome_bound bound = view_told_bound(s);

	base_json_object(j, "steps");
	base_json_uint(j, "count", u->ns ? u->steps : r->steps);
	if (bound)
		base_json_string(j, "bound", view_outcome_bounds[bound]);
	if (u->ns) {
		base_json_string(j, "counted", ana_counted_names[u->counted]);
		base_json_uint(j, "recorded", u->steps_recorded);
	}
	base_json_string(j, "source", source[r->step_source]);
	base_json_uint(j, "skipped", r->steps_skipped);
	put_ns_or_null(j, "median_ns", r->step_median_ns);
	put_ns_or_null(j, "p95_ns", r->step_p95_ns);
	base_json_null(j, "accelerator_utilization_pct");
	base_json_end(j);
}

static bool rate_seen(const struct view_cost *c, size_t upto)
{
	for (size_t i = 0; i < upto; i++)
		if (view_rate_same(&c->rate[i], &c->rate[upto]))
			return true;
	return false;
}

static void put_rate(struct base_jsonout *j, const struct view_cost *c, size_t i)
{
	const struct view_rate *r = &c->rate[i];
	char fraction[32];

	snprintf(fraction, sizeof(fraction), "%u/%u", r->fraction_num, r->fraction_den);
	base_json_object(j, NULL);
	base_json_string(j, "gpu", r->gpu);
	base_json_usd(j, "usd_per_gpu_hour", r->nano_usd_per_hour, r->known);
	base_json_string(j, "price_model", r->price_model);
	base_json_string(j, "source", r->source);
	base_json_string(j, "date", r->date);
	base_json_string(j, "label", r->label);
	base_json_usd(j, "list_usd_per_gpu_hour", r->list_nano_usd_per_hour, r->known);
	base_json_string(j, "fraction", fraction);
	base_json_bool(j, "assumed", r->assumed);
	base_json_bool(j, "guide", r->guide);
	base_json_flat_array(j, "gpus");
	for (size_t k = i; k < c->gpus; k++)
		if (view_rate_same(r, &c->rate[k]))
			base_json_uint(j, NULL, k);
	base_json_end(j);
	base_json_end(j);
}

static void put_cost(struct base_jsonout *j, const struct view_summary *s)
{
	const struct view_cost *c = &s->cost;
	base_unit hours;

	base_json_object(j, "cost");
	base_json_usd(j, "usd", c->total, c->known);
	base_json_usd(j, "wasted_usd", c->wasted, c->known);
	base_json_usd(j, "starved_usd", c->starved, c->known);
	base_json_number(j, "gpu_hours", base_hours_exact(hours, s->result->gpu_ns));
	base_json_usd(j, "usd_per_step", s->step_nano_usd, s->step_nano_usd >= 0);
	base_json_array(j, "rates");
	for (size_t i = 0; i < c->gpus; i++)
		if (!rate_seen(c, i))
			put_rate(j, c, i);
	base_json_end(j);
	base_json_usd(j, "usd_per_useful_gpu_hour", s->useful_nano_usd, s->useful_nano_usd >= 0);
	base_json_usd(j, "idle_allocation_usd", c->classes[ANA_EXCLUDED_NO_PROCESS], c->known);
	summary_put_outcomes(j, s);
	base_json_end(j);
}

static void put_overhead(struct base_jsonout *j, const struct view_summary *s)
{
	const struct ana_quality *q = &s->result->quality;

	base_json_flat_object(j, "overhead");
	base_json_uint(j, "own_cpu_ns", q->own_cpu_ns);
	base_json_percent(j, "own_cpu_pct", base_ppm((int64_t)q->own_cpu_ns, s->wall_ns));
	base_json_uint(j, "trace_bytes", q->trace_bytes);
	base_json_uint(j, "memory_peak_bytes", q->memory_peak_bytes);
	base_json_end(j);
}

/* How well the causes are founded. */
static void put_evidence(struct base_jsonout *j, const struct ana_result *r)
{
	const struct ana_quality *q = &r->quality;

	base_json_flat_object(j, "evidence");
	summary_put_fields(j, summary_evidence, q);
	base_json_int(j, "other_sites_ns", r->other_hotspots_ns);
	if (r->cpus)
		base_json_uint(j, "cpus", r->cpus);
	else
		base_json_null(j, "cpus");
	base_json_end(j);
}

/* Not there unless it tells something: summaries of runs that were recorded whole have none. */
static void put_metered(struct base_jsonout *j, const struct ana_metered *m)
{
	if (!m->known_ns)
		return;
	base_json_flat_object(j, "metered");
	summary_put_fields(j, summary_metered, m);
	base_json_end(j);
}

/* The same. */
static void put_recording(struct base_jsonout *j, const struct ana_recording *r)
{
	if (!r->time_ns)
		return;
	base_json_flat_object(j, "recording");
	summary_put_fields(j, summary_recording, r);
	base_json_end(j);
}

/* The same. */
static void put_unrecorded(struct base_jsonout *j, const struct ana_unrecorded *u)
{
	if (!u->ns)
		return;
	base_json_flat_object(j, "unrecorded");
	summary_put_fields(j, summary_unrecorded, u);
	base_json_end(j);
}

static void put_quality(struct base_jsonout *j, const struct view_summary *s)
{
	const struct ana_quality *q = &s->result->quality;

	base_json_object(j, "quality");
	summary_put_fields(j, summary_quality_head, q);
	base_json_string(j, "level", s->result->level);
	put_overhead(j, s);
	base_json_array(j, "notes");
	for (size_t i = 0; i < s->notes; i++)
		base_json_string(j, NULL, s->note[i]);
	base_json_end(j);
	summary_put_fields(j, summary_quality_rest, q);
	if (q->graphs_lost)
		base_json_uint(j, "graphs_lost", q->graphs_lost);
	base_json_percent(j, "sampler_utilization_pct", s->sampler_ppm);
	put_evidence(j, s->result);
	put_metered(j, &q->metered);
	put_recording(j, &q->recording);
	put_unrecorded(j, &s->result->unrecorded);
	base_json_end(j);
}

static void put_gaps(struct base_jsonout *j, const struct ana_result *r)
{
	base_json_array(j, "longest_gaps");
	for (size_t i = 0; i < r->top_gaps; i++) {
		const struct ana_gap *g = &r->top_gap[i];
		base_json_flat_object(j, NULL);
		summary_put_fields(j, summary_gap, g);
		base_json_string(j, "class", ana_class_names[g->major]);
		summary_put_fields(j, summary_gap_rest, g);
		base_json_end(j);
	}
	base_json_end(j);
}

static void put_timeline(struct base_jsonout *j, const struct ana_timeline *t)
{
	bool used[ANA_CLASSES] = { false };

	for (size_t b = 0; b < t->count; b++)
		for (int c = 0; c < ANA_CLASSES; c++)
			used[c] |= t->bucket[b].classes[c] != 0;
	base_json_object(j, NULL);
	base_json_flat_array(j, "classes");
	for (int c = 0; c < ANA_CLASSES; c++)
		if (used[c])
			base_json_string(j, NULL, ana_class_names[c]);
	base_json_end(j);
	base_json_array(j, "buckets"); /* start, end, then ns per class named above */
	for (size_t b = 0; b < t->count; b++) {
		base_json_flat_array(j, NULL);
		base_json_int(j, NULL, t->bucket[b].start_ns);
		base_json_int(j, NULL, t->bucket[b].end_ns);
		for (int c = 0; c < ANA_CLASSES; c++)
			if (used[c])
				base_json_int(j, NULL, t->bucket[b].classes[c]);
		base_json_end(j);
	}
	base_json_end(j);
	base_json_end(j);
}

static void put_body(struct base_jsonout *j, const struct view_summary *s)
{
	const struct ana_result *r = s->result;

	base_json_string(j, "schema", VIEW_SUMMARY_SCHEMA);
	base_json_uint(j, "rules", s->rules);
	put_judgement(j, &r->judgement);
	base_json_string(j, "window", s->window == ANA_WINDOW_JOB ? "job" : "device");
	base_json_string(j, "level", r->level);
	put_run(j, s);
	put_gpus(j, s);
	put_ledger(j, s);
	put_steps(j, s);
	summary_put_picture(j, s);
	summary_put_loader(j, s);
	put_copies(j, "copies", r->copies);
	put_cost(j, s);
	summary_put_findings(j, s);
	summary_put_causes(j, s);
	summary_put_advice(j, s);
	summary_put_ranks(j, s);
	summary_put_saves(j, s);
	summary_put_alerts(j, s);
	put_quality(j, s);
	put_gaps(j, r);
	base_json_array(j, "timeline");
	for (size_t g = 0; r->timeline && g < r->gpus; g++)
		put_timeline(j, &r->timeline[g]);
	base_json_end(j);
}

void view_summary_write(const struct view_summary *s, FILE *f)
{
	char *text = NULL, digest[32];
	size_t len = 0;
	FILE *mem = open_memstream(&text, &len);
	struct base_jsonout j = { .f = mem };

	if (!mem)
		return;
	base_json_object(&j, NULL);
	put_body(&j, s);
	fflush(mem);
	snprintf(digest, sizeof(digest), "crc32c:%08x", wire_crc32c(0, text, len));
	base_json_string(&j, "digest", digest);
	base_json_end(&j);
	if (!fclose(mem))
		fwrite(text, 1, len, f);
	free(text);
}
