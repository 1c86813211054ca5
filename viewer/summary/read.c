/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary.json back into the model, in the writer's order. What is absent keeps its zero; what
 * cannot be a summary is refused. Hostile input at worst gives a wrong summary.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cost/cost.h"
#include "base/minmax.h"
#include "base/jsondoc.h"
#include "summary.h"
#include "fields.h"
#include "summary_priv.h"
#include "base/units.h"

char *summary_text(struct view_summary *s, const struct base_json *node, const char *key)
{
	return base_arena_text(&s->mem, base_json_get_text(node, key, NULL));
}

char *summary_text_or_empty(struct view_summary *s, const struct base_json *node, const char *key)
{
	return base_arena_text(&s->mem, base_json_get_text(node, key, ""));
}

int64_t summary_within(const struct base_json *node, const char *key, int64_t otherwise,
		       int64_t least, int64_t most)
{
	int64_t v = base_json_get_int(node, key, otherwise);

	return v < least ? least : v > most ? most : v;
}

/* Stamps may be +-2^61. */
int64_t summary_stamp(const struct base_json *node, const char *key)
{
	return summary_within(node, key, 0, -SUMMARY_STAMP_MAX, SUMMARY_STAMP_MAX);
}

int64_t summary_span(const struct base_json *node, const char *key)
{
	return summary_within(node, key, 0, 0, SUMMARY_SPAN_MAX);
}

int64_t summary_total(const struct base_json *node, const char *key)
{
	return summary_within(node, key, 0, 0, SUMMARY_TOTAL_MAX);
}

/*
 * Decimal text with up to @decimals places to an integer of that unit; @otherwise if there is none.
 */
static int64_t decimal(const struct base_json *node, const char *key, int decimals,
		       int64_t otherwise)
{
	const struct base_json *n = base_json_get(node, key);
	int64_t nano;

	if (!n || n->type != BASE_JSON_NUMBER || view_cost_parse(n->text, &nano))
		return otherwise;
	for (int i = decimals; i < 9; i++)
		nano /= 10;
	return nano;
}

uint32_t summary_u32(const struct base_json *node, const char *key)
{
	return (uint32_t)summary_within(node, key, 0, 0, UINT32_MAX);
}

int64_t summary_usd(const struct base_json *node, const char *key, int64_t otherwise)
{
	return decimal(node, key, 9, otherwise);
}

int64_t summary_ppm(const struct base_json *node, const char *key, int64_t otherwise)
{
	return decimal(node, key, 4, otherwise);
}

int summary_by_name(const char *text, const char *const *names, int n, int otherwise)
{
	for (int i = 0; text && i < n; i++)
		if (names[i] && !strcmp(names[i], text))
			return i;
	return otherwise;
}

static void read_judgement(const struct base_json *node, struct ana_judgement *j)
{
	j->verdict = (enum ana_verdict)summary_by_name(base_json_get_text(node, "verdict", NULL),
						       ana_verdict_names, ANA_VERDICTS,
						       ANA_V_INCONCLUSIVE);
	j->severity =
		(enum ana_severity)summary_by_name(base_json_get_text(node, "severity", NULL),
						   ana_severity_names, ANA_SEVERITIES, ANA_S_NONE);
	j->flagged = base_json_get_bool(node, "flagged", false);
}

void summary_read_confidence(const struct base_json *node, int64_t by[ANA_CONFIDENCES])
{
	const struct base_json *c = base_json_get(node, "confidence");

	for (int k = 0; k < ANA_CONFIDENCES; k++)
		by[k] = summary_total(c, ana_confidence_names[k]);
}

void summary_read_classes(const struct base_json *node, int64_t classes[ANA_CLASSES])
{
	BASE_JSON_EACH(n, node) {
		int c = ana_class_by_name(n->key);
		int64_t ns;
		if (c >= 0 && base_json_to_int(n, &ns))
			classes[c] = ns;
	}
}

static void read_copies(struct view_summary *s, const struct base_json *node,
			struct ana_copies copies[ANA_COPY_DIRS])
{
	for (int d = 0; d < ANA_COPY_DIRS; d++)
		summary_read_fields(s, base_json_get(node, ana_copy_names[d]), summary_copies,
				    &copies[d]);
}

