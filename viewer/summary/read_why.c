/* SPDX-License-Identifier: Apache-2.0 */
/* summary.json back into the model: the causes, in the writer's order. */
#include "fields.h"
#include "summary_priv.h"
#include "findings/words.h"
#include "facts/feeder.h"

static uint32_t known_u32(const struct base_json *n, const char *key, struct ana_loader_facts *l,
			  enum ana_loader_known what)
{
	int64_t v;

	if (base_json_to_int(base_json_get(n, key), &v))
		l->known |= what;
	return summary_u32(n, key);
}

static bool known_bool(const struct base_json *n, const char *key, struct ana_loader_facts *l,
		       enum ana_loader_known what)
{
	const struct base_json *v = base_json_get(n, key);

	if (v && v->type == BASE_JSON_BOOL)
		l->known |= what;
	return base_json_get_bool(n, key, false);
}

static void read_settings(struct view_summary *s, const struct base_json *n,
			  struct ana_loader_facts *l)
{
	l->kind = summary_text(s, n, "kind");
	l->dataset = summary_text(s, n, "dataset");
	l->workers = known_u32(n, "workers", l, ANA_LOADER_WORKERS);
	l->prefetch = known_u32(n, "prefetch", l, ANA_LOADER_PREFETCH);
	l->batch_size = known_u32(n, "batch_size", l, ANA_LOADER_BATCH);
	l->pin = known_bool(n, "pin_memory", l, ANA_LOADER_PIN);
	l->persistent = known_bool(n, "persistent_workers", l, ANA_LOADER_PERSISTENT);
	l->in_order = known_bool(n, "in_order", l, ANA_LOADER_IN_ORDER);
	summary_read_fields(s, n, summary_settings, l);
	l->trains = base_json_get_bool(n, "trains", false);
}

static void read_files(struct view_summary *s, const struct base_json *files)
{
	struct view_loader *v = &s->loader;

	v->file = base_arena_array(&s->mem, base_json_count(files), sizeof(*v->file));
	BASE_JSON_EACH(n, files)
		v->file[v->files++] = (struct view_file){
			.path = summary_text_or_empty(s, n, "path"),
			.fs = summary_text_or_empty(s, n, "filesystem"),
			.blocked_ns = summary_total(n, "blocked_ns"),
			.samples = base_json_get_uint(n, "samples", 0),
			.bytes_per_s = base_json_get_int(n, "bytes_per_s", -1),
		};
}

static void read_need(struct view_summary *s, const struct base_json *n)
{
	struct view_loader *v = &s->loader;

	v->has_need = n && n->type == BASE_JSON_OBJECT;
	if (!v->has_need)
		return;
	summary_read_fields(s, n, summary_need_workers, v);
	v->need.bound =
		(enum view_worker_bound)summary_by_name(base_json_get_text(n, "bound", NULL),
							view_worker_bounds, VIEW_WORKERS_BOUNDS,
							VIEW_WORKERS_STEP);
	summary_read_fields(s, n, summary_need_times, v);
	summary_read_fields(s, n, summary_need_cores, v);
	v->saving_nano_usd = summary_usd(n, "saving_upper_usd", 0);
}

void summary_read_loader(struct view_summary *s, const struct base_json *loader)
{
	const struct base_json *shares = base_json_get(loader, "worker_shares_pct");
	const struct base_json *settings = base_json_get(loader, "settings");
	struct ana_result *r = s->result;
	struct view_loader *v = &s->loader;

	r->loader_kind = summary_text(s, loader, "kind");
	r->batches = base_json_get_uint(loader, "batches", 0);
	r->loader_wait_ns = summary_total(loader, "wait_ns");
	r->loader_exposed_ns = summary_total(loader, "exposed_ns");
	r->loader_hidden_ns = summary_total(loader, "hidden_ns");
	for (int k = 0; k < ANA_WORKER_STATES; k++)
		v->share_ppm[k] = summary_ppm(shares, ana_worker_state_names[k], 0);
	v->fetch_ns = summary_within(loader, "batch_ns_per_worker", -1, -1, SUMMARY_TOTAL_MAX);
	read_files(s, base_json_get(loader, "files"));
	summary_read_fields(s, loader, summary_bytes, v);
	read_need(s, base_json_get(loader, "need"));
	r->loader = base_arena_array(&s->mem, base_json_count(settings), sizeof(*r->loader));
	BASE_JSON_EACH(n, settings)
		read_settings(s, n, &r->loader[r->loaders++]);
}

static void read_chain(struct view_summary *s, const struct base_json *chain,
		       struct view_hotspot *p)
{
	size_t room = base_json_count(chain);
	struct view_link *link = base_arena_array(&s->mem, room, sizeof(*link));

