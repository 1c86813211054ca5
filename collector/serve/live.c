/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GET /v1/live: the runs of the asker's team that go on. GET /v1/runs/ID/live: one of them, as
 * `gpustarve top` shows it. From the models in memory (alert/runs.h); docs/OPERATIONS.md has the
 * members.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "alert/runs.h"
#include "base/escape.h"
#include "core/clock.h"
#include "http.h"
#include "retain/run_json.h"
#include "routes.h"

#define SCHEMA "gpustarve.live/1"
#define USES_MAX 4096u
#define ALERTS_MAX 64u
#define TYPE "application/json"

static void put_text(FILE *f, const char *key, const char *text)
{
	fprintf(f, "\"%s\":", key);
	base_put_quoted(f, BASE_AS_JSON_ANYWHERE, text);
}

static void put_int(FILE *f, const char *key, int64_t v)
{
	fprintf(f, ",\"%s\":%" PRId64, key, v);
}

/* null: not known. */
static void put_known(FILE *f, const char *key, int64_t v, bool known)
{
	if (known)
		put_int(f, key, v);
	else
		fprintf(f, ",\"%s\":null", key);
}

static void put_share(FILE *f, const struct live_share *s)
{
	put_int(f, "window_ns", s->window_ns);
	put_known(f, "busy_ppm", s->busy_ppm, s->known);
	put_known(f, "starved_ppm", s->starved_ppm, s->known);
}

static void put_meter(FILE *f, const struct live_meter *m)
{
	put_known(f, "nvml_busy_ppm", m->busy_ppm, m->busy_ppm >= 0);
	put_known(f, "nvml_tensor_ppm", m->tensor_ppm, m->tensor_ppm >= 0);
	put_known(f, "nvml_dram_ppm", m->dram_ppm, m->dram_ppm >= 0);
}

static void put_totals(FILE *f, const struct live_totals *t)
{
	put_int(f, "gpus", (int64_t)t->gpus);
	put_int(f, "alive", (int64_t)t->alive);
	put_int(f, "processes", (int64_t)t->streams);
	put_int(f, "held_ns", t->held_ns);
	put_int(f, "busy_ns", t->busy_ns);
	put_int(f, "starved_ns", t->starved_ns);
	put_int(f, "training_ns", t->training_ns);
	put_int(f, "training_starved_ns", t->training_starved_ns);
	put_share(f, &t->now);
	put_known(f, "nano_usd", t->nano_usd, t->priced);
	put_known(f, "starved_nano_usd", t->starved_nano_usd, t->priced);
	put_known(f, "nano_usd_per_hour", t->nano_usd_per_hour, t->priced);
	put_known(f, "starved_nano_usd_per_hour", t->starved_nano_usd_per_hour, t->priced);
	put_known(f, "idle_ns", t->idle_ns, t->idle_ns >= 0);
	put_known(f, "gpu_idle_ns", t->gpu_idle_ns, t->gpu_idle_ns >= 0);
	put_known(f, "quiet_ns", t->quiet_ns, t->quiet_ns >= 0);
	put_known(f, "lag_ns", t->lag_ns, t->lag_ns >= 0);
	put_known(f, "unsaved_ns", t->unsaved_ns, t->unsaved_ns >= 0);
	put_known(f, "unsaved_for_ns", t->unsaved_for_ns, t->unsaved_for_ns >= 0);
	put_known(f, "unsaved_nano_usd", t->unsaved_nano_usd, t->priced && t->unsaved_ns >= 0);
	put_int(f, "saved", t->saved);
	put_int(f, "saved_bytes", (int64_t)(t->saved_bytes & INT64_MAX));
	put_int(f, "small", t->small);
	put_known(f, "sure_ns", t->sure_ns, t->small > 0);
	put_known(f, "sure_for_ns", t->sure_for_ns, t->small > 0);
	put_int(f, "saving", t->saving);
	put_int(f, "unsure", t->unsure);
	put_int(f, "deleted", t->deleted);
	put_int(f, "unmoved", t->unmoved);
	put_int(f, "unsure_bytes", (int64_t)(t->unsure_bytes & INT64_MAX));
	put_known(f, "unsure_for_ns", t->unsure_for_ns, t->unsure_for_ns >= 0);
	put_int(f, "dropped", (int64_t)(t->dropped & INT64_MAX));
	put_int(f, "own_cpu_ns", (int64_t)(t->own_cpu_ns & INT64_MAX));
	put_int(f, "life_ns", t->life_ns);
}