static void read_process(struct view_summary *s, const struct base_json *n, struct ana_process *p)
{
	const struct base_json *rank = base_json_get(n, "rank");
	int64_t v;

	p->host = summary_text_or_empty(s, n, "host");
	p->pid = base_json_get_int(n, "pid", 0);
	p->has_rank = base_json_to_int(rank, &v);
	p->rank = p->has_rank ? (int32_t)v : 0;
	p->role = summary_text_or_empty(s, n, "role");
	p->ended = summary_text(s, n, "ended");
	p->start_ns = summary_stamp(n, "start_ns");
	p->end_ns = summary_stamp(n, "end_ns");
}

/* A summary of before has none: unknown. */
static void read_machine(struct view_machine *m, const struct base_json *run)
{
	snprintf(m->provider, sizeof(m->provider), "%s", base_json_get_text(run, "provider", ""));
	snprintf(m->instance_type, sizeof(m->instance_type), "%s",
		 base_json_get_text(run, "instance_type", ""));
}

static void read_kind(struct view_kind *k, const struct base_json *run)
{
	const struct base_json *signs = base_json_get(run, "kind_signs");

	k->kind = (enum facts_run_kind)summary_by_name(base_json_get_text(run, "kind", NULL),
						       facts_run_kinds, FACTS_RUN_KINDS,
						       FACTS_RUN_UNKNOWN);
	BASE_JSON_EACH(n, signs) {
		int s = summary_by_name(n->type == BASE_JSON_STRING ? n->text : NULL,
					facts_run_signs, FACTS_RUN_SIGNS, -1);
		if (s >= 0 && k->signs < FACTS_RUN_SIGNS)
			k->sign[k->signs++] = (enum facts_run_sign)s;
	}
	k->after_last_ns = summary_span(run, "after_last_ns");
	k->no_work_after_ns = summary_span(run, "no_work_after_last_ns");
	summary_read_classes(base_json_get(run, "after_last_classes"), k->after_last);
}

static void read_run(struct view_summary *s, const struct base_json *run)
{
	const struct base_json *command = base_json_get(run, "command");
	const struct base_json *labels = base_json_get(run, "labels");
	const struct base_json *hosts = base_json_get(run, "hosts");
	const struct base_json *processes = base_json_get(run, "processes");
	struct ana_result *r = s->result;
	int64_t status;

	s->id = summary_text_or_empty(s, run, "id");
	s->command = base_arena_array(&s->mem, base_json_count(command), sizeof(*s->command));
	BASE_JSON_EACH(n, command)
		s->command[s->commands++] = n->type == BASE_JSON_STRING ? n->text : "";
	s->start_unix_ns = summary_stamp(run, "start_unix_ns");
	s->wall_ns = summary_span(run, "wall_ns");
	s->has_exit_status = base_json_to_int(base_json_get(run, "exit_status"), &status);
	s->exit_status = s->has_exit_status ? (int)status : 0;
	r->complete = base_json_get_bool(run, "complete", false);
	s->label = base_arena_array(&s->mem, base_json_count(labels), sizeof(*s->label));
	BASE_JSON_EACH(n, labels)
		if (n->type == BASE_JSON_STRING && n->key)
			s->label[s->labels++] = (struct view_label){ n->key, n->text };
	s->host = base_arena_array(&s->mem, base_json_count(hosts), sizeof(*s->host));
	BASE_JSON_EACH(n, hosts)
		s->host[s->hosts++] = n->type == BASE_JSON_STRING ? n->text : "";
	r->process = base_arena_array(&s->mem, base_json_count(processes), sizeof(*r->process));
	BASE_JSON_EACH(n, processes)
		read_process(s, n, &r->process[r->processes++]);
	s->ranks = base_json_get_int(run, "ranks", 0);
	read_kind(&s->kind, run);
	read_machine(&s->machine, run);
	r->simulated = base_json_get_bool(run, "simulated", false);
	r->import_kind = summary_text(s, run, "imported");
	r->imported = r->import_kind != NULL;
	summary_read_job(s, run);
}

static void read_gpu_facts(struct view_summary *s, const struct base_json *n, struct ana_gpu *g)
{
	int64_t utilization = summary_ppm(n, "nvml_utilization_pct", -1);

	summary_read_fields(s, n, summary_gpu_memory, g);
	g->nvml_utilization_pct = utilization < 0 ? -1 : (double)utilization / 10000;
	summary_read_fields(s, n, summary_gpu_rest, g);
	g->loader_outside_ns = summary_span(n, "loader_outside_ns");
}

