/* SPDX-License-Identifier: Apache-2.0 */
/* A collector that is asked: GET /v1/live for the runs that go on, /v1/runs/ID/live for one. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/jsondoc.h"
#include "core/log.h"
#include "fetch.h"
#include "run/follow.h"
#include "source.h"

#define URL_BYTES 1024
#define SUM_MAX (INT64_MAX / 4)

struct source_http {
	struct top_source source;
	const struct top_source_options *o;
	struct top_fetch *fetch;
	char base[512], run[256];
	bool seen; /* there has been a good answer */
	int64_t *price; /* that our lists know, of as many GPUs */
	size_t prices;
	struct live_run priced; /* GPUs alone; covered_ns: 1 if a living process uses it */
};

static int64_t count(const struct base_json *n, const char *key)
{
	int64_t v = base_json_get_int(n, key, 0);

	return v < 0 ? 0 : v > SUM_MAX ? SUM_MAX : v;
}

/* A number that may not be known. */
static int64_t maybe(const struct base_json *n, const char *key)
{
	int64_t v = base_json_get_int(n, key, -1);

	return v < -1 ? -1 : v > SUM_MAX ? SUM_MAX : v;
}

/* -1: not known, as to an older collector. */
static int64_t millionths(const struct base_json *n, const char *key)
{
	int64_t v = maybe(n, key);

	return v > 1000000 ? -1 : v;
}

static struct live_share share_of(const struct base_json *n)
{
	struct live_share s = { .window_ns = count(n, "window_ns") };
	int64_t busy = maybe(n, "busy_ppm"), starved = maybe(n, "starved_ppm");

	s.known = busy >= 0 && busy <= 1000000 && starved >= 0 && starved <= 1000000 - busy;
	s.busy_ppm = s.known ? busy : 0;
	s.starved_ppm = s.known ? starved : 0;
	return s;
}

/* Of a newer collector there may be others. */
static enum live_small small_of(int64_t n)
{
	return n > 0 && n < LIVE_SMALLS ? (enum live_small)n : LIVE_SMALL_NOT;
}

static void take_totals(struct live_totals *t, const struct base_json *n)
{
	*t = (struct live_totals){ .gpus = (size_t)count(n, "gpus"),
				   .alive = (size_t)count(n, "alive"),
				   .streams = (size_t)count(n, "processes"),
				   .held_ns = count(n, "held_ns"),
				   .busy_ns = count(n, "busy_ns"),
				   .starved_ns = count(n, "starved_ns"),
				   .training_ns = maybe(n, "training_ns"),
				   .training_starved_ns = maybe(n, "training_starved_ns"),
				   .now = share_of(n),
				   .idle_ns = maybe(n, "idle_ns"),
				   .gpu_idle_ns = maybe(n, "gpu_idle_ns"),
				   .quiet_ns = maybe(n, "quiet_ns"),
				   .lag_ns = maybe(n, "lag_ns"),
				   .unsaved_ns = maybe(n, "unsaved_ns"),
				   .unsaved_for_ns = maybe(n, "unsaved_for_ns"),
				   .saved = count(n, "saved") > 0,
				   .saved_bytes = (uint64_t)count(n, "saved_bytes"),
				   .small = small_of(count(n, "small")),
				   .sure_ns = count(n, "sure_ns"),
				   .sure_for_ns = count(n, "sure_for_ns"),
				   .saving = count(n, "saving") > 0,
				   .unsure = count(n, "unsure") > 0,
				   .deleted = count(n, "deleted") > 0,
				   .unmoved = count(n, "unmoved") > 0,
				   .unsure_bytes = (uint64_t)count(n, "unsure_bytes"),
				   .unsure_for_ns = maybe(n, "unsure_for_ns"),
				   .dropped = (uint64_t)count(n, "dropped"),
				   .own_cpu_ns = (uint64_t)count(n, "own_cpu_ns"),
				   .life_ns = count(n, "life_ns") };
	if (t->training_ns < 0 || t->training_starved_ns < 0) { /* an older collector */
		t->training_ns = t->held_ns;
		t->training_starved_ns = t->starved_ns;
	}
}

/* GPUs as the model has them, so that they are priced as everywhere. */
static int take_gpus(struct source_http *s, const struct base_json *gpus)
{
	size_t n = base_json_count(gpus);
	struct live_gpu *g;

	if (n > TOP_ROWS_MAX)
		n = TOP_ROWS_MAX;
	free(s->priced.gpu);
	s->priced.gpu = calloc(n ? n : 1, sizeof(*g));
	s->priced.gpus = 0;
	if (!s->priced.gpu)
		return -ENOMEM;
	g = s->priced.gpu;
	for (const struct base_json *j = gpus ? gpus->child : NULL; j && s->priced.gpus < n;
	     j = j->next, g++, s->priced.gpus++) {
		*g = (struct live_gpu){ .held_ns = count(j, "held_ns"),
					.busy_ns = count(j, "busy_ns"),
					.wait_ns = count(j, "starved_ns"),
					.nano_usd_per_hour = maybe(j, "nano_usd_per_hour"),
					.mig_slices = (uint32_t)count(j, "mig_slices"),
					.mig_slices_total =
						(uint32_t)count(j, "mig_slices_total") };
		top_tame(g->host, sizeof(g->host), base_json_get_text(j, "host", ""));
		top_tame(g->name, sizeof(g->name), base_json_get_text(j, "name", ""));
		g->covered_ns = base_json_get_bool(j, "alive", false);
	}
	return 0;
}