/* Of so many GPUs or uses not all are told. */
static int64_t left_out(size_t n)
{
	return n > USES_MAX ? (int64_t)(n - USES_MAX) : 0;
}

static void put_devices(FILE *f, const struct live_run *r, int64_t now_ns)
{
	struct live_gpu_now *now = live_run_gpus_now(r, now_ns);

	fputs(",\"devices\":[", f);
	for (size_t i = 0; now && i < r->gpus && i < USES_MAX; i++) {
		const struct live_gpu *g = &r->gpu[i];
		int64_t idle = now[i].idle_ns;
		fputs(i ? ",{" : "{", f);
		put_text(f, "host", g->host);
		putc(',', f);
		put_text(f, "name", g->name);
		putc(',', f);
		put_text(f, "uuid", g->uuid);
		put_int(f, "ordinal", g->ordinal);
		put_int(f, "mig_slices", g->mig_slices);
		put_int(f, "mig_slices_total", g->mig_slices_total);
		put_int(f, "held_ns", g->held_ns);
		put_int(f, "busy_ns", g->busy_ns);
		put_int(f, "starved_ns", live_gpu_starved_ns(g));
		fprintf(f, ",\"alive\":%s", idle >= 0 ? "true" : "false");
		put_known(f, "idle_ns", idle, idle >= 0);
		put_share(f, &now[i].share);
		put_known(f, "nano_usd_per_hour", g->nano_usd_per_hour, g->nano_usd_per_hour >= 0);
		putc('}', f);
	}
	putc(']', f);
	put_int(f, "devices_left_out", left_out(r->gpus));
	free(now);
}

/* The end of a process that said no goodbye, as the collector of its node has seen it. */
static bool end_was_seen(const char *dir, const struct live_stream *s)
{
	char path[PATH_MAX], hex[COLL_HEX_BYTES];

	coll_hex_of(hex, s->id);
	return !s->ended &&
	       snprintf(path, sizeof(path), "%s/exit-coll-%s.json", dir, hex) < (int)sizeof(path) &&
	       !access(path, F_OK);
}

static void look_for_ends(const struct live_run *r, const char *dir)
{
	for (size_t i = 0; i < r->streams; i++)
		r->stream[i]->gone |= end_was_seen(dir, r->stream[i]);
}

static void put_uses(FILE *f, const struct live_run *r, int64_t now_ns)
{
	size_t n = live_run_uses(r, now_ns, NULL, 0);
	struct live_use *use;
	int64_t left;

	left = left_out(n);
	n -= (size_t)left;
	use = calloc(n ? n : 1, sizeof(*use));
	if (use)
		live_run_uses(r, now_ns, use, n);
	fputs(",\"uses\":[", f);
	for (size_t i = 0; use && i < n; i++) {
		const struct live_stream *s = use[i].stream;
		fputs(i ? ",{" : "{", f);
		put_text(f, "host", s->host);
		putc(',', f);
		put_text(f, "name", r->gpu[use[i].gpu].name);
		putc(',', f);
		put_text(f, "gap", live_gap_names[use[i].gap]);
		put_known(f, "rank", s->rank, s->has_rank);
		put_int(f, "pid", s->pid);
		put_int(f, "gpu", (int64_t)use[i].gpu);
		put_int(f, "ordinal", use[i].ordinal);
		put_share(f, &use[i].share);
		put_meter(f, &use[i].meter);
		put_int(f, "idle_ns", use[i].idle_ns);
		put_int(f, "lag_ns", use[i].lag_ns);
		put_known(f, "unsaved_ns", use[i].unsaved_ns, use[i].unsaved_ns >= 0);
		put_known(f, "quiet_ns", now_ns - s->seen_ns,
			  s->pulses && use[i].gap != LIVE_GAP_ENDED &&
				  use[i].gap != LIVE_GAP_KILLED);
		putc('}', f);
	}
	putc(']', f);
	put_int(f, "uses_left_out", left);
	free(use);
}

struct fired { /* the last ones, the last to fire first */
	struct live_fired last[ALERTS_MAX];
	size_t count;
};

static void keep_last_alerts(void *arg, const struct live_fired *f)
{
	struct fired *all = arg;
	size_t at = 0;

	if (f->ended)
		return;
	while (at < all->count && all->last[at].t_unix_ns > f->t_unix_ns)
		at++;
	if (at == ALERTS_MAX)
		return;
	if (all->count < ALERTS_MAX)
		all->count++;
	memmove(&all->last[at + 1], &all->last[at], (all->count - at - 1) * sizeof(*f));
	all->last[at] = *f;
}

