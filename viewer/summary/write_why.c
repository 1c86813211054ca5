/* SPDX-License-Identifier: Apache-2.0 */
/* summary.json: the causes. One function per member, in the schema's order. */
#include <stdint.h>
#include "findings/finding_sentence.h"
#include "findings/findings.h"
#include "findings/loader.h"
#include "findings/told.h"
#include "fields.h"
#include "summary_priv.h"
#include "findings/words.h"
#include "facts/feeder.h"

void summary_put_confidence(struct base_jsonout *j, const int64_t by[ANA_CONFIDENCES])
{
	base_json_flat_object(j, "confidence");
	for (int k = 0; k < ANA_CONFIDENCES; k++)
		if (by[k])
			base_json_int(j, ana_confidence_names[k], by[k]);
	base_json_end(j);
}

/* What is negative is not known. */
static void put_or_null(struct base_jsonout *j, const char *key, int64_t v)
{
	if (v >= 0)
		base_json_int(j, key, v);
	else
		base_json_null(j, key);
}

static void put_known(struct base_jsonout *j, const char *key, const struct ana_loader_facts *l,
		      enum ana_loader_known what, int64_t v)
{
	put_or_null(j, key, l && l->known & what ? v : -1);
}

static void put_flag(struct base_jsonout *j, const char *key, const struct ana_loader_facts *l,
		     enum ana_loader_known what, bool v)
{
	if (l->known & what)
		base_json_bool(j, key, v);
	else
		base_json_null(j, key);
}

/* Iterators with the same settings. */
static void put_settings(struct base_jsonout *j, const struct ana_loader_facts *l)
{
	base_json_object(j, NULL);
	base_json_string(j, "kind", l->kind);
	base_json_string(j, "dataset", l->dataset);
	put_known(j, "workers", l, ANA_LOADER_WORKERS, l->workers);
	put_known(j, "prefetch", l, ANA_LOADER_PREFETCH, l->prefetch);
	put_known(j, "batch_size", l, ANA_LOADER_BATCH, l->batch_size);
	put_flag(j, "pin_memory", l, ANA_LOADER_PIN, l->pin);
	put_flag(j, "persistent_workers", l, ANA_LOADER_PERSISTENT, l->persistent);
	put_flag(j, "in_order", l, ANA_LOADER_IN_ORDER, l->in_order);
	summary_put_fields(j, summary_settings, l);
	if (l->trains)
		base_json_bool(j, "trains", true);
	base_json_end(j);
}

static void put_shares(struct base_jsonout *j, const struct view_loader *v)
{
	base_json_flat_object(j, "worker_shares_pct");
	for (int k = 0; k < ANA_WORKER_STATES; k++)
		if (v->share_ppm[k])
			base_json_percent(j, ana_worker_state_names[k], v->share_ppm[k]);
	base_json_end(j);
}

static void put_files(struct base_jsonout *j, const struct view_loader *v)
{
	base_json_array(j, "files");
	for (size_t i = 0; i < v->files; i++) {
		base_json_flat_object(j, NULL);
		base_json_string(j, "path", v->file[i].path);
		base_json_string(j, "filesystem", v->file[i].fs);
		base_json_int(j, "blocked_ns", v->file[i].blocked_ns);
		base_json_uint(j, "samples", v->file[i].samples);
		if (v->file[i].bytes_per_s < 0)
			base_json_null(j, "bytes_per_s");
		else
			base_json_int(j, "bytes_per_s", v->file[i].bytes_per_s);
		base_json_end(j);
	}
	base_json_end(j);
}

/* How many workers it takes, with every number that goes in. */
static void put_need(struct base_jsonout *j, const char *key, const struct view_summary *s)
{
	const struct view_loader *v = &s->loader;

	base_json_object(j, key);
	summary_put_fields(j, summary_need_workers, v);
	base_json_string(j, "bound", view_worker_bounds[v->need.bound]);
	summary_put_fields(j, summary_need_times, v);
	summary_put_fields(j, summary_need_cores, v);
	base_json_usd(j, "saving_upper_usd", v->saving_nano_usd, s->cost.known);
	base_json_end(j);
}

