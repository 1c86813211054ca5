/* SPDX-License-Identifier: Apache-2.0 */
/* One source per run, one snapshot of each. */
#include "stop.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "base/minmax.h"
#include "cost/amount.h"
#include "job/ask.h"
#include "run/serving.h"
#include "source.h"
#include "summary/analyse.h"
#include "trace/newest.h"
#include "trace/runjson.h"

/* A trace that can be read at once has a grade, and tells what kind of run it is so far. */
static void judge(struct top_stop *f, const char *dir, const struct view_rate_options *rates)
{
	struct view_analysis a = { .window = ANA_WINDOW_JOB,
				   .rates = *rates,
				   .quiet_when_empty = true };
	struct view_summary *s = NULL;

	if (!view_small_trace(dir) || view_analyse(dir, &a, &s))
		return;
	if (s->saves)
		f->grade = (char)base_max(f->grade, s->saves->grade);
	f->serving += view_kind_serves(s->kind.kind);
	view_summary_free(s);
}

/* A state that is too small to be a training's is not relied on. */
static void add_sure(struct top_stop *f, const struct live_totals *t)
{
	bool small = t->small != LIVE_SMALL_NOT;

	if (small) {
		f->small = t->small;
		f->small_bytes = t->saved_bytes;
	}
	f->sure_ns += small ? t->sure_ns : t->unsaved_ns;
	f->sure_most_ns = base_max(f->sure_most_ns, small ? t->sure_for_ns : t->unsaved_for_ns);
	f->sure_nano_usd += small ? t->sure_nano_usd : t->unsaved_nano_usd;
}

static struct top_stop_gpu *gpu_of(struct top_stop *f, const char *uuid)
{
	for (size_t i = 0; i < f->gpus; i++)
		if (!strcmp(f->gpu[i].uuid, uuid))
			return &f->gpu[i];
	return NULL;
}

static bool seen_before(const struct top_snapshot *l, size_t row)
{
	for (size_t i = 0; i < row; i++)
		if (!strcmp(l->row[i].uuid, l->row[row].uuid))
			return true;
	return false;
}

/* An hour of a GPU that two runs have is lost once. */
static void take_back(struct top_stop *f, const struct top_row *row, int64_t ns, bool small)
{
	int64_t usd = row->priced ? view_cost_amount(row->nano_usd_per_hour, ns) : 0;

	f->ns -= base_min(ns, f->ns);
	f->nano_usd -= base_min(usd, f->nano_usd);
	if (small)
		return; /* what is lost without it is not known of each GPU: more is told */
	f->sure_ns -= base_min(ns, f->sure_ns);
	f->sure_nano_usd -= base_min(usd, f->sure_nano_usd);
}

static void add_gpus(struct top_stop *f, const struct top_snapshot *l)
{
	for (size_t i = 0; i < l->rows; i++) {
		const struct top_row *row = &l->row[i];
		struct top_stop_gpu *g;

		if (!row->uuid[0] || row->unsaved_ns < 0 || seen_before(l, i))
			continue;
		g = gpu_of(f, row->uuid);
		if (g) {
			take_back(f, row, base_min(g->ns, row->unsaved_ns), l->totals.small);
			g->ns = base_max(g->ns, row->unsaved_ns);
		} else if (f->gpus < TOP_STOP_GPUS_MAX) {
			g = &f->gpu[f->gpus++];
			snprintf(g->uuid, sizeof(g->uuid), "%s", row->uuid);
			g->ns = row->unsaved_ns;
		}
	}
}

static void add_run(struct top_stop *f, const struct top_snapshot *l)
{
	const struct live_totals *t = &l->totals;

	if (l->over || !t->alive)
		return;
	f->priced = t->priced && (!f->on || f->priced);
	f->on++;
	f->saving |= t->saving;
	if (t->unsaved_ns < 0) {
		f->untold++;
		return;
	}
	f->unsaved |= !t->saved;
	f->saved_bytes = t->saved_bytes;
	if (t->unsure) {
		f->unsure = true;
		f->deleted = t->deleted;
		f->unmoved = t->unmoved;
		f->unsure_bytes = t->unsure_bytes;
		f->unsure_for_ns = t->unsure_for_ns;
	}
	f->ns += t->unsaved_ns;
	f->most_ns = base_max(f->most_ns, t->unsaved_for_ns);
	f->nano_usd += t->unsaved_nano_usd;
	add_sure(f, t);
	add_gpus(f, l);
}

/* False: it cannot be looked at, which was said. */
static bool look_at_trace(struct top_stop *f, const char *what, const struct top_stop_options *o)
{
	struct top_source_options options = {
		.what = what, .token_file = o->token_file, .ca_file = o->ca_file, .rates = o->rates
	};
	struct top_source *s = top_source_open(&options);
	struct top_snapshot l = { 0 };
	bool ok = s && !s->fetch(s, &l);
	size_t on = f->on;

	if (ok)
		add_run(f, &l);
	if (s && f->on > on && !strstr(what, "://"))
		judge(f, what, &o->rates);
	top_snapshot_fini(&l);
	if (s)
		s->free(s);
	return ok;
}

/* No process of it has come to a GPU yet; or a collector has its trace, and keeps it elsewhere. */
static bool is_untraced(const char *what)
{
	char path[PATH_MAX];
	struct stat st;

	return !strstr(what, "://") && view_last_written(what) < 0 &&
	       snprintf(path, sizeof(path), "%s/run.json", what) < (int)sizeof(path) &&
	       !stat(path, &st);
}

static bool look(struct top_stop *f, const char *what, const struct top_stop_options *o)
{
	if (is_untraced(what)) {
		f->untraced += view_run_exit_read(what) < 0;
		return true;
	}
	return look_at_trace(f, what, o);
}

static bool look_at_job(struct top_stop *f, const char *id, const struct top_stop_options *o)
{
	struct view_jobs jobs;
	struct view_job *job = view_job_or_say(&jobs, o->dir, id, o->cluster);
	bool ok = job != NULL;

	for (size_t i = 0; ok && i < job->runs; i++)
		ok = look(f, job->run[i], o);
	view_jobs_fini(&jobs);
	return ok;
}

static bool is_folder(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

bool top_stop_look(struct top_stop *f, const char *id, const struct top_stop_options *o)
{
	char path[PATH_MAX];

	if (strstr(id, "://") || (strchr(id, '/') && is_folder(id)))
		return look(f, id, o);
	if (!strchr(id, '/') &&
	    snprintf(path, sizeof(path), "%s/%s.gst", view_job_out(o->dir), id) <
		    (int)sizeof(path) &&
	    is_folder(path))
		return look(f, path, o);
	return look_at_job(f, id, o);
}
