/* SPDX-License-Identifier: Apache-2.0 */
/* What kills threw away, as text, JSON, CSV and page: users, then jobs, most first. */
#include <inttypes.h>
#include <string.h>
#include "base/csv.h"
#include "base/jsonout.h"
#include "base/units.h"
#include "by_job.h"
#include "core/wrap.h"
#include "page.h"

#define COLUMNS 5 /* thrown away, then the parts of it and of what may follow */
#define WIDTH(column) ((column) ? 12 : 16) /* "at least $283.46" */

static const enum saves_part shown[] = { SAVES_LOST, SAVES_REDONE, SAVES_UNKNOWN, SAVES_UNSAVED };

/* In dollars; in time where nothing has a price. */
static bool in_dollars(const struct fleet *f)
{
	return f->lost.total.unpriced_ns < f->lost.total.held_ns;
}

static const char *amount(const struct fleet *f, char *out, const struct fleet_lost *l,
			  base_wide ns, base_wide usd)
{
	if (!in_dollars(f))
		return fleet_hours(f, out, ns);
	return l->unpriced_ns < l->held_ns ? fleet_usd(f, out, usd) : "-";
}

/*
 * Of a run that broke off 0 would be a lie. What is lost is a bound (LEDGER 9), so that with it
 * nothing holds "at least".
 */
static const char *thrown_away(const struct fleet *f, char *out, const struct fleet_lost *l)
{
	base_unit text;
	const char *sure = amount(f, text, l, fleet_lost_ns(l), fleet_lost_usd(l));

	if (l->undecided_ns && (l->ns[SAVES_LOST] > 0 || !fleet_lost_ns(l)))
		return "not known";
	snprintf(out, sizeof(base_unit), "%s%s", l->undecided_ns && sure == text ? "at least " : "",
		 sure);
	return out;
}

static const char *cell(const struct fleet *f, char *out, const struct fleet_lost *l, int column)
{
	enum saves_part part;

	if (!column)
		return thrown_away(f, out, l);
	part = shown[column - 1];
	return amount(f, out, l, l->ns[part], l->usd[part]);
}

/* "3 kills", "1 failure", "3 kills and 1 failure". */
static const char *broke_words(const struct fleet_lost *l, struct base_arena *mem)
{
	base_unit text;
	const char *kills = base_arena_printf(mem, "%s %s", base_count(text, (uint64_t)l->kills),
					      l->kills == 1 ? "kill" : "kills");
	const char *failures =
		base_arena_printf(mem, "%s %s", base_count(text, (uint64_t)l->failures),
				  l->failures == 1 ? "failure" : "failures");

	if (!l->kills || !l->failures)
		return l->failures ? failures : kills;
	return base_arena_printf(mem, "%s and %s", kills, failures);
}

/* "41.20 GPU-hours ($283.46)" */
static const char *amount_words(const struct fleet *f, base_wide ns, base_wide nano_usd,
				struct base_arena *mem)
{
	base_unit time, usd;

	fleet_gpu_time(f, time, ns);
	if (!in_dollars(f))
		return base_arena_printf(mem, "%s", time);
	return base_arena_printf(mem, "%s (%s)", time, fleet_usd(f, usd, nano_usd));
}

/* "8.1 % of what 4 runs held that tell of saves" */
static const char *share_words(const struct fleet_lost *l, base_wide ns, struct base_arena *mem)
{
	base_unit runs, part;

	return base_arena_printf(mem, "%s %% of what %s held that %s of saves",
				 base_percent(part, base_ppm(ns, l->held_ns)),
				 fleet_runs_of(runs, (uint64_t)l->runs),
				 l->runs == 1 ? "tells" : "tell");
}

/* A small file, or one from memory, may have been a save that nobody saw. */
static const char *bound_words(const struct fleet_lost *l)
{
	if (l->ns[SAVES_LOST] > 0)
		return "up to ";
	return l->undecided_ns ? "at least " : "";
}

static const char *sure_words(const struct fleet *f, struct base_arena *mem)
{
	const struct fleet_lost *l = &f->lost.total;

	return base_arena_printf(mem, "%s threw away %s%s, %s", broke_words(l, mem), bound_words(l),
				 amount_words(f, fleet_lost_ns(l), fleet_lost_usd(l), mem),
				 share_words(l, fleet_lost_ns(l), mem));
}

