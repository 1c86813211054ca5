/* SPDX-License-Identifier: Apache-2.0 */
/* summary.json back into the model: the causes, in the writer's order. */
#include "summary_priv.h"
#include "findings/words.h"

/* A time or count that may be unknown. */
static int64_t or_unknown(const struct base_json *node, const char *key)
{
	return summary_within(node, key, -1, -1, INT64_C(1) << 60);
}

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
	l->start = summary_text(s, n, "start");
	l->trainers = summary_u32(n, "trainers");
	l->iterators = base_json_get_uint(n, "iterators", 0);
	l->open_ns = summary_total(n, "open_ns");
	l->taken = base_json_get_uint(n, "taken", 0);
	l->take_ns = summary_total(n, "take_ns");
	l->made = base_json_get_uint(n, "made", 0);
	l->made_samples = base_json_get_uint(n, "made_samples", 0);
	l->fetch_ns = summary_total(n, "fetch_ns");
	l->fetch_cpu_ns = summary_total(n, "fetch_cpu_ns");
	l->fetch_delay_ns = summary_total(n, "fetch_delay_ns");
	l->fetch_median_ns = or_unknown(n, "fetch_median_ns");
	l->fetch_p95_ns = or_unknown(n, "fetch_p95_ns");
	l->rchar_bytes = base_json_get_uint(n, "rchar_bytes", 0);
	l->read_bytes = base_json_get_uint(n, "read_bytes", 0);
	l->major_faults = base_json_get_uint(n, "major_faults", 0);
	l->seen_ns = summary_total(n, "seen_ns");
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
		};
}

static void read_need(struct view_loader *v, const struct base_json *n)
{
	v->has_need = n && n->type == BASE_JSON_OBJECT;
	if (!v->has_need)
		return;
	v->facts.workers = summary_total(n, "workers_now");
	v->need.needed = summary_total(n, "workers_needed");
	v->need.advised = summary_total(n, "workers_advised");
	v->need.bound =
		(enum view_worker_bound)summary_by_name(base_json_get_text(n, "bound", NULL),
							view_worker_bounds, VIEW_WORKERS_BOUNDS,
							VIEW_WORKERS_STEP);
	v->facts.fetch_ns = summary_total(n, "fetch_ns");
	v->facts.fetch_cpu_ns = summary_total(n, "fetch_cpu_ns");
	v->facts.step_ns = summary_total(n, "step_ns");
	v->facts.wait_ns = summary_total(n, "wait_ns");
	v->facts.fed_median_ns = or_unknown(n, "fed_median_ns");
	v->need.predicted_step_ns = summary_total(n, "predicted_step_ns");
	v->busy_ppm = summary_ppm(n, "workers_busy_pct", -1);
	v->facts.cores = summary_total(n, "cores");
	v->need.cores_needed = summary_total(n, "cores_needed");
	v->saving_ns = summary_total(n, "saving_upper_ns");
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
	v->fetch_ns = or_unknown(loader, "batch_ns_per_worker");
	read_files(s, base_json_get(loader, "files"));
	v->batch_bytes = or_unknown(loader, "batch_bytes");
	v->disk_ppm = summary_ppm(loader, "page_cache_miss_pct", -1);
	v->read_bytes_per_s = or_unknown(loader, "read_bytes_per_s");
	v->needed_bytes_per_s = or_unknown(loader, "needed_bytes_per_s");
	read_need(v, base_json_get(loader, "need"));
	r->loader = base_arena_array(&s->mem, base_json_count(settings), sizeof(*r->loader));
	BASE_JSON_EACH(n, settings)
		read_settings(s, n, &r->loader[r->loaders++]);
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
		a->saving_ns = summary_total(n, "saving_upper_ns");
		a->saving_nano_usd = summary_usd(n, "saving_upper_usd", 0);
		a->with_need = base_json_get(n, "numbers") != NULL && s->loader.has_need;
	}
}
