/* SPDX-License-Identifier: Apache-2.0 */
/* Time in which nobody used what jobs had, as text, JSON, CSV and page: users, then jobs. */
#include <inttypes.h>
#include <string.h>
#include "base/csv.h"
#include "base/jsonout.h"
#include "base/units.h"
#include "bill.h"
#include "by_job.h"
#include "core/wrap.h"
#include "page.h"

#define COLUMNS (1 + ANA_VACANTS) /* all of it, then its parts */

static const char *const heads[ANA_VACANTS] = { "before", "between", "after", "never", "unknown" };

/* In dollars; in time where nothing has a price. */
static bool in_dollars(const struct fleet *f)
{
	return f->vacant.total.unpriced_ns < f->vacant.total.held_ns;
}

/* Rows of a table: their dollars as they are shown close, downwards and across. */
struct rows {
	const struct fleet *f;
	const struct fleet_table *t;
	const int64_t *whole; /* quanta of each row */
};

static struct rows rows_of(const struct fleet *f, const struct fleet_table *t,
			   struct base_arena *mem)
{
	int64_t quantum = fleet_money_scale(f).quantum;
	base_wide all = fleet_vacant_usd(&f->vacant.total);

	return (struct rows){ f, t, fleet_table_quanta(t, FLEET_USD, all, quantum, mem) };
}

static const char *time_cell(const struct rows *r, char *out, const struct fleet_vacant *v, int c)
{
	return fleet_hours(r->f, out, c ? v->ns[c - 1] : fleet_vacant_ns(v));
}

static const char *usd_cell(const struct rows *r, char *out, size_t row, int c)
{
	const struct fleet_vacant *v = r->t->group[row].vacant;
	int64_t quanta[ANA_VACANTS];

	if (v->unpriced_ns >= v->held_ns)
		return "-";
	if (!c)
		return fleet_usd_closed(r->f, out, fleet_vacant_usd(v), r->whole[row]);
	fleet_close(v->usd, ANA_VACANTS, r->whole[row], fleet_money_scale(r->f).quantum, quanta);
	return fleet_usd_closed(r->f, out, v->usd[c - 1], quanta[c - 1]);
}

static const char *cell(const struct rows *r, char *out, size_t row, int column)
{
	return in_dollars(r->f) ? usd_cell(r, out, row, column)
				: time_cell(r, out, r->t->group[row].vacant, column);
}

/* "; 3 gaps between runs, the longest 41 min" */
static const char *gap_words(const struct fleet_vacant *v, struct base_arena *mem)
{
	base_unit count, longest;
	int64_t ns = (int64_t)base_min(v->longest_ns, (base_wide)INT64_MAX);

	if (!v->gaps)
		return "";
	return base_arena_printf(mem, "; %s %s between runs, the longest %s",
				 base_count(count, (uint64_t)v->gaps),
				 v->gaps == 1 ? "gap" : "gaps", base_duration(longest, ns));
}

const char *fleet_vacant_words(const struct fleet *f, struct base_arena *mem)
{
	const struct fleet_vacant *v = &f->vacant.total;
	base_wide silent = f->begun.m[FLEET_HELD_NS] - v->held_ns;
	base_unit jobs, time, usd, part;
	const char *t;

	if (!v->runs)
		return "no job tells when its GPUs were unused: nothing wrote down what it was "
		       "given (gpustarve job begin), its own digest is not here, or an older "
		       "version made it";
	t = base_arena_printf(mem, "%s %s had GPUs that no process used for %s",
			      base_count(jobs, (uint64_t)v->runs), v->runs == 1 ? "job" : "jobs",
			      fleet_gpu_time(f, time, fleet_vacant_ns(v)));
	if (in_dollars(f))
		t = base_arena_printf(mem, "%s (%s)", t, fleet_usd(f, usd, fleet_vacant_usd(v)));
	t = base_arena_printf(mem, "%s, %s %% of what %s held%s", t,
			      base_percent(part, base_ppm(fleet_vacant_ns(v), v->held_ns)),
			      v->runs == 1 ? "it" : "they", gap_words(v, mem));
	if (v->unseen_ns)
		t = base_arena_printf(mem,
				      "%s; for %s more it is not known whether anybody did: tasks "
				      "were not recorded",
				      t, fleet_gpu_time(f, time, v->unseen_ns));
	if (silent > 0)
		t = base_arena_printf(mem,
				      "%s; for another %s nothing tells what their jobs were given",
				      t, fleet_gpu_time(f, time, silent));
	return t;
}

/* --- text --- */

static void text_head(const struct fleet *f, FILE *out, const char *name)
{
	fprintf(out, "\n  %10s", in_dollars(f) ? "unused" : fleet_time_name(f));
	for (int p = 0; p < ANA_VACANTS; p++)
		fprintf(out, " %10s", heads[p]);
	fprintf(out, " %6s  %s\n", "jobs", name);
}

static void text_row(const struct rows *r, FILE *out, size_t row, const char *name)
{
	base_unit text;

	fputs("  ", out);
	for (int c = 0; c < COLUMNS; c++) {
		const char *t = cell(r, text, row, c);

		fprintf(out, "%*s ", base_width(t, 10), t);
	}
	fprintf(out, "%6s  ", base_count(text, (uint64_t)r->t->group[row].vacant->runs));
	view_put_tame(out, name);
	fputc('\n', out);
}