static void put_alerts(FILE *f, const struct coll_run *run)
{
	struct fired *all = calloc(1, sizeof(*all));
	char words[LIVE_WORDS_BYTES];

	if (all && !run->of_store)
		live_alerts_each_anywhere(run->dir, keep_last_alerts, all);
	for (size_t i = 0; all && i < run->alerts; i++)
		keep_last_alerts(all, &run->alert[i]);
	fputs(",\"alerts\":[", f);
	for (size_t i = 0; all && i < all->count; i++) {
		const struct live_fired *one = &all->last[i];

		fputs(i ? ",{" : "{", f);
		put_text(f, "by", one->by);
		putc(',', f);
		put_text(f, "condition", one->condition);
		putc(',', f);
		put_text(f, "text", live_fired_words(words, one));
		put_int(f, "t_unix_ns", one->t_unix_ns);
		if (one->budget_pct)
			put_int(f, "budget_pct", one->budget_pct);
		putc('}', f);
	}
	putc(']', f);
	free(all);
}

/*
 * How the command ended, as its wrapper wrote it into run.json; null: it goes on, or nobody knows.
 */
static void put_exit(FILE *f, const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct coll_run_json run;
	int64_t status = 0;
	bool known;

	coll_run_json_read(&run, fd);
	known = coll_run_json_number(&run, "exit_status", &status);
	coll_run_json_fini(&run);
	if (fd >= 0)
		close(fd);
	put_known(f, "exit_status", status, known);
}

static void begin(FILE *f)
{
	fputs("{\"schema\":\"" SCHEMA "\"", f);
	put_int(f, "t_unix_ns", coll_clock_ns(CLOCK_REALTIME));
}

static void put_run(FILE *f, struct coll_http_request *r, const void *arg)
{
	const struct coll_run *run = arg;
	int64_t now_ns = coll_now_ns();
	struct live_totals t;

	(void)r;
	begin(f);
	if (!run->of_store)
		look_for_ends(&run->live, run->dir);
	live_run_totals(&run->live, now_ns, &t);
	putc(',', f);
	put_text(f, "run", run->id);
	put_int(f, "heard_ns_ago", now_ns - run->heard_ns);
	put_totals(f, &t);
	put_devices(f, &run->live, now_ns);
	put_uses(f, &run->live, now_ns);
	if (run->of_store)
		put_known(f, "exit_status", 0, false);
	else
		put_exit(f, run->dir);
	put_alerts(f, run);
	fputs("}\n", f);
}

static void run_end(struct coll_http_request *r)
{
	struct coll_run *run = NULL;
	char dir[PATH_MAX];

	/* The team's own folder: another team's run of that name is not there. */
	if (snprintf(dir, sizeof(dir), "%s/%s.gst", coll_team_base(r->team), r->param[0]) <
	    (int)sizeof(dir))
		run = coll_runs_find(r->parts->runs, dir);
	if (run)
		coll_http_answer_written(r, TYPE, put_run, run);
	else
		coll_http_text(r, 404, "no such run is going on\n");
}

static void put_list(FILE *f, struct coll_http_request *r, const void *arg)
{
	const struct coll_run *run = NULL;
	const char *comma = "";

	(void)arg;
	begin(f);
	fputs(",\"runs\":[", f);
	while ((run = coll_runs_next(r->parts->runs, run))) {
		if (!coll_team_has(r->team, run->dir))
			continue;
		fprintf(f, "%s{", comma);
		put_text(f, "run", run->id);
		put_int(f, "heard_ns_ago", coll_now_ns() - run->heard_ns);
		put_int(f, "gpus", (int64_t)run->totals.gpus);
		put_int(f, "alive", (int64_t)run->totals.alive);
		put_share(f, &run->totals.now);
		putc('}', f);
		comma = ",";
	}
	fputs("]}\n", f);
}

static void list_end(struct coll_http_request *r)
{
	coll_http_answer_written(r, TYPE, put_list, NULL);
}

const struct coll_route coll_route_live_list = {
	.method = "GET",
	.pattern = "/v1/live",
	.scope = COLL_SCOPE_READ,
	.end = list_end,
};

const struct coll_route coll_route_live = {
	.method = "GET",
	.pattern = "/v1/runs/*/live",
	.scope = COLL_SCOPE_READ,
	.end = run_end,
};