/* The lists are read again only for a GPU that is new. */
static void price_all(struct source_http *s)
{
	size_t n = s->priced.gpus;

	if (n != s->prices) {
		free(s->price);
		s->price = calloc(n ? n : 1, sizeof(*s->price));
		s->prices = s->price ? n : 0;
		view_follow_price(&s->priced, &s->o->rates);
		for (size_t i = 0; i < s->prices; i++)
			s->price[i] = s->priced.gpu[i].nano_usd_per_hour;
	}
	for (size_t i = 0; i < s->prices; i++)
		s->priced.gpu[i].nano_usd_per_hour = s->price[i];
}

/* Amounts as the model sums them, with what our own price lists know where it names no price. */
static void take_money(struct source_http *s, struct top_snapshot *l)
{
	struct live_totals *t = &l->totals;
	bool known = s->priced.gpus > 0;

	for (size_t i = 0; i < s->priced.gpus; i++)
		known &= s->priced.gpu[i].nano_usd_per_hour >= 0;
	if (!known || s->o->rates.price)
		price_all(s);
	t->priced = s->priced.gpus > 0;
	for (size_t i = 0; i < s->priced.gpus; i++) {
		const struct live_gpu *g = &s->priced.gpu[i];
		int64_t price = g->nano_usd_per_hour, starved = live_gpu_starved_ns(g);
		t->priced &= price >= 0;
		price = price < 0 ? 0 : price;
		t->nano_usd += view_cost_amount(price, g->held_ns);
		t->starved_nano_usd += view_cost_amount(price, starved);
		if (g->covered_ns)
			t->nano_usd_per_hour += price;
	}
	for (size_t i = 0; i < l->rows; i++) {
		struct top_row *row = &l->row[i];
		if (row->gpu >= s->priced.gpus)
			continue;
		row->nano_usd_per_hour = s->priced.gpu[row->gpu].nano_usd_per_hour;
		row->priced = row->nano_usd_per_hour >= 0;
		if (row->priced && row->gap < LIVE_GAP_SILENT)
			t->starved_nano_usd_per_hour += top_row_waste(row);
	}
}

/* Of each GPU once, however many processes use it. */
static void take_unsaved(const struct source_http *s, struct top_snapshot *l)
{
	bool *seen = calloc(s->priced.gpus + 1, sizeof(*seen));
	struct live_totals *t = &l->totals;

	for (size_t i = 0; seen && t->priced && i < l->rows; i++) {
		const struct top_row *row = &l->row[i];

		if (row->gpu >= s->priced.gpus || seen[row->gpu] || row->unsaved_ns < 0)
			continue;
		seen[row->gpu] = true;
		view_cost_add(&t->unsaved_nano_usd,
			      view_cost_amount(row->nano_usd_per_hour, row->unsaved_ns));
		if (t->small) /* at most: each as the one that would lose most */
			view_cost_add(&t->sure_nano_usd,
				      view_cost_amount(row->nano_usd_per_hour, t->sure_for_ns));
	}
	free(seen);
}

static enum live_gap gap_of(const char *name)
{
	for (int i = 0; i < LIVE_GAPS; i++)
		if (!strcmp(live_gap_names[i], name))
			return (enum live_gap)i;
	return LIVE_GAP_NONE;
}

static void take_rows(struct top_snapshot *l, const struct base_json *rows)
{
	size_t n = base_json_count(rows);

	l->row = calloc(n < TOP_ROWS_MAX ? n + 1 : TOP_ROWS_MAX, sizeof(*l->row));
	for (const struct base_json *j = rows ? rows->child : NULL; j && l->row; j = j->next) {
		struct top_row *r = &l->row[l->rows];
		if (l->rows == TOP_ROWS_MAX) {
			l->rows_left_out++;
			continue;
		}
		l->rows++;
		*r = (struct top_row){ .has_rank = base_json_get_int(j, "rank", -1) >= 0,
				       .rank = (int32_t)(count(j, "rank") & INT32_MAX),
				       .pid = count(j, "pid"),
				       .ordinal = (uint32_t)(count(j, "ordinal") & 0xffff),
				       .gpu = (size_t)count(j, "gpu"),
				       .share = share_of(j),
				       .meter = { millionths(j, "nvml_busy_ppm"),
						  millionths(j, "nvml_tensor_ppm"),
						  millionths(j, "nvml_dram_ppm") },
				       .gap = gap_of(base_json_get_text(j, "gap", "")),
				       .idle_ns = count(j, "idle_ns"),
				       .lag_ns = count(j, "lag_ns"),
				       .unsaved_ns = maybe(j, "unsaved_ns"),
				       .quiet_ns = maybe(j, "quiet_ns") };
		top_tame(r->host, sizeof(r->host), base_json_get_text(j, "host", ""));
		top_tame(r->name, sizeof(r->name), base_json_get_text(j, "name", ""));
	}
}