static void text_table(const struct fleet *f, FILE *out, const struct fleet_table *t, bool jobs,
		       struct base_arena *mem)
{
	struct rows r = rows_of(f, t, mem);
	size_t n = fleet_table_shown(f, t);
	base_unit more;

	if (!n)
		return;
	text_head(f, out, jobs ? "job" : "user");
	for (size_t i = 0; i < n; i++)
		text_row(&r, out, i, fleet_job_name(&t->group[i], jobs, mem));
	if (t->groups > n)
		fprintf(out, "  and %s more: --top N\n", base_count(more, t->groups - n));
}

void fleet_vacant_text(const struct fleet *f, FILE *out)
{
	struct base_arena mem = { 0 };

	fputs("  ", out);
	view_wrap(out, 2, 2, fleet_vacant_words(f, &mem));
	text_table(f, out, &f->vacant.users, false, &mem);
	text_table(f, out, &f->vacant.jobs, true, &mem);
	base_arena_fini(&mem);
}

/* --- JSON --- */

static struct fleet_parts parts_of(const struct fleet_vacant *v)
{
	return (struct fleet_parts){ ana_vacant_names, ANA_VACANTS, v->ns, v->usd };
}

static void json_vacant(struct base_jsonout *j, const struct fleet_vacant *v)
{
	const struct fleet_parts parts = parts_of(v);

	base_json_wide(j, "runs", v->runs);
	base_json_wide(j, "held_ns", v->held_ns);
	base_json_wide(j, "unpriced_ns", v->unpriced_ns);
	base_json_wide(j, "gaps", v->gaps);
	base_json_wide(j, "longest_ns", v->longest_ns);
	base_json_wide(j, "unseen_ns", v->unseen_ns);
	fleet_json_parts(j, &parts);
}

static void json_group(struct base_jsonout *j, const struct fleet_group *g)
{
	json_vacant(j, g->vacant);
}

void fleet_vacant_json(const struct fleet *f, struct base_jsonout *j)
{
	base_json_object(j, "unused");
	json_vacant(j, &f->vacant.total);
	fleet_json_jobs(j, &f->vacant.users, &f->vacant.jobs, json_group);
	base_json_end(j);
}

/* --- CSV: the jobs --- */

static void csv_row(FILE *out, const struct fleet_group *g)
{
	const struct fleet_vacant *v = g->vacant;
	const base_wide n[] = { v->runs, v->held_ns, v->gaps, v->longest_ns, v->unseen_ns };
	const struct fleet_parts parts = parts_of(v);
	base_unit text;

	fleet_csv_job(out, g);
	for (size_t i = 0; i < sizeof(n) / sizeof(n[0]); i++)
		fprintf(out, ",%s", base_wide_text(text, n[i]));
	fleet_csv_parts(out, &parts);
}

void fleet_vacant_csv(const struct fleet *f, FILE *out)
{
	const struct fleet_parts parts = parts_of(&f->vacant.total);

	fputs(FLEET_CSV_JOB_HEAD ",runs,held_ns,gaps,longest_ns,unseen_ns", out);
	fleet_csv_parts_head(out, &parts);
	for (size_t i = 0; i < f->vacant.jobs.groups; i++)
		csv_row(out, &f->vacant.jobs.group[i]);
}

/* --- page --- */

static void page_table(struct fleet_page *s, const struct fleet_table *t, bool jobs)
{
	const char *what = in_dollars(s->f) ? "" : fleet_time_name(s->f);
	struct rows r = rows_of(s->f, t, &s->mem);
	size_t n = fleet_table_shown(s->f, t);
	base_unit text;

	if (!n)
		return;
	fleet_page_table(s, jobs ? "unused-jobs" : "unused-users",
			 base_arena_printf(&s->mem, "%s, by %s%s%s", fleet_title(FLEET_BY_UNUSED),
					   jobs ? "job" : "user", what[0] ? ", in " : "", what),
			 T("Name") N("Unused") N("Before the first run") N("Between runs")
				 N("After the last") N("Never used") N("Unknown") N("Gaps")
					 N("Jobs"));
	for (size_t i = 0; i < n; i++) {
		const struct fleet_group *g = &t->group[i];

		fleet_page_named(s, fleet_job_name(g, jobs, &s->mem));
		for (int c = 0; c < COLUMNS; c++)
			fleet_page_number(s, cell(&r, text, i, c));
		fleet_page_number(s, base_count(text, (uint64_t)g->vacant->gaps));
		fleet_page_number(s, base_count(text, (uint64_t)g->vacant->runs));
		fputs("</tr>\n", s->out);
	}
	fleet_page_table_end(s, t->groups, n);
}

void fleet_page_vacant(struct fleet_page *s)
{
	fputs("<section aria-label=\"When nobody used what jobs had\"><p>", s->out);
	html_escape_sentence(s->out, fleet_vacant_words(s->f, &s->mem));
	fputs("</p></section>\n", s->out);
	page_table(s, &s->f->vacant.users, false);
	page_table(s, &s->f->vacant.jobs, true);
}