/* What is not known of it is never told as nothing. */
static const char *thrown_words(const struct fleet *f, struct base_arena *mem)
{
	const struct fleet_lost *l = &f->lost.total;
	const char *undecided;

	if (!l->undecided_ns)
		return sure_words(f, mem);
	undecided = amount_words(f, l->undecided_ns, l->undecided_usd, mem);
	if (fleet_lost_ns(l))
		return base_arena_printf(mem, "%s; whether another %s, too, is not known",
					 sure_words(f, mem), undecided);
	return base_arena_printf(mem, "whether %s threw away %s, %s, is not known",
				 broke_words(l, mem), undecided,
				 share_words(l, l->undecided_ns, mem));
}

static const char *told_words(const struct fleet *f, base_wide silent, struct base_arena *mem)
{
	base_unit runs;

	if (!f->lost.total.runs)
		return "no run tells of its saves: they were too short, saved nothing, or were "
		       "digested by an older version";
	if (silent <= 0)
		return thrown_words(f, mem);
	return base_arena_printf(mem, "%s; of %s nothing is known", thrown_words(f, mem),
				 fleet_runs_of(runs, (uint64_t)silent));
}

const char *fleet_lost_words(const struct fleet *f, struct base_arena *mem)
{
	base_wide serving = f->lost.serving, runs = f->lost.total.runs;
	base_wide silent = f->begun.m[FLEET_RUNS] - runs - serving;
	base_unit text;
	const char *served;

	if (!serving)
		return told_words(f, silent, mem);
	served = base_arena_printf(mem, "%s %s inference, " VIEW_SERVING_WORDS,
				   fleet_runs_of(text, (uint64_t)serving),
				   serving == 1 ? "is" : "are");
	if (!runs && silent <= 0)
		return served;
	return base_arena_printf(mem, "%s; %s", told_words(f, silent, mem), served);
}

/* --- text --- */

static void text_head(const struct fleet *f, FILE *out, const char *name)
{
	fprintf(out, "\n  %*s %12s %12s %12s %12s %5s %6s %6s  %s\n", WIDTH(0),
		in_dollars(f) ? "thrown away" : fleet_time_name(f), "lost", "redone", "unknown",
		"unsaved", "kills", "failed", "runs", name);
}

static void text_row(const struct fleet *f, FILE *out, const struct fleet_lost *l, const char *name)
{
	base_unit text;

	fputs("  ", out);
	for (int c = 0; c < COLUMNS; c++) {
		const char *t = cell(f, text, l, c);

		fprintf(out, "%*s ", base_width(t, WIDTH(c)), t);
	}
	fprintf(out, "%5s ", base_count(text, (uint64_t)l->kills));
	fprintf(out, "%6s ", base_count(text, (uint64_t)l->failures));
	fprintf(out, "%6s  ", base_count(text, (uint64_t)l->runs));
	view_put_tame(out, name);
	fputc('\n', out);
}

static void text_table(const struct fleet *f, FILE *out, const struct fleet_table *t, bool jobs,
		       struct base_arena *mem)
{
	size_t n = fleet_table_shown(f, t);
	base_unit more;

	if (!n)
		return;
	text_head(f, out, jobs ? "job or run" : "user");
	for (size_t i = 0; i < n; i++)
		text_row(f, out, t->group[i].lost, fleet_job_name(&t->group[i], jobs, mem));
	if (t->groups > n)
		fprintf(out, "  and %s more: --top N\n", base_count(more, t->groups - n));
}

void fleet_lost_text(const struct fleet *f, FILE *out)
{
	struct base_arena mem = { 0 };

	fputs("  ", out);
	view_wrap(out, 2, 2, fleet_lost_words(f, &mem));
	text_table(f, out, &f->lost.users, false, &mem);
	text_table(f, out, &f->lost.jobs, true, &mem);
	base_arena_fini(&mem);
}

/* --- JSON --- */

static struct fleet_parts parts_of(const struct fleet_lost *l)
{
	return (struct fleet_parts){ saves_part_names, FLEET_SAVES_PARTS, l->ns, l->usd };
}

