/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Totals of the job as Prometheus text, for node_exporter's textfile collector. One label tells
 * runs apart and one more the class, so that a job adds a few dozen series; nothing per step or
 * kernel. No time stamps: that collector takes none.
 */
#include "export.h"
#include "base/units.h"
#include "facts/class.h"

struct page {
	struct view_out *o;
	const struct view_summary *s;
};

static void declare(struct page *p, const char *name, const char *type, const char *help)
{
	view_out_printf(p->o, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* name{run="...",more} */
static void begin(struct page *p, const char *name, const char *more)
{
	view_out_printf(p->o, "%s{run=", name);
	view_out_label(p->o, p->s->id ? p->s->id : "");
	view_out_printf(p->o, "%s} ", more);
}

/* Billionths, all of their digits: seconds from ns, dollars from nano-dollars. */
static void put_billionths(struct page *p, int64_t v)
{
	uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;

	view_out_printf(p->o, "%s%llu.%09llu\n", v < 0 ? "-" : "",
			(unsigned long long)(u / 1000000000), (unsigned long long)(u % 1000000000));
}

static void put_one(struct page *p, const char *name, const char *type, const char *help, int64_t v)
{
	declare(p, name, type, help);
	begin(p, name, "");
	put_billionths(p, v);
}

static void put_count(struct page *p, const char *name, const char *type, const char *help,
		      uint64_t v)
{
	declare(p, name, type, help);
	begin(p, name, "");
	view_out_printf(p->o, "%llu\n", (unsigned long long)v);
}

static const char *state(int c)
{
	static const char *const names[] = { "busy", "idle", "excluded" }; /* as enum facts_state */

	return names[facts_groups[facts_classes[c].group].state];
}

static void put_classes(struct page *p, const char *name, const char *help, const int64_t *v)
{
	char more[80];
	int c;

	declare(p, name, "counter", help);
	for (c = 0; c < ANA_CLASSES; c++) {
		if (!p->s->result->classes[c])
			continue;
		snprintf(more, sizeof(more), ",state=\"%s\",cause=\"%s\"", state(c),
			 ana_class_names[c]);
		begin(p, name, more);
		put_billionths(p, v[c]);
	}
}

/* A few rows: most kinds come in one or two precisions. */
static void put_compute(struct page *p)
{
	struct view_work rows[ANA_WORKS];
	size_t n = view_work_rows(p->s, rows);
	char more[80];

	if (n)
		declare(p, "gpustarve_compute_seconds_total", "counter",
			"What the class compute consisted of, by the kernels' names.");
	for (size_t i = 0; i < n; i++) {
		snprintf(more, sizeof(more), ",kind=\"%s\",precision=\"%s\"", rows[i].kind,
			 rows[i].precision);
		begin(p, "gpustarve_compute_seconds_total", more);
		put_billionths(p, rows[i].ns);
	}
}

/* NVML's meters, between each GPU's first operation and its last. */
static void put_meters(struct page *p)
{
	const struct ana_units *u = &p->s->result->units;

	if (!u->known_ns)
		return;
	put_one(p, "gpustarve_metered_seconds_total", "counter",
		"GPU time of which NVML told how well the GPU was used.", u->known_ns);
	put_one(p, "gpustarve_metered_busy_seconds_total", "counter",
		"Of it, time in which anything ran.", u->busy_ns);
	put_one(p, "gpustarve_metered_tensor_seconds_total", "counter",
		"Of it, as a share of the tensor cores' time.", u->tensor_ns);
	if (u->dram_ns >= 0)
		put_one(p, "gpustarve_metered_dram_seconds_total", "counter",
			"Of it, as a share of the memory's bandwidth.", u->dram_ns);
}

static void put_info(struct page *p)
{
	const struct ana_result *r = p->s->result;
	char more[200];

	declare(p, "gpustarve_run_info", "gauge", "What the run was found to be; always 1.");
	snprintf(more, sizeof(more),
		 ",verdict=\"%s\",severity=\"%s\",window=\"%s\",simulated=\"%s\",complete=\"%s\"",
		 ana_verdict_names[r->judgement.verdict],
		 r->judgement.severity ? ana_severity_names[r->judgement.severity] : "",
		 p->s->window == ANA_WINDOW_JOB ? "job" : "device", r->simulated ? "true" : "false",
		 r->complete ? "true" : "false");
	begin(p, "gpustarve_run_info", more);
	view_out_text(p->o, "1\n");
}

static void put_money(struct page *p)
{
	const struct view_cost *c = &p->s->cost;

	if (!c->known)
		return;
	put_classes(p, "gpustarve_gpu_usd_total",
		    "Dollars of GPU time by what it was spent on; they sum to the cost of the run.",
		    c->classes);
	put_one(p, "gpustarve_wasted_usd_total", "counter", "Dollars of wasted GPU time.",
		c->wasted);
	put_one(p, "gpustarve_starved_usd_total", "counter",
		"Dollars of GPU time spent waiting for input.", c->starved);
}

static void put_steps(struct page *p)
{
	const struct ana_result *r = p->s->result;

	if (!r->unrecorded.ns || view_steps_in_all(p->s))
		put_count(p, "gpustarve_steps_total", "counter", "Steps of the loop.",
			  view_steps_in_all(p->s));
	if (r->step_median_ns >= 0)
		put_one(p, "gpustarve_step_median_seconds", "gauge", "Median time of a step.",
			r->step_median_ns);
	if (r->step_p95_ns >= 0)
		put_one(p, "gpustarve_step_p95_seconds", "gauge", "95th percentile of step times.",
			r->step_p95_ns);
}

static void put_loader(struct page *p)
{
	const struct ana_result *r = p->s->result;

	put_count(p, "gpustarve_batches_total", "counter", "Batches taken from data loaders.",
		  r->batches);
	put_one(p, "gpustarve_loader_wait_seconds_total", "counter",
		"Time that the threads which take batches waited for one.", r->loader_wait_ns);
	put_one(p, "gpustarve_loader_exposed_seconds_total", "counter",
		"GPU time in gaps inside such waits.", r->loader_exposed_ns);
}

int view_export_prometheus(struct view_export *x)
{
	struct page p = { &x->out, x->summary };
	const struct ana_result *r = x->summary->result;

	put_info(&p);
	put_count(&p, "gpustarve_gpus", "gauge", "GPUs that the run held.", r->gpus);
	put_classes(&p, "gpustarve_gpu_seconds_total",
		    "GPU time by what it was spent on; it sums to all time that GPUs were held.",
		    r->classes);
	put_one(&p, "gpustarve_wasted_seconds_total", "counter", "GPU time that was wasted.",
		x->summary->wasted_ns);
	put_one(&p, "gpustarve_starved_seconds_total", "counter",
		"GPU time spent waiting for input.", x->summary->starved_ns);
	put_compute(&p);
	put_meters(&p);
	put_money(&p);
	put_steps(&p);
	put_loader(&p);
	put_count(&p, "gpustarve_events_dropped_total", "counter",
		  "Events that could not be recorded.", r->quality.dropped);
	x->rows = 1;
	return 0;
}