	p->chain = link;
	BASE_JSON_EACH(n, chain) {
		struct view_link *l = &link[p->chains++];
		l->who = summary_text_or_empty(s, n, "who");
		l->waits_in = summary_text(s, n, "waits_in");
		l->file = summary_text(s, n, "file");
		l->line = summary_u32(n, "line");
		l->function = summary_text(s, n, "function");
		l->samples = base_json_get_uint(n, "samples", 0);
		l->confidence = (enum ana_confidence)summary_by_name(
			base_json_get_text(n, "confidence", NULL), ana_confidence_names,
			ANA_CONFIDENCES, ANA_NONE);
	}
}

static void read_where(struct view_summary *s, const struct base_json *finding,
		       struct view_hotspot *p)
{
	const struct base_json *n = base_json_get(finding, "where");
	const struct base_json *evidence = base_json_get(finding, "evidence");

	const struct base_json *rank = base_json_get(n, "rank");

	p->late = rank && rank->type == BASE_JSON_NUMBER;
	p->rank = (int32_t)summary_within(n, "rank", 0, INT32_MIN, INT32_MAX);
	p->known = base_json_count(n) > 0 && !p->late;
	if (!p->known && !p->late)
		return;
	p->file = summary_text(s, n, "file");
	p->line = summary_u32(n, "line");
	p->function = summary_text(s, n, "function");
	p->role = (uint8_t)summary_by_name(base_json_get_text(n, "role", NULL), view_role_names,
					   VIEW_ROLES, 0);
	p->wait = (uint8_t)summary_by_name(base_json_get_text(n, "wait", NULL), view_wait_names,
					   VIEW_WAITS, VIEW_WAITS - 1);
	p->runnable = base_json_get_bool(n, "runnable", false);
	p->target = summary_text(s, n, "target");
	p->targets = base_json_get_uint(n, "targets", 0);
	p->fs = summary_text(s, n, "fs");
	p->leaf = summary_text(s, n, "leaf");
	p->native = summary_text(s, n, "native");
	p->symbol = summary_text(s, n, "symbol");
	p->has_cpu = summary_text(s, n, "has_cpu");
	p->feeder = (uint8_t)facts_feeder_by_name(base_json_get_text(n, "feeder", NULL));
	read_chain(s, base_json_get(n, "chain"), p);
	p->samples = base_json_get_uint(evidence, "samples", 0);
	p->threads = summary_u32(evidence, "threads");
	p->workers = summary_u32(evidence, "workers");
}

static void read_finding(struct view_summary *s, const struct base_json *n, struct view_finding *f)
{
	const struct base_json *evidence = base_json_get(n, "evidence");

	f->ns = summary_total(n, "ns");
	f->ppm = summary_ppm(n, "pct", 0);
	f->nano_usd = summary_usd(n, "usd", 0);
	read_where(s, n, &f->where);
	f->of_starved_ppm = summary_ppm(n, "of_starved_pct", -1);
	f->confidence =
		(enum ana_confidence)summary_by_name(base_json_get_text(n, "confidence", NULL),
						     ana_confidence_names, ANA_CONFIDENCES,
						     ANA_NONE);
	f->nearby_ns = summary_total(evidence, "nearby_ns");
	f->lines_ns = summary_total(evidence, "lines_ns");
	summary_read_confidence(evidence, f->by_confidence);
	f->basis = summary_text_or_empty(s, evidence, "basis");
	f->rest = base_json_get_bool(n, "rest", false);
}

void summary_read_findings(struct view_summary *s, const struct base_json *findings)
{
	s->finding = base_arena_array(&s->mem, base_json_count(findings), sizeof(*s->finding));
	BASE_JSON_EACH(n, findings) {
		int c = ana_class_by_name(base_json_get_text(n, "class", ""));
		if (c < 0)
			continue;
		s->finding[s->findings].class = (enum ana_class)c;
		read_finding(s, n, &s->finding[s->findings++]);
	}
}

void summary_read_advice(struct view_summary *s, const struct base_json *advice)
{
	s->advice = base_arena_array(&s->mem, base_json_count(advice), sizeof(*s->advice));
	BASE_JSON_EACH(n, advice) {
		struct view_advice *a = &s->advice[s->advices++];
		int c = ana_class_by_name(base_json_get_text(n, "class", ""));
		a->class = (enum ana_class)(c < 0 ? ANA_HOST_UNKNOWN : c);
		a->id = summary_text_or_empty(s, n, "id");
		a->title = summary_text_or_empty(s, n, "title");
		a->why = summary_text_or_empty(s, n, "why");
		a->action = summary_text_or_empty(s, n, "action");
		a->brief = summary_text_or_empty(s, n, "brief");
		a->change = summary_text(s, n, "change");
		a->saving_ns = summary_total(n, "saving_upper_ns");
		a->saving_nano_usd = summary_usd(n, "saving_upper_usd", 0);
		a->saving_least_ns = summary_total(n, "saving_lower_ns");
		a->makers = summary_total(n, "makers");
		a->makers_now = summary_total(n, "makers_now");
		a->with_need = base_json_get(n, "numbers") != NULL && s->loader.has_need;
	}
}