static void take_alerts(struct top_snapshot *l, const struct base_json *alerts)
{
	for (const struct base_json *j = alerts ? alerts->child : NULL; j; j = j->next) {
		struct top_alert *a = &l->alert[l->alerts];
		if (l->alerts == TOP_ALERTS_MAX)
			return;
		l->alerts++;
		a->t_unix_ns = count(j, "t_unix_ns");
		a->budget = count(j, "budget_pct") > 0;
		top_tame(a->text, sizeof(a->text), base_json_get_text(j, "text", ""));
	}
}

static bool ask(struct source_http *s, const char *path, struct base_arena *mem,
		struct base_json **root, char why[256])
{
	struct base_json_error error;
	char url[URL_BYTES];
	const char *text;
	size_t len;

	snprintf(url, sizeof(url), "%s%s", s->base, path);
	if (!top_fetch_get(s->fetch, url, &text, &len, why))
		return false;
	*root = base_json_parse(mem, text, len, &error);
	if (*root && !strcmp(base_json_get_text(*root, "schema", ""), "gpustarve.live/1"))
		return true;
	snprintf(why, 256, "what it answered is not what this version reads");
	return false;
}

/* The run heard of last. */
static bool choose(struct source_http *s, char why[256])
{
	struct base_arena mem = { 0 };
	struct base_json *root;
	int64_t least = INT64_MAX;

	if (ask(s, "/v1/live", &mem, &root, why)) {
		const struct base_json *runs = base_json_get(root, "runs");
		snprintf(why, 256, "no run is going on there");
		for (const struct base_json *j = runs ? runs->child : NULL; j; j = j->next) {
			const char *id = base_json_get_text(j, "run", "");
			int64_t ago = count(j, "heard_ns_ago");
			if (ago >= least || !id[0] || strpbrk(id, "/?#% "))
				continue;
			least = ago;
			top_tame(s->run, sizeof(s->run), id);
		}
	}
	base_arena_fini(&mem);
	return s->run[0] != '\0';
}

static bool fill(struct source_http *s, struct top_snapshot *l, char why[256])
{
	struct base_arena mem = { 0 };
	struct base_json *root;
	char path[300];
	int64_t status;
	bool ok;

	if (!s->run[0] && !choose(s, why))
		return false;
	snprintf(path, sizeof(path), "/v1/runs/%s/live", s->run);
	ok = ask(s, path, &mem, &root, why);
	if (ok) {
		take_totals(&l->totals, root);
		take_rows(l, base_json_get(root, "uses"));
		take_alerts(l, base_json_get(root, "alerts"));
		ok = !take_gpus(s, base_json_get(root, "devices"));
		take_money(s, l);
		take_unsaved(s, l);
		l->over = l->totals.gpus && !l->totals.alive;
		top_snapshot_close(l);
		status = base_json_get_int(root, "exit_status", -1);
		l->exit_status = status < 0 || status > 255 ? -1 : (int)status;
	}
	base_arena_fini(&mem);
	return ok;
}

static int fetch_snapshot(struct top_source *source, struct top_snapshot *l)
{
	struct source_http *s = (struct source_http *)source;
	char why[256] = "";

	*l = (struct top_snapshot){
		.totals = { .lag_ns = -1, .idle_ns = -1, .unsaved_ns = -1, .unsaved_for_ns = -1 },
		.quiet_ns = -1,
		.exit_status = -1
	};
	if (fill(s, l, why)) {
		s->seen = true;
	} else if (!s->seen) {
		view_error("%s: %s", s->base, why);
		return -EIO;
	} else {
		snprintf(l->trouble, sizeof(l->trouble), "%s", why);
	}
	snprintf(l->run, sizeof(l->run), "%s", s->run);
	return 0;
}

static void source_free(struct top_source *source)
{
	struct source_http *s = (struct source_http *)source;

	top_fetch_free(s->fetch);
	free(s->priced.gpu);
	free(s->price);
	free(s);
}

/* http://HOST:PORT, .../v1/runs/ID or .../runs/ID. */
static void split(struct source_http *s, const struct top_source_options *o)
{
	char *path, *id;

	snprintf(s->base, sizeof(s->base), "%s", o->what);
	path = strchr(strstr(s->base, "://") + 3, '/');
	id = path ? strstr(path, "/runs/") : NULL;
	if (id) {
		id += strlen("/runs/");
		id[strcspn(id, "/?#% ")] = '\0';
		top_tame(s->run, sizeof(s->run), id);
	}
	if (path)
		*path = '\0';
	if (o->run)
		top_tame(s->run, sizeof(s->run), o->run);
	s->run[strcspn(s->run, "/?#% ")] = '\0';
}

struct top_source *top_source_http(const struct top_source_options *o)
{
	struct source_http *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->source = (struct top_source){ fetch_snapshot, source_free };
	s->o = o;
	split(s, o);
	s->fetch = top_fetch_new(o->token_file, o->ca_file);
	if (s->fetch)
		return &s->source;
	free(s);
	return NULL;
}