static void read_minutes(const struct base_json *minutes, int64_t band[ANA_BANDS])
{
	int b = 0;

	BASE_JSON_EACH(n, minutes) {
		int64_t v;
		if (b < ANA_BANDS && base_json_to_int(n, &v) && v >= 0 && v < INT64_C(1) << 32)
			band[b] = v;
		b++;
	}
}

static void read_gpu(struct view_summary *s, const struct base_json *n, struct ana_gpu *g)
{
	summary_read_fields(s, n, summary_gpu_head, g);
	summary_read_classes(base_json_get(n, "classes"), g->classes);
	summary_read_gpu_vacancy(s, base_json_get(n, "no_process"), g);
	summary_read_classes(base_json_get(n, "skew_causes"), g->skew_causes);
	read_judgement(n, &g->judgement);
	read_minutes(base_json_get(n, "minutes"), g->minutes);
	read_gpu_facts(s, n, g);
	read_copies(s, base_json_get(n, "copies"), g->copies);
}

static void read_gpus(struct view_summary *s, const struct base_json *gpus)
{
	struct ana_result *r = s->result;

	r->gpu = base_arena_array(&s->mem, base_json_count(gpus), sizeof(*r->gpu));
	BASE_JSON_EACH(n, gpus)
		read_gpu(s, n, &r->gpu[r->gpus++]);
}

static void read_ledger(struct view_summary *s, const struct base_json *ledger)
{
	struct ana_result *r = s->result;

	r->gpu_ns = summary_total(ledger, "gpu_ns");
	BASE_JSON_EACH(n, base_json_get(ledger, "classes")) {
		int c = ana_class_by_name(n->key ? n->key : "");
		if (c < 0)
			continue;
		r->classes[c] = summary_total(n, "ns");
		summary_read_confidence(n, r->confidence[c]);
	}
	summary_read_classes(base_json_get(ledger, "skew_causes"), r->skew_causes);
	summary_read_vacancy(s, base_json_get(ledger, "no_process"), &r->vacancy);
	summary_read_units(s, base_json_get(ledger, "units"));
	summary_read_estimated(s, base_json_get(ledger, "estimated"));
	r->before_cuda_ns =
		base_min(summary_total(ledger, "before_cuda_ns"), r->classes[ANA_EXCLUDED_STARTUP]);
	s->starved_ns = r->starved_ns = summary_total(ledger, "starved_ns");
	s->wasted_ns = r->wasted_ns = summary_total(ledger, "wasted_ns");
	BASE_JSON_EACH(n, base_json_get(ledger, "waste_set")) {
		int c = n->type == BASE_JSON_STRING ? ana_class_by_name(n->text) : -1;
		if (c >= 0)
			s->waste[c] = true;
	}
}

static void read_steps(struct view_summary *s, const struct base_json *root)
{
	static const char *const source[] = { "none", "range", "optimizer", "period", "batches" };
	const struct base_json *steps = base_json_get(root, "steps");
	struct ana_result *r = s->result;
	struct ana_unrecorded *u = &r->unrecorded;

	summary_read_fields(s, base_json_get(base_json_get(root, "quality"), "unrecorded"),
			    summary_unrecorded, u);
	r->steps = base_json_get_uint(steps, "count", 0);
	if (u->ns) {
		u->counted = (enum ana_counted)summary_by_name(
			base_json_get_text(steps, "counted", NULL), ana_counted_names, ANA_COUNTEDS,
			ANA_COUNTED_RECORDED);
		u->steps_recorded = base_json_get_uint(steps, "recorded", 0);
		u->steps = r->steps;
		r->steps = 0;
	}
	r->step_source = (enum ana_step_source)summary_by_name(
		base_json_get_text(steps, "source", NULL), source, 4, 0);
	r->steps_skipped = base_json_get_uint(steps, "skipped", 0);
	r->step_median_ns = base_json_get_int(steps, "median_ns", -1);
	r->step_p95_ns = base_json_get_int(steps, "p95_ns", -1);
}

#define COPY_TEXT(to, node, key) \
	snprintf(to, sizeof(to), "%.*s", (int)sizeof(to) - 1, base_json_get_text(node, key, ""))

