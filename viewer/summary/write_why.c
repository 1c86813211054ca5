/* SPDX-License-Identifier: Apache-2.0 */
/* summary.json: the causes. One function per member, in the schema's order. */
#include <stdint.h>
#include "findings/findings.h"
#include "findings/loader.h"
#include "priv.h"
#include "findings/words.h"

void summary_put_confidence(struct view_jsonout *j, const int64_t by[ANA_CONFIDENCES])
{
	view_json_flat_object(j, "confidence");
	for (int k = 0; k < ANA_CONFIDENCES; k++)
		if (by[k])
			view_json_int(j, ana_confidence_names[k], by[k]);
	view_json_end(j);
}

/* What is negative is not known. */
static void put_or_null(struct view_jsonout *j, const char *key, int64_t v)
{
	if (v >= 0)
		view_json_int(j, key, v);
	else
		view_json_null(j, key);
}

static void put_known(struct view_jsonout *j, const char *key, const struct ana_loader_facts *l,
		      enum ana_loader_known what, int64_t v)
{
	put_or_null(j, key, l && l->known & what ? v : -1);
}

static void put_flag(struct view_jsonout *j, const char *key, const struct ana_loader_facts *l,
		     enum ana_loader_known what, bool v)
{
	if (l->known & what)
		view_json_bool(j, key, v);
	else
		view_json_null(j, key);
}

/* Iterators with the same settings. */
static void put_settings(struct view_jsonout *j, const struct ana_loader_facts *l)
{
	view_json_object(j, NULL);
	view_json_string(j, "kind", l->kind);
	view_json_string(j, "dataset", l->dataset);
	put_known(j, "workers", l, ANA_LOADER_WORKERS, l->workers);
	put_known(j, "prefetch", l, ANA_LOADER_PREFETCH, l->prefetch);
	put_known(j, "batch_size", l, ANA_LOADER_BATCH, l->batch_size);
	put_flag(j, "pin_memory", l, ANA_LOADER_PIN, l->pin);
	put_flag(j, "persistent_workers", l, ANA_LOADER_PERSISTENT, l->persistent);
	put_flag(j, "in_order", l, ANA_LOADER_IN_ORDER, l->in_order);
	view_json_string(j, "start", l->start);
	view_json_uint(j, "trainers", l->trainers);
	view_json_uint(j, "iterators", l->iterators);
	view_json_int(j, "open_ns", l->open_ns);
	view_json_uint(j, "taken", l->taken);
	view_json_int(j, "take_ns", l->take_ns);
	view_json_uint(j, "made", l->made);
	view_json_uint(j, "made_samples", l->made_samples);
	view_json_int(j, "fetch_ns", l->fetch_ns);
	view_json_int(j, "fetch_cpu_ns", l->fetch_cpu_ns);
	view_json_int(j, "fetch_delay_ns", l->fetch_delay_ns);
	put_or_null(j, "fetch_median_ns", l->fetch_median_ns);
	put_or_null(j, "fetch_p95_ns", l->fetch_p95_ns);
	view_json_uint(j, "rchar_bytes", l->rchar_bytes);
	view_json_uint(j, "read_bytes", l->read_bytes);
	view_json_uint(j, "major_faults", l->major_faults);
	view_json_int(j, "seen_ns", l->seen_ns);
	view_json_end(j);
}

static void put_shares(struct view_jsonout *j, const struct view_loader *v)
{
	view_json_flat_object(j, "worker_shares_pct");
	for (int k = 0; k < VIEW_SHARES; k++)
		if (v->share_ppm[k])
			view_json_percent(j, view_share_names[k], v->share_ppm[k]);
	view_json_end(j);
}

static void put_files(struct view_jsonout *j, const struct view_loader *v)
{
	view_json_array(j, "files");
	for (size_t i = 0; i < v->files; i++) {
		view_json_flat_object(j, NULL);
		view_json_string(j, "path", v->file[i].path);
		view_json_string(j, "filesystem", v->file[i].fs);
		view_json_int(j, "blocked_ns", v->file[i].blocked_ns);
		view_json_end(j);
	}
	view_json_end(j);
}

/* How many workers it takes, with every number that goes in. */
static void put_need(struct view_jsonout *j, const char *key, const struct view_summary *s)
{
	const struct view_loader *v = &s->loader;

	view_json_object(j, key);
	view_json_int(j, "workers_now", v->facts.workers);
	view_json_int(j, "workers_needed", v->need.needed);
	view_json_int(j, "workers_advised", v->need.advised);
	view_json_string(j, "bound", view_need_bounds[v->need.bound]);
	view_json_int(j, "fetch_ns", v->facts.fetch_ns);
	view_json_int(j, "fetch_cpu_ns", v->facts.fetch_cpu_ns);
	view_json_int(j, "step_ns", v->facts.step_ns);
	view_json_int(j, "wait_ns", v->facts.wait_ns);
	put_or_null(j, "fed_median_ns", v->facts.fed_median_ns);
	view_json_int(j, "predicted_step_ns", v->need.predicted_step_ns);
	if (v->busy_ppm >= 0)
		view_json_percent(j, "workers_busy_pct", v->busy_ppm);
	else
		view_json_null(j, "workers_busy_pct");
	view_json_int(j, "cores", v->facts.cores);
	view_json_int(j, "cores_needed", v->need.cores_needed);
	view_json_int(j, "saving_upper_ns", v->saving_ns);
	view_json_usd(j, "saving_upper_usd", v->saving_nano_usd, s->cost.known);
	view_json_end(j);
}

