/* SPDX-License-Identifier: Apache-2.0 */
#include "job_show.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "cmd.h"
#include "core/confine.h"
#include "core/local.h"
#include "core/log.h"
#include "analysis/plan/vacancy.h"
#include "base/units.h"
#include "findings/unused.h"
#include "job/ask.h"
#include "summary/analyse.h"

#define COMMENT_BYTES 250
#define CENT 10000000 /* nano-dollars */
#define NS_PER_HOUR 3600000000000LL

struct line {
	char text[COMMENT_BYTES];
	size_t len;
};

/* A name and its value, if there is room for both. */
static void add(struct line *l, const char *name, const char *value)
{
	size_t left = sizeof(l->text) - l->len;
	int n = snprintf(l->text + l->len, left, " %s=%s", name, value);

	if (n < 0 || (size_t)n >= left)
		l->text[l->len] = '\0';
	else
		l->len += (size_t)n;
}

/* A word that survives lower-casing and quoting: others become a minus. */
static void add_word(struct line *l, const char *name, const char *value)
{
	char word[64];
	size_t n = 0;

	for (; *value && n + 1 < sizeof(word); value++) {
		char c = *value >= 'A' && *value <= 'Z' ? (char)(*value | 32) : *value;

		word[n++] = strchr("abcdefghijklmnopqrstuvwxyz0123456789._-", c) ? c : '-';
	}
	word[n] = '\0';
	add(l, name, word);
}

static void add_count(struct line *l, const char *name, uint64_t v)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%" PRIu64, v);
	add(l, name, digits);
}

static void add_usd(struct line *l, const char *name, int64_t nano)
{
	int64_t cents = base_div_even(nano, CENT);
	char digits[32];

	snprintf(digits, sizeof(digits), "%" PRId64 ".%02" PRId64, cents / 100, cents % 100);
	add(l, name, digits);
}

/* Dollars only with who says so and when. */
static void add_money(struct line *l, const struct view_summary *s)
{
	const struct view_cost *c = &s->cost;

	if (!c->known || !c->gpus)
		return;
	add_usd(l, "usd", c->total);
	add_usd(l, "wasted_usd", c->wasted);
	add_word(l, "price_source", c->rate[0].source);
	add_word(l, "price_date", c->rate[0].date);
}

/* Two decimals, as schedulers account; all digits where these would tell of nothing. */
static void add_hours(struct line *l, const char *name, int64_t ns)
{
	int64_t hundredths = base_div_even((__int128)ns * 100, NS_PER_HOUR);
	base_unit unit;

	if (hundredths)
		snprintf(unit, sizeof(unit), "%" PRId64 ".%02" PRId64, hundredths / 100,
			 hundredths % 100);
	else
		base_hours_exact(unit, ns);
	add(l, name, unit);
}

/* GPU-hours in which nobody used what the job had, and what of that lay between runs. */
static void add_vacancy(struct line *l, const struct ana_vacancy *v)
{
	int64_t all = ana_vacancy_ns(v);

	if (all)
		add_hours(l, "no_process_hours", all);
	if (v->ns[ANA_VACANT_BETWEEN])
		add_hours(l, "between_hours", v->ns[ANA_VACANT_BETWEEN]);
}

static void write_comment(struct line *l, const struct view_summary *s)
{
	const struct ana_result *r = s->result;
	struct view_unused unused = view_unused_gpus(s);
	const char *severity = ana_severity_names[r->judgement.severity];
	base_unit unit;

	l->len = (size_t)snprintf(l->text, sizeof(l->text), "gpustarve");
	add(l, "verdict", ana_verdict_names[r->judgement.verdict]);
	if (severity)
		add(l, "severity", severity);
	add(l, "starved_pct", base_percent(unit, base_ppm(s->starved_ns, r->gpu_ns)));
	add(l, "wasted_pct", base_percent(unit, base_ppm(s->wasted_ns, r->gpu_ns)));
	add_count(l, "gpus", r->gpus);
	if (unused.no_process)
		add_count(l, "unused_gpus", unused.no_process);
	if (unused.no_work)
		add_count(l, "idle_gpus", unused.no_work);
	add_hours(l, "gpu_hours", r->gpu_ns);
	if (r->attempts > 1)
		add_count(l, "restarts", r->attempts - 1);
	add_money(l, s);
	add_vacancy(l, &r->vacancy);
}