static void read_rate(const struct base_json *n, struct view_rate *r)
{
	const char *fraction = base_json_get_text(n, "fraction", "1/1");

	COPY_TEXT(r->gpu, n, "gpu");
	COPY_TEXT(r->price_model, n, "price_model");
	COPY_TEXT(r->source, n, "source");
	COPY_TEXT(r->date, n, "date");
	COPY_TEXT(r->label, n, "label");
	r->nano_usd_per_hour = summary_usd(n, "usd_per_gpu_hour", -1);
	r->list_nano_usd_per_hour = summary_usd(n, "list_usd_per_gpu_hour", r->nano_usd_per_hour);
	r->known = r->nano_usd_per_hour >= 0;
	if (!r->known)
		r->nano_usd_per_hour = r->list_nano_usd_per_hour = 0;
	if (sscanf(fraction, "%u/%u", &r->fraction_num, &r->fraction_den) != 2)
		r->fraction_num = r->fraction_den = 1;
	r->assumed = base_json_get_bool(n, "assumed", false);
	r->guide = base_json_get_bool(n, "guide", false);
}

static int read_cost(struct view_summary *s, const struct base_json *cost)
{
	struct view_rate *rate = calloc(s->result->gpus ? s->result->gpus : 1, sizeof(*rate));

	if (!rate)
		return -ENOMEM;
	for (size_t g = 0; g < s->result->gpus; g++)
		rate[g].fraction_num = rate[g].fraction_den = 1;
	BASE_JSON_EACH(n, base_json_get(cost, "rates")) {
		BASE_JSON_EACH(g, base_json_get(n, "gpus")) {
			int64_t i;
			if (base_json_to_int(g, &i) && i >= 0 && (size_t)i < s->result->gpus)
				read_rate(n, &rate[i]);
		}
	}
	int err = view_cost_compute(&s->cost, s->result, rate, s->waste);
	s->step_nano_usd = summary_usd(cost, "usd_per_step", -1);
	s->useful_nano_usd = summary_usd(cost, "usd_per_useful_gpu_hour", -1);
	if (!err)
		summary_read_outcomes(s, base_json_get(cost, "outcomes"));
	return err;
}

static void read_evidence(struct view_summary *s, const struct base_json *evidence)
{
	struct ana_result *r = s->result;

	summary_read_fields(s, evidence, summary_evidence, &r->quality);
	r->other_hotspots_ns = summary_total(evidence, "other_sites_ns");
	r->cpus = summary_u32(evidence, "cpus");
}

static void read_quality(struct view_summary *s, const struct base_json *quality)
{
	const struct base_json *overhead = base_json_get(quality, "overhead");
	const struct base_json *notes = base_json_get(quality, "notes");
	struct ana_quality *q = &s->result->quality;

	summary_read_fields(s, quality, summary_quality_head, q);
	q->own_cpu_ns = base_json_get_uint(overhead, "own_cpu_ns", 0);
	q->trace_bytes = base_json_get_uint(overhead, "trace_bytes", 0);
	q->memory_peak_bytes = base_json_get_uint(overhead, "memory_peak_bytes", 0);
	s->note = base_arena_array(&s->mem, base_json_count(notes), sizeof(*s->note));
	BASE_JSON_EACH(n, notes)
		s->note[s->notes++] = n->type == BASE_JSON_STRING ? n->text : "";
	summary_read_fields(s, quality, summary_quality_rest, q);
	q->graphs_lost = base_json_get_uint(quality, "graphs_lost", 0);
	s->sampler_ppm = summary_ppm(quality, "sampler_utilization_pct", 0);
	read_evidence(s, base_json_get(quality, "evidence"));
	summary_read_fields(s, base_json_get(quality, "metered"), summary_metered, &q->metered);
	summary_read_fields(s, base_json_get(quality, "recording"), summary_recording,
			    &q->recording);
}

static void read_gaps(struct view_summary *s, const struct base_json *gaps)
{
	struct ana_result *r = s->result;

	r->top_gap = base_arena_array(&s->mem, base_json_count(gaps), sizeof(*r->top_gap));
	BASE_JSON_EACH(n, gaps) {
		int c = ana_class_by_name(base_json_get_text(n, "class", ""));
		struct ana_gap *g = &r->top_gap[r->top_gaps++];

		summary_read_fields(s, n, summary_gap, g);
		g->major = (enum ana_class)(c < 0 ? ANA_DEVICE_UNKNOWN : c);
		summary_read_fields(s, n, summary_gap_rest, g);
	}
}

static int64_t between(int64_t v, int64_t least, int64_t most)
{
	return v < least ? least : v > most ? most : v;
}