static void put_bytes(struct view_jsonout *j, const struct view_loader *v)
{
	put_or_null(j, "batch_bytes", v->batch_bytes);
	if (v->disk_ppm >= 0)
		view_json_percent(j, "page_cache_miss_pct", v->disk_ppm);
	else
		view_json_null(j, "page_cache_miss_pct");
	put_or_null(j, "read_bytes_per_s", v->read_bytes_per_s);
	put_or_null(j, "needed_bytes_per_s", v->needed_bytes_per_s);
}

void summary_put_loader(struct view_jsonout *j, const struct view_summary *s)
{
	const struct ana_result *r = s->result;
	const struct view_loader *v = &s->loader;

	view_json_object(j, "loader");
	view_json_string(j, "kind", r->loader_kind);
	put_or_null(j, "workers", view_loader_workers(s));
	view_json_uint(j, "batches", r->batches);
	view_json_int(j, "wait_ns", r->loader_wait_ns);
	view_json_int(j, "exposed_ns", r->loader_exposed_ns);
	view_json_int(j, "hidden_ns", r->loader_hidden_ns);
	put_shares(j, v);
	put_or_null(j, "batch_ns_per_worker", v->fetch_ns);
	put_or_null(j, "workers_needed", v->has_need ? v->need.needed : -1);
	put_files(j, v);
	put_bytes(j, v);
	if (v->has_need)
		put_need(j, "need", s);
	else
		view_json_null(j, "need");
	view_json_array(j, "settings");
	for (size_t i = 0; i < r->loaders; i++)
		put_settings(j, &r->loader[i]);
	view_json_end(j);
	view_json_end(j);
}

static void put_where(struct view_jsonout *j, const struct view_place *p, struct view_arena *mem)
{
	view_json_flat_object(j, "where");
	if (p->late) {
		view_json_string(j, "file", p->file);
		put_or_null(j, "line", p->line ? (int64_t)p->line : -1);
		view_json_string(j, "function", p->function);
		view_json_string(j, "role", view_role_names[p->role]);
		view_json_int(j, "rank", p->rank);
	} else if (p->known) {
		view_json_string(j, "file", p->file);
		put_or_null(j, "line", p->line ? (int64_t)p->line : -1);
		view_json_string(j, "function", p->function);
		view_json_string(j, "role", view_role_names[p->role]);
		view_json_null(j, "rank");
		view_json_string(j, "blocked_on", view_words_blocked(mem, p, SIZE_MAX));
		view_json_string(j, "wait", view_wait_names[p->wait]);
		view_json_bool(j, "runnable", p->runnable);
		view_json_string(j, "target", p->target);
		view_json_uint(j, "targets", p->targets);
		view_json_string(j, "fs", p->fs);
		view_json_string(j, "leaf", p->leaf);
		view_json_string(j, "native", p->native);
		view_json_string(j, "symbol", p->symbol);
	}
	view_json_end(j);
}

static void put_finding(struct view_jsonout *j, const struct view_summary *s,
			const struct view_finding *f, struct view_arena *mem)
{
	view_json_object(j, NULL);
	view_json_string(j, "class", ana_class_names[f->class]);
	view_json_int(j, "ns", f->ns);
	view_json_percent(j, "pct", f->ppm);
	view_json_usd(j, "usd", f->nano_usd, s->cost.known);
	put_where(j, &f->where, mem);
	view_json_flat_object(j, "evidence");
	view_json_string(j, "basis", f->basis);
	if (f->where.known) {
		view_json_uint(j, "samples", f->where.samples);
		view_json_uint(j, "threads", f->where.threads);
		view_json_uint(j, "workers", f->where.workers);
	}
	summary_put_confidence(j, f->by_confidence);
	view_json_end(j);
	view_json_string(j, "confidence", ana_confidence_names[f->confidence]);
	if (f->of_starved_ppm >= 0)
		view_json_percent(j, "of_starved_pct", f->of_starved_ppm);
	else
		view_json_null(j, "of_starved_pct");
	view_json_bool(j, "rest", f->rest);
	view_json_end(j);
}

void summary_put_findings(struct view_jsonout *j, const struct view_summary *s)
{
	struct view_arena mem = { 0 };

	view_json_array(j, "findings");
	for (size_t i = 0; i < s->findings; i++)
		put_finding(j, s, &s->finding[i], &mem);
	view_json_end(j);
	view_arena_fini(&mem);
}

static void put_advice(struct view_jsonout *j, const struct view_summary *s,
		       const struct view_advice *a)
{
	view_json_object(j, NULL);
	view_json_string(j, "id", a->id);
	view_json_string(j, "title", a->title);
	view_json_string(j, "why", a->why);
	view_json_string(j, "action", a->action);
	view_json_int(j, "saving_upper_ns", a->saving_ns);
	view_json_usd(j, "saving_upper_usd", a->saving_nano_usd, s->cost.known);
	view_json_string(j, "class", ana_class_names[a->class]);
	view_json_string(j, "brief", a->brief);
	if (a->with_need)
		put_need(j, "numbers", s);
	view_json_end(j);
}

void summary_put_advice(struct view_jsonout *j, const struct view_summary *s)
{
	view_json_array(j, "advice");
	for (size_t i = 0; i < s->advices; i++)
		put_advice(j, s, &s->advice[i]);
	view_json_end(j);
}