void summary_put_loader(struct base_jsonout *j, const struct view_summary *s)
{
	const struct ana_result *r = s->result;
	const struct view_loader *v = &s->loader;

	base_json_object(j, "loader");
	base_json_string(j, "kind", r->loader_kind);
	put_or_null(j, "workers", view_loader_workers(s));
	base_json_uint(j, "batches", r->batches);
	base_json_int(j, "wait_ns", r->loader_wait_ns);
	base_json_int(j, "exposed_ns", r->loader_exposed_ns);
	base_json_int(j, "hidden_ns", r->loader_hidden_ns);
	put_shares(j, v);
	put_or_null(j, "batch_ns_per_worker", v->fetch_ns);
	put_or_null(j, "workers_needed", v->has_need ? v->need.needed : -1);
	put_files(j, v);
	summary_put_fields(j, summary_bytes, v);
	if (v->has_need)
		put_need(j, "need", s);
	else
		base_json_null(j, "need");
	base_json_array(j, "settings");
	for (size_t i = 0; i < r->loaders; i++)
		put_settings(j, &r->loader[i]);
	base_json_end(j);
	base_json_end(j);
}

static void put_chain(struct base_jsonout *j, const struct view_hotspot *p)
{
	base_json_array(j, "chain");
	for (size_t i = 0; i < p->chains; i++) {
		const struct view_link *l = &p->chain[i];
		base_json_flat_object(j, NULL);
		base_json_string(j, "who", l->who);
		base_json_string(j, "waits_in", l->waits_in);
		base_json_string(j, "file", l->file);
		put_or_null(j, "line", l->line ? (int64_t)l->line : -1);
		base_json_string(j, "function", l->function);
		base_json_uint(j, "samples", l->samples);
		base_json_string(j, "confidence", ana_confidence_names[l->confidence]);
		base_json_end(j);
	}
	base_json_end(j);
}

static void put_where(struct base_jsonout *j, const struct view_hotspot *p, struct base_arena *mem)
{
	base_json_flat_object(j, "where");
	if (p->late) {
		base_json_string(j, "file", p->file);
		put_or_null(j, "line", p->line ? (int64_t)p->line : -1);
		base_json_string(j, "function", p->function);
		base_json_string(j, "role", view_role_names[p->role]);
		base_json_int(j, "rank", p->rank);
	} else if (p->known) {
		base_json_string(j, "file", p->file);
		put_or_null(j, "line", p->line ? (int64_t)p->line : -1);
		base_json_string(j, "function", p->function);
		base_json_string(j, "role", view_role_names[p->role]);
		base_json_null(j, "rank");
		base_json_string(j, "blocked_on", view_words_blocked(mem, p, SIZE_MAX));
		base_json_string(j, "wait", view_wait_names[p->wait]);
		base_json_bool(j, "runnable", p->runnable);
		base_json_string(j, "target", p->target);
		base_json_uint(j, "targets", p->targets);
		base_json_string(j, "fs", p->fs);
		base_json_string(j, "leaf", p->leaf);
		base_json_string(j, "native", p->native);
		base_json_string(j, "symbol", p->symbol);
		base_json_string(j, "has_cpu", p->has_cpu);
		base_json_string(j, "feeder", facts_feeders[p->feeder].name);
		if (p->chains)
			put_chain(j, p);
	}
	base_json_end(j);
}

static void put_finding(struct base_jsonout *j, const struct view_summary *s, size_t at,
			struct base_arena *mem)
{
	const struct view_finding *f = &s->finding[at];