/* start, end, then the ns of each class in @columns; as far as sums of them can be had. */
static void read_bucket(const struct base_json *row, const int *columns, int n,
			struct ana_bucket *b)
{
	int i = 0;

	BASE_JSON_EACH(cell, row) {
		int64_t v = 0;
		base_json_to_int(cell, &v);
		if (i < 2)
			*(i ? &b->end_ns : &b->start_ns) =
				between(v, -(INT64_C(1) << 61), INT64_C(1) << 61);
		else if (i - 2 < n && columns[i - 2] >= 0)
			b->classes[columns[i - 2]] = between(v, 0, INT64_C(1) << 54);
		i++;
	}
}

static void read_timeline(struct view_summary *s, const struct base_json *node,
			  struct ana_timeline *t)
{
	const struct base_json *buckets = base_json_get(node, "buckets");
	int columns[ANA_CLASSES], n = 0;

	BASE_JSON_EACH(c, base_json_get(node, "classes"))
		if (n < ANA_CLASSES)
			columns[n++] =
				c->type == BASE_JSON_STRING ? ana_class_by_name(c->text) : -1;
	t->bucket = base_arena_array(&s->mem, base_json_count(buckets), sizeof(*t->bucket));
	BASE_JSON_EACH(row, buckets)
		read_bucket(row, columns, n, &t->bucket[t->count++]);
}

static void read_timelines(struct view_summary *s, const struct base_json *node)
{
	struct ana_result *r = s->result;
	size_t g = 0;

	r->timeline = base_arena_array(&s->mem, r->gpus, sizeof(*r->timeline));
	BASE_JSON_EACH(n, node)
		if (g < r->gpus)
			read_timeline(s, n, &r->timeline[g++]);
}

static int read_all(struct view_summary *s, const struct base_json *root)
{
	struct ana_result *r = s->result;
	int err;

	s->window = !strcmp(base_json_get_text(root, "window", "job"), "device") ? ANA_WINDOW_DEVICE
										 : ANA_WINDOW_JOB;
	s->rules = (uint32_t)summary_within(root, "rules", 1, 1, UINT32_MAX);
	read_judgement(root, &r->judgement);
	r->level = summary_text(s, root, "level");
	read_run(s, base_json_get(root, "run"));
	read_gpus(s, base_json_get(root, "gpus"));
	read_ledger(s, base_json_get(root, "ledger"));
	read_steps(s, root);
	summary_read_picture(s, base_json_get(root, "step_picture"));
	summary_read_loader(s, base_json_get(root, "loader"));
	read_copies(s, base_json_get(root, "copies"), r->copies);
	err = read_cost(s, base_json_get(root, "cost"));
	summary_read_work(s, base_json_get(base_json_get(root, "ledger"), "compute"));
	summary_read_findings(s, base_json_get(root, "findings"));
	summary_read_advice(s, base_json_get(root, "advice"));
	summary_read_ranks(s, base_json_get(root, "ranks"));
	summary_read_saves(s, base_json_get(root, "saves"));
	summary_read_alerts(s, base_json_get(root, "alerts"));
	read_quality(s, base_json_get(root, "quality"));
	read_gaps(s, base_json_get(root, "longest_gaps"));
	read_timelines(s, base_json_get(root, "timeline"));
	return err;
}

void view_waste_of(const struct view_summary *s, bool waste[ANA_CLASSES])
{
	memcpy(waste, s->waste, sizeof(s->waste));
	if (s->rules < 2)
		waste[ANA_HOST_CPU_WORK] = waste[ANA_HOST_DISPATCH];
}

int view_summary_read(struct view_summary **out, const char *path, const char **why)
{
	struct view_summary *s = calloc(1, sizeof(*s));
	struct base_json *root = NULL;
	struct base_json_error error;
	int err;

	*why = "out of memory";
	if (!s)
		return -ENOMEM;
	s->result_in_mem = true;
	s->result = base_arena_alloc(&s->mem, sizeof(*s->result));
	err = base_json_read(&s->mem, path, &root, &error);
	*why = err == -EBADMSG ? error.why : err ? strerror(-err) : "it is not a summary";
	if (!err && strcmp(base_json_get_text(root, "schema", ""), VIEW_SUMMARY_SCHEMA) != 0)
		err = -EBADMSG;
	if (!err)
		err = read_all(s, root);
	if (err) {
		view_summary_free(s);
		return err;
	}
	*out = s;
	return 0;
}