int view_job_comment(const char *id, const struct view_job_choice *o)
{
	const char *const out = view_job_out(o->dir);
	const struct view_confine only = { .read = &out, .reads = 1 };
	struct view_analysis a = { .rates = o->rates };
	struct view_jobs jobs;
	struct view_summary *s = NULL;
	struct view_job *job;
	struct line l = { .len = 0 };
	int status = VIEW_EXIT_ERROR;

	if (!view_local_files())
		view_confine(&only);
	job = view_job_or_say(&jobs, o->dir, id, o->cluster);
	a.job = job;
	if (job && !view_analyse(id, &a, &s)) {
		write_comment(&l, s);
		puts(l.text);
		view_summary_free(s);
		status = VIEW_EXIT_OK;
	}
	view_jobs_fini(&jobs);
	return status;
}

/* Of a text that somebody else wrote: nothing that moves a cursor, no column broken. */
static const char *plain(struct base_arena *mem, const char *text)
{
	char *copy = base_arena_text(mem, text && *text ? text : "-");

	for (char *p = copy; *p; p++)
		if (*p <= ' ' || *p > '~')
			*p = '?';
	return copy;
}

struct totals {
	size_t nodes, gpus;
	int64_t first, last, restart;
	bool open;
};

/* Over its allocations; a node counts once, its GPUs as often as they were given at once. */
static struct totals sum_up(const struct view_job *job)
{
	struct totals t = { .first = INT64_MAX };

	for (size_t i = 0; i < job->allocs; i++) {
		const struct view_alloc *a = &job->alloc[i];
		bool again = i && !strcmp(a->node, job->alloc[i - 1].node);

		t.nodes += !again;
		t.gpus += again ? 0 : a->gpus;
		t.first = a->start_ns < t.first ? a->start_ns : t.first;
		t.last = a->end_ns > t.last ? a->end_ns : t.last;
		t.open |= !a->ended;
		if (a->id.number[VIEW_JOB_RESTART] > t.restart)
			t.restart = a->id.number[VIEW_JOB_RESTART];
	}
	if (!job->allocs && job->id.number[VIEW_JOB_RESTART] > 0)
		t.restart = job->id.number[VIEW_JOB_RESTART];
	return t;
}

static void list_job(struct view_jobs *j, const struct view_job *job)
{
	const int64_t *n = job->id.number;
	struct totals t = sum_up(job);
	char name[48];
	base_unit when;

	if (n[VIEW_JOB_ARRAY] >= 0 && n[VIEW_JOB_ARRAY_TASK] >= 0)
		snprintf(name, sizeof(name), "%" PRId64 "_%" PRId64, n[VIEW_JOB_ARRAY],
			 n[VIEW_JOB_ARRAY_TASK]);
	else
		snprintf(name, sizeof(name), "%" PRId64, n[VIEW_JOB_ID]);
	printf("%-14s %-12s %-12s %4zu %8" PRId64 " %5zu %5zu  %-23s %s\n", name,
	       plain(&j->mem, job->id.text[VIEW_JOB_CLUSTER]),
	       plain(&j->mem, job->id.text[VIEW_JOB_USER]), job->runs, t.restart, t.nodes, t.gpus,
	       job->allocs ? base_moment(when, t.first) : "-",
	       !job->allocs ? "-"
	       : t.open	    ? "open"
			    : "ended");
}

int view_job_list(const struct view_job_choice *o)
{
	const char *out = view_job_out(o->dir);
	struct view_jobs jobs;
	int err = view_jobs_find(&jobs, out, -1, VIEW_JOB_THOROUGH);

	if (err)
		view_error("%s: %s; name the folder of the runs with --dir", out, strerror(-err));
	else
		printf("%-14s %-12s %-12s %4s %8s %5s %5s  %-23s %s\n", "JOB", "CLUSTER", "USER",
		       "RUNS", "RESTARTS", "NODES", "GPUS", "BEGAN", "STATE");
	for (size_t i = 0; !err && i < jobs.jobs; i++)
		if (!o->cluster || !strcmp(o->cluster, jobs.job[i].id.text[VIEW_JOB_CLUSTER]))
			list_job(&jobs, &jobs.job[i]);
	view_jobs_fini(&jobs);
	return err ? VIEW_EXIT_ERROR : VIEW_EXIT_OK;
}