	base_json_object(j, NULL);
	base_json_string(j, "class", ana_class_names[f->class]);
	base_json_int(j, "ns", f->ns);
	base_json_percent(j, "pct", f->ppm);
	base_json_usd(j, "usd", f->nano_usd, s->cost.known);
	put_where(j, &f->where, mem);
	base_json_flat_object(j, "evidence");
	base_json_string(j, "basis", f->basis);
	if (f->where.known) {
		base_json_uint(j, "samples", f->where.samples);
		base_json_uint(j, "threads", f->where.threads);
		base_json_uint(j, "workers", f->where.workers);
		base_json_int(j, "nearby_ns", f->nearby_ns);
	}
	if (view_finding_is_rest(f))
		base_json_int(j, "lines_ns", f->lines_ns);
	summary_put_confidence(j, f->by_confidence);
	base_json_end(j);
	base_json_string(j, "confidence", ana_confidence_names[f->confidence]);
	if (f->of_starved_ppm >= 0)
		base_json_percent(j, "of_starved_pct", f->of_starved_ppm);
	else
		base_json_null(j, "of_starved_pct");
	base_json_bool(j, "rest", f->rest);
	base_json_string(j, "sentence", view_finding_sentence(s, mem, at));
	base_json_end(j);
}

void summary_put_findings(struct base_jsonout *j, const struct view_summary *s)
{
	struct base_arena mem = { 0 };

	base_json_array(j, "findings");
	for (size_t i = 0; i < s->findings; i++)
		put_finding(j, s, i, &mem);
	base_json_end(j);
	base_arena_fini(&mem);
}

static void put_cause(struct base_jsonout *j, const struct view_summary *s, struct base_arena *mem,
		      const struct view_told *told, const struct view_cause *of)
{
	struct view_sure gain = view_alike_gain_sure(s, mem, told, of->n);

	base_json_object(j, NULL);
	base_json_flat_array(j, "findings");
	for (size_t i = 0; i < of->n; i++)
		base_json_uint(j, NULL, told[i].at);
	base_json_end(j);
	base_json_int(j, "ns", of->ns);
	base_json_string(j, "sentence", view_alike_sentence(s, mem, told, of->n));
	base_json_string(j, "gain_confidence", ana_confidence_names[gain.grade]);
	base_json_string(j, "gain_lacks", gain.lacks);
	base_json_end(j);
}

/* What the box tells as one, of which the findings are the lines. */
void summary_put_causes(struct base_jsonout *j, const struct view_summary *s)
{
	struct base_arena mem = { 0 };
	struct view_cause *cause;
	struct view_told *told;
	size_t n = view_causes_told(s, &mem, &told, &cause);

	base_json_array(j, "causes");
	for (size_t i = 0; i < n; i++)
		put_cause(j, s, &mem, told + cause[i].from, &cause[i]);
	base_json_end(j);
	base_arena_fini(&mem);
}

static void put_advice(struct base_jsonout *j, const struct view_summary *s,
		       const struct view_advice *a)
{
	base_json_object(j, NULL);
	base_json_string(j, "id", a->id);
	base_json_string(j, "title", a->title);
	base_json_string(j, "why", a->why);
	base_json_string(j, "action", a->action);
	base_json_int(j, "saving_upper_ns", a->saving_ns);
	base_json_usd(j, "saving_upper_usd", a->saving_nano_usd, s->cost.known);
	base_json_int(j, "saving_lower_ns", a->saving_least_ns);
	base_json_string(j, "class", ana_class_names[a->class]);
	base_json_string(j, "brief", a->brief);
	base_json_string(j, "change", a->change);
	if (a->makers) {
		base_json_int(j, "makers", a->makers);
		base_json_int(j, "makers_now", a->makers_now);
	}
	if (a->with_need)
		put_need(j, "numbers", s);
	base_json_end(j);
}

void summary_put_advice(struct base_jsonout *j, const struct view_summary *s)
{
	base_json_array(j, "advice");
	for (size_t i = 0; i < s->advices; i++)
		put_advice(j, s, &s->advice[i]);
	base_json_end(j);
}