static void json_lost(struct base_jsonout *j, const struct fleet_lost *l)
{
	const struct fleet_parts parts = parts_of(l);

	base_json_wide(j, "runs", l->runs);
	base_json_wide(j, "kills", l->kills);
	base_json_wide(j, "failures", l->failures);
	base_json_wide(j, "checkpoints", l->checkpoints);
	base_json_wide(j, "held_ns", l->held_ns);
	base_json_wide(j, "unpriced_ns", l->unpriced_ns);
	fleet_json_parts(j, &parts);
	base_json_wide(j, "undecided_ns", l->undecided_ns);
	base_json_usd(j, "undecided_usd", l->undecided_usd, true);
}

static void json_group(struct base_jsonout *j, const struct fleet_group *g)
{
	json_lost(j, g->lost);
}

void fleet_lost_json(const struct fleet *f, struct base_jsonout *j)
{
	base_json_object(j, "lost");
	json_lost(j, &f->lost.total);
	base_json_wide(j, "serving_runs", f->lost.serving);
	fleet_json_jobs(j, &f->lost.users, &f->lost.jobs, json_group);
	base_json_end(j);
}

/* --- CSV: the jobs --- */

static void csv_row(FILE *out, const struct fleet_group *g)
{
	const struct fleet_lost *l = g->lost;
	const struct fleet_parts parts = parts_of(l);
	base_unit text;

	fleet_csv_job(out, g);
	fprintf(out, ",%s", base_wide_text(text, l->runs));
	fprintf(out, ",%s", base_wide_text(text, l->kills));
	fprintf(out, ",%s", base_wide_text(text, l->failures));
	fprintf(out, ",%s", base_wide_text(text, l->checkpoints));
	fprintf(out, ",%s", base_wide_text(text, l->held_ns));
	fprintf(out, ",%s", base_wide_text(text, l->undecided_ns));
	fprintf(out, ",%s", base_dollars_exact(text, l->undecided_usd));
	fleet_csv_parts(out, &parts);
}

void fleet_lost_csv(const struct fleet *f, FILE *out)
{
	const struct fleet_parts parts = parts_of(&f->lost.total);

	fputs(FLEET_CSV_JOB_HEAD
	      ",runs,kills,failures,checkpoints,held_ns,undecided_ns,undecided_usd",
	      out);
	fleet_csv_parts_head(out, &parts);
	for (size_t i = 0; i < f->lost.jobs.groups; i++)
		csv_row(out, &f->lost.jobs.group[i]);
}

/* --- page --- */

static void page_table(struct fleet_page *s, const struct fleet_table *t, bool jobs)
{
	const char *what = in_dollars(s->f) ? "" : fleet_time_name(s->f);
	size_t n = fleet_table_shown(s->f, t);
	base_unit text;

	if (!n)
		return;
	fleet_page_table(s, jobs ? "lost-jobs" : "lost-users",
			 base_arena_printf(&s->mem, "%s, by %s%s%s", fleet_title(FLEET_BY_LOST),
					   jobs ? "job" : "user", what[0] ? ", in " : "", what),
			 T("Name") N("Thrown away") N("Lost") N("Redone") N("Unknown") N("Unsaved")
				 N("Kills") N("Failed") N("Runs"));
	for (size_t i = 0; i < n; i++) {
		const struct fleet_group *g = &t->group[i];

		fleet_page_named(s, fleet_job_name(g, jobs, &s->mem));
		for (int c = 0; c < COLUMNS; c++)
			fleet_page_number(s, cell(s->f, text, g->lost, c));
		fleet_page_number(s, base_count(text, (uint64_t)g->lost->kills));
		fleet_page_number(s, base_count(text, (uint64_t)g->lost->failures));
		fleet_page_number(s, base_count(text, (uint64_t)g->lost->runs));
		fputs("</tr>\n", s->out);
	}
	fleet_page_table_end(s, t->groups, n);
}

void fleet_page_lost(struct fleet_page *s)
{
	fputs("<section aria-label=\"What kills threw away\"><p>", s->out);
	html_escape_sentence(s->out, fleet_lost_words(s->f, &s->mem));
	fputs("</p></section>\n", s->out);
	page_table(s, &s->f->lost.users, false);
	page_table(s, &s->f->lost.jobs, true);
}
