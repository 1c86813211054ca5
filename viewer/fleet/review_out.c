/* SPDX-License-Identifier: Apache-2.0 */
/* The review as text, JSON, CSV and page: a part for each question. */
#include <inttypes.h>
#include <string.h>
#include <time.h>
#include "base/csv.h"
#include "base/jsonout.h"
#include "base/minmax.h"
#include "base/units.h"
#include "bill.h"
#include "core/wrap.h"
#include "page.h"

#define NS INT64_C(1000000000)
#define MINUTE (60 * NS)

const char *const fleet_review_titles[FLEET_REVIEW_PARTS] = {
	[FLEET_REVIEW_IDLE] = "Who held idle GPUs",
	[FLEET_REVIEW_UNRECORDED] = "What nobody recorded",
	[FLEET_REVIEW_FIXES] = "The dearest open fixes",
	[FLEET_REVIEW_TEAMS] = "The last month against the one before, by team",
	[FLEET_REVIEW_RUNS] = "The runs that wasted most",
};

static size_t shown(const struct fleet *f, size_t n)
{
	return base_min(n, f->options.top);
}

/* --- words --- */

static struct tm utc(int64_t unix_ns)
{
	time_t t = (time_t)(unix_ns / NS);
	struct tm tm = { 0 };

	gmtime_r(&t, &tm);
	return tm;
}

/* "November 2026" */
static const char *month_name(char *out, int64_t unix_ns)
{
	struct tm tm = utc(unix_ns);

	if (!strftime(out, BASE_UNIT_BYTES, "%B %Y", &tm))
		out[0] = '\0';
	return out;
}

static const char *short_month(char *out, int64_t unix_ns)
{
	struct tm tm = utc(unix_ns);

	if (!strftime(out, BASE_UNIT_BYTES, "%b %Y", &tm))
		out[0] = '\0';
	return out;
}

/* "+$3.10"; @quanta as the columns beside it have them. */
static const char *change(const struct fleet *f, char *out, int64_t last, int64_t before)
{
	int64_t by = last - before;
	base_unit digits;

	snprintf(out, BASE_UNIT_BYTES, "%s%.40s",
		 by < 0 ? "-"
		 : by	? "+"
			: "",
		 fleet_quanta(f, digits, by < 0 ? -by : by));
	return out;
}

/* "+12.5", "new" */
static const char *change_percent(char *out, base_wide last, base_wide before)
{
	base_wide by = last - before;
	base_unit digits;

	if (!before)
		return last ? "new" : "-";
	snprintf(out, BASE_UNIT_BYTES, "%s%.40s",
		 by < 0 ? "-"
		 : by	? "+"
			: "",
		 base_percent(digits, base_ppm(base_wide_size(by), before)));
	return out;
}

static const char *idle_words(const struct fleet *f, struct base_arena *mem)
{
	const base_wide *m = f->total.m;
	const struct fleet_table *t = &f->review.idle;
	base_unit usd, hours, part, most;

	if (!t->groups)
		return "no GPU was idle for a whole minute, as far as that is known";
	return base_arena_printf(
		mem,
		"%s for %s %s in minutes under 5 %% busy, %s %% of what was held; most: %s, %s",
		fleet_usd(f, usd, m[FLEET_IDLE_USD]),
		fleet_hours_of_minutes(f, hours, m[FLEET_MINUTES_IDLE]), fleet_time_name(f),
		base_percent(part, base_ppm(m[FLEET_MINUTES_IDLE] * MINUTE, m[FLEET_HELD_NS])),
		fleet_shown(t->group[0].key[0]),
		fleet_usd(f, most, t->group[0].sums.m[FLEET_IDLE_USD]));
}

/* Of the account that wrapped least; what is known stands above it. */
static const char *unrecorded_words(const struct fleet *f, struct base_arena *mem)
{
	const struct fleet_allocated *a = &f->whole.allocated;
	const struct fleet_account *most = NULL;
	base_wide ns, most_ns = 0, sum = 0;
	base_unit hours, all, part;

	if (!a->asked)
		return f->whole.invoice.asked
			       ? "what jobs were given and nobody recorded is not known: give --sacct"
			       : "not known: give what jobs were given (--sacct) and what was charged "
				 "(--invoice)";
	for (size_t i = 0; i < a->accounts; i++) {
		const struct fleet_account *c = &a->account[i];

		ns = c->allocated_ns - c->recorded_ns - c->opted_out_ns;
		if (ns > most_ns)
			most = c;
		most_ns = base_max(ns, most_ns);
		sum += ns;
	}
	if (!most)
		return "all that jobs were given is recorded, or opted out";
	return base_arena_printf(mem,
				 "%s, %s %% of what jobs were given; most: account %s, %s; wrap "
				 "its jobs with gpustarve run",
				 base_gpu_time(all, sum),
				 base_percent(part, base_ppm(sum, a->total.allocated_ns)),
				 fleet_shown(most->name), base_gpu_time(hours, most_ns));
}

struct quanta {
	const int64_t *part[FLEET_REVIEW_MONTHS];
};

static struct quanta month_quanta(const struct fleet *f, int64_t quantum, struct base_arena *mem)
{
	struct quanta q;

	for (int m = 0; m < FLEET_REVIEW_MONTHS; m++)
		q.part[m] = fleet_table_quanta(&f->review.team[m], FLEET_USD,
					       f->review.total[m].m[FLEET_USD], quantum, mem);
	return q;
}

/* "; speech grew most: +$3.10 (+12.5 %)" */
static const char *growth_words(const struct fleet *f, struct base_arena *mem)
{
	const struct fleet_table *last = &f->review.team[FLEET_REVIEW_LAST];
	const struct fleet_table *before = &f->review.team[FLEET_REVIEW_BEFORE];
	struct quanta q = month_quanta(f, fleet_money_scale(f).quantum, mem);
	const int64_t *now = q.part[FLEET_REVIEW_LAST], *was = q.part[FLEET_REVIEW_BEFORE];
	size_t most = 0;
	base_unit by, part;

	for (size_t i = 1; i < last->groups; i++)
		if (now[i] - was[i] > now[most] - was[most])
			most = i;
	if (now[most] <= was[most])
		return "; no team's cost grew";
	return base_arena_printf(mem, "; %s grew most: %s (%s%s)",
				 fleet_shown(last->group[most].key[0]),
				 change(f, by, now[most], was[most]),
				 change_percent(part, last->group[most].sums.m[FLEET_USD],
						before->group[most].sums.m[FLEET_USD]),
				 before->group[most].sums.m[FLEET_USD] ? " %" : "");
}

static const char *month_words(const struct fleet *f, struct base_arena *mem)
{
	const struct fleet_review *r = &f->review;
	base_unit last, before, until, to;

	if (!r->team[FLEET_REVIEW_LAST].groups)
		return "no GPU was held";
	month_name(last, r->since_ns[FLEET_REVIEW_LAST]);
	month_name(before, r->since_ns[FLEET_REVIEW_BEFORE]);
	if (r->is_whole)
		return base_arena_printf(mem, "%s against %s, by the time that GPUs were held%s",
					 last, before, growth_words(f, mem));
	return base_arena_printf(
		mem,
		"%s is not over: up to %s, against %s up to %s, by the time that GPUs were held%s",
		last, base_moment(until, r->until_ns[FLEET_REVIEW_LAST]), before,
		base_moment(to, r->until_ns[FLEET_REVIEW_BEFORE]), growth_words(f, mem));
}

static bool run_is_priced(const struct fleet_review_run *r)
{
	return r->unpriced_ns < r->held_ns;
}

static const char *runs_words(const struct fleet *f, struct base_arena *mem)
{
	const struct fleet_review_run *r = f->review.run;
	base_unit usd, part;

	if (!f->review.runs)
		return "none wasted anything";
	return base_arena_printf(mem,
				 "most by %s of %s: %s%s%s %% of its time; gpustarve report tells "
				 "why",
				 r->id, fleet_shown(r->user),
				 run_is_priced(r) ? fleet_usd(f, usd, r->wasted_usd) : "",
				 run_is_priced(r) ? ", " : "",
				 base_percent(part, base_ppm(r->wasted_ns, r->held_ns)));
}

static const char *words_of(const struct fleet *f, enum fleet_review_part part,
			    struct base_arena *mem)
{
	switch (part) {
	case FLEET_REVIEW_IDLE:
		return idle_words(f, mem);
	case FLEET_REVIEW_UNRECORDED:
		return unrecorded_words(f, mem);
	case FLEET_REVIEW_TEAMS:
		return month_words(f, mem);
	case FLEET_REVIEW_RUNS:
		return runs_words(f, mem);
	case FLEET_REVIEW_FIXES:
		return fleet_savings_words(f, mem);
	default:
		return "";
	}
}

/* --- what rows have --- */

static int64_t sum_quanta(const struct fleet *f, int m)
{
	return base_quanta(fleet_money_scale(f), f->review.total[m].m[FLEET_USD]);
}

/* Of what was held. */
static int64_t idle_ppm(const base_wide *m)
{
	return base_ppm(m[FLEET_MINUTES_IDLE] * MINUTE, m[FLEET_HELD_NS]);
}

/* --- text --- */

static void text_amount(FILE *out, const char *text)
{
	fprintf(out, "%*s ", base_width(text, 13), text);
}

static void text_name(FILE *out, const char *name)
{
	fputc(' ', out);
	view_put_tame(out, name);
	fputc('\n', out);
}

static void text_more(FILE *out, size_t all, size_t told)
{
	if (all > told)
		fprintf(out, "  and %zu more: --top N\n", all - told);
}

static void text_idle(const struct fleet *f, FILE *out)
{
	const struct fleet_table *t = &f->review.idle;
	size_t n = shown(f, t->groups);
	base_unit text;

	if (n)
		fprintf(out, "  %13s %12s %6s %7s  %s\n", "idle", fleet_time_name(f), "%", "runs",
			"user");
	for (size_t i = 0; i < n; i++) {
		const base_wide *m = t->group[i].sums.m;

		fputs("  ", out);
		text_amount(out, fleet_usd(f, text, m[FLEET_IDLE_USD]));
		fprintf(out, "%12s ", fleet_hours_of_minutes(f, text, m[FLEET_MINUTES_IDLE]));
		fprintf(out, "%6s ", base_percent(text, idle_ppm(m)));
		fprintf(out, "%7s ", base_count(text, (uint64_t)m[FLEET_RUNS]));
		text_name(out, fleet_shown(t->group[i].key[0]));
	}
	text_more(out, t->groups, n);
}

static void text_month(const struct fleet *f, FILE *out, int64_t last, int64_t before,
		       const base_wide *m, base_wide before_usd, const char *name)
{
	base_unit text;

	fputs("  ", out);
	text_amount(out, fleet_quanta(f, text, before));
	text_amount(out, fleet_quanta(f, text, last));
	text_amount(out, change(f, text, last, before));
	fprintf(out, "%8s ", change_percent(text, m[FLEET_USD], before_usd));
	fprintf(out, "%5s ", base_percent(text, base_ppm(m[FLEET_WASTED_NS], m[FLEET_HELD_NS])));
	text_name(out, name);
}

static void text_teams(const struct fleet *f, FILE *out, struct base_arena *mem)
{
	const struct fleet_table *last = &f->review.team[FLEET_REVIEW_LAST];
	const struct fleet_table *before = &f->review.team[FLEET_REVIEW_BEFORE];
	struct quanta q = month_quanta(f, fleet_money_scale(f).quantum, mem);
	size_t n = shown(f, last->groups);
	base_unit name[2];

	if (!n)
		return;
	fprintf(out, "  %13s %13s %13s %8s %5s  %s\n",
		short_month(name[0], f->review.since_ns[FLEET_REVIEW_BEFORE]),
		short_month(name[1], f->review.since_ns[FLEET_REVIEW_LAST]), "change", "%", "waste",
		"team");
	for (size_t i = 0; i < n; i++)
		text_month(f, out, q.part[FLEET_REVIEW_LAST][i], q.part[FLEET_REVIEW_BEFORE][i],
			   last->group[i].sums.m, before->group[i].sums.m[FLEET_USD],
			   fleet_shown(last->group[i].key[0]));
	text_more(out, last->groups, n);
	text_month(f, out, sum_quanta(f, FLEET_REVIEW_LAST), sum_quanta(f, FLEET_REVIEW_BEFORE),
		   f->review.total[FLEET_REVIEW_LAST].m,
		   f->review.total[FLEET_REVIEW_BEFORE].m[FLEET_USD], "all");
}

static void text_runs(const struct fleet *f, FILE *out)
{
	size_t n = shown(f, f->review.runs);
	base_unit text;

	if (n)
		fprintf(out, "  %13s %13s %5s %-10s  %s\n", "wasted", "cost", "%", "began",
			"run, end, user");
	for (size_t i = 0; i < n; i++) {
		const struct fleet_review_run *r = &f->review.run[i];

		fputs("  ", out);
		text_amount(out, run_is_priced(r) ? fleet_usd(f, text, r->wasted_usd) : "-");
		text_amount(out, run_is_priced(r) ? fleet_usd(f, text, r->usd) : "-");
		fprintf(out, "%5s ", base_percent(text, base_ppm(r->wasted_ns, r->held_ns)));
		fprintf(out, "%s  ", base_day(text, r->start_ns));
		view_put_tame(out, r->id);
		fprintf(out, "  %s ", r->end);
		text_name(out, fleet_shown(r->user));
	}
	text_more(out, f->review.runs, n);
}

void fleet_review_text(const struct fleet *f, enum fleet_review_part part, FILE *out)
{
	struct base_arena mem = { 0 };

	fputs("  ", out);
	view_wrap(out, 2, 2, words_of(f, part, &mem));
	if (part == FLEET_REVIEW_IDLE)
		text_idle(f, out);
	else if (part == FLEET_REVIEW_FIXES)
		fleet_savings_text_open(f, out, &mem);
	else if (part == FLEET_REVIEW_TEAMS)
		text_teams(f, out, &mem);
	else if (part == FLEET_REVIEW_RUNS)
		text_runs(f, out);
	base_arena_fini(&mem);
}

/* --- JSON --- */

static void json_name(struct base_jsonout *j, const char *key, const char *text)
{
	base_json_string(j, key, text[0] ? text : NULL);
}

static void json_idle(struct base_jsonout *j, const struct fleet_table *t)
{
	base_json_array(j, "idle");
	for (size_t i = 0; i < t->groups; i++) {
		const base_wide *m = t->group[i].sums.m;

		base_json_flat_object(j, NULL);
		json_name(j, "user", t->group[i].key[0]);
		base_json_wide(j, "minutes", m[FLEET_MINUTES_IDLE]);
		base_json_usd(j, "usd", m[FLEET_IDLE_USD], true);
		base_json_wide(j, "held_ns", m[FLEET_HELD_NS]);
		base_json_wide(j, "runs", m[FLEET_RUNS]);
		base_json_end(j);
	}
	base_json_end(j);
}

static void json_stretch(struct base_jsonout *j, const char *key, const struct fleet_review *r,
			 int m)
{
	base_json_flat_object(j, key);
	base_json_int(j, "since_unix_ns", r->since_ns[m]);
	base_json_int(j, "until_unix_ns", r->until_ns[m]);
	base_json_wide(j, "held_ns", r->total[m].m[FLEET_HELD_NS]);
	base_json_usd(j, "usd", r->total[m].m[FLEET_USD], true);
	base_json_end(j);
}

static void json_teams(struct base_jsonout *j, const struct fleet *f)
{
	const struct fleet_table *last = &f->review.team[FLEET_REVIEW_LAST];
	struct base_arena mem = { 0 };
	struct quanta q = month_quanta(f, FLEET_CENT, &mem);

	base_json_array(j, "team");
	for (size_t i = 0; i < last->groups; i++) {
		const base_wide *m = last->group[i].sums.m;
		const base_wide *b = f->review.team[FLEET_REVIEW_BEFORE].group[i].sums.m;

		base_json_flat_object(j, NULL);
		json_name(j, "name", last->group[i].key[0]);
		base_json_wide(j, "held_ns", m[FLEET_HELD_NS]);
		base_json_usd(j, "usd", m[FLEET_USD], true);
		base_json_int(j, "cents", q.part[FLEET_REVIEW_LAST][i]);
		base_json_usd(j, "wasted_usd", m[FLEET_WASTED_USD], true);
		base_json_wide(j, "before_held_ns", b[FLEET_HELD_NS]);
		base_json_usd(j, "before_usd", b[FLEET_USD], true);
		base_json_int(j, "before_cents", q.part[FLEET_REVIEW_BEFORE][i]);
		base_json_end(j);
	}
	base_json_end(j);
	base_arena_fini(&mem);
}

static void json_runs(struct base_jsonout *j, const struct fleet *f)
{
	base_json_array(j, "runs");
	for (size_t i = 0; i < shown(f, f->review.runs); i++) {
		const struct fleet_review_run *r = &f->review.run[i];

		base_json_flat_object(j, NULL);
		base_json_string(j, "run", r->id);
		json_name(j, "team", r->team);
		json_name(j, "user", r->user);
		base_json_string(j, "end", r->end);
		base_json_int(j, "start_unix_ns", r->start_ns);
		base_json_wide(j, "held_ns", r->held_ns);
		base_json_wide(j, "wasted_ns", r->wasted_ns);
		base_json_usd(j, "usd", r->usd, run_is_priced(r));
		base_json_usd(j, "wasted_usd", r->wasted_usd, run_is_priced(r));
		base_json_end(j);
	}
	base_json_end(j);
}

void fleet_review_json(const struct fleet *f, struct base_jsonout *j)
{
	const struct fleet_review *r = &f->review;

	base_json_object(j, "review");
	json_idle(j, &r->idle);
	base_json_bool(j, "month_is_whole", r->is_whole);
	json_stretch(j, "month", r, FLEET_REVIEW_LAST);
	json_stretch(j, "before", r, FLEET_REVIEW_BEFORE);
	json_teams(j, f);
	base_json_uint(j, "wasting_runs", r->runs);
	json_runs(j, f);
	base_json_end(j);
}

/* --- CSV: a row for each answer --- */

static void csv_row(FILE *out, const char *answer, const char *name, const char *more)
{
	fprintf(out, "%s,", answer);
	base_csv_put_guarded(out, name);
	fputc(',', out);
	base_csv_put_guarded(out, more);
}

static void csv_hours(FILE *out, base_wide ns)
{
	base_unit text;

	fprintf(out, ",%s", base_hours_exact(text, ns));
}

static void csv_usd(FILE *out, base_wide usd)
{
	base_unit text;

	fprintf(out, ",%s", base_dollars_exact(text, usd));
}

static void csv_idle(const struct fleet_table *t, FILE *out)
{
	for (size_t i = 0; i < t->groups; i++) {
		csv_row(out, "idle", fleet_shown(t->group[i].key[0]), "");
		csv_hours(out, t->group[i].sums.m[FLEET_MINUTES_IDLE] * MINUTE);
		csv_usd(out, t->group[i].sums.m[FLEET_IDLE_USD]);
		fputs(",,\r\n", out);
	}
}

static void csv_whole(const struct fleet_allocated *a, FILE *out)
{
	for (size_t i = 0; i < a->accounts; i++) {
		const struct fleet_account *c = &a->account[i];

		csv_row(out, "unrecorded", fleet_shown(c->name), "");
		csv_hours(out, c->allocated_ns - c->recorded_ns - c->opted_out_ns);
		fputs(",,,\r\n", out);
	}
}

static void csv_fixes(const struct fleet *f, FILE *out)
{
	const struct fleet_savings *v = &f->savings;

	for (size_t i = 0; i < shown(f, v->opens); i++) {
		csv_row(out, "fix", v->open[i].id, v->open[i].last_run);
		csv_hours(out, v->open[i].ns);
		csv_usd(out, v->open[i].usd);
		fputs(",,\r\n", out);
	}
}

static void csv_teams(const struct fleet_review *r, FILE *out)
{
	const struct fleet_table *last = &r->team[FLEET_REVIEW_LAST];

	for (size_t i = 0; i < last->groups; i++) {
		const base_wide *b = r->team[FLEET_REVIEW_BEFORE].group[i].sums.m;

		csv_row(out, "month", fleet_shown(last->group[i].key[0]), "");
		csv_hours(out, last->group[i].sums.m[FLEET_HELD_NS]);
		csv_usd(out, last->group[i].sums.m[FLEET_USD]);
		csv_hours(out, b[FLEET_HELD_NS]);
		csv_usd(out, b[FLEET_USD]);
		fputs("\r\n", out);
	}
}

static void csv_runs(const struct fleet *f, FILE *out)
{
	for (size_t i = 0; i < shown(f, f->review.runs); i++) {
		const struct fleet_review_run *r = &f->review.run[i];

		csv_row(out, "run", r->id, fleet_shown(r->user));
		csv_hours(out, r->wasted_ns);
		if (run_is_priced(r))
			csv_usd(out, r->wasted_usd);
		else
			fputc(',', out);
		fputs(",,\r\n", out);
	}
}

void fleet_review_csv(const struct fleet *f, FILE *out)
{
	fputs("answer,name,more,gpu_hours,usd,before_gpu_hours,before_usd\r\n", out);
	csv_idle(&f->review.idle, out);
	csv_whole(&f->whole.allocated, out);
	csv_fixes(f, out);
	csv_teams(&f->review, out);
	csv_runs(f, out);
}

/* --- page: what to do first, then the tables --- */

/* The table that has more of it; NULL: there is none. */
static const char *anchor(const struct fleet *f, enum fleet_review_part part)
{
	switch (part) {
	case FLEET_REVIEW_IDLE:
		return f->review.idle.groups ? "idle" : NULL;
	case FLEET_REVIEW_UNRECORDED:
		return f->whole.allocated.asked ? "allocated" : NULL;
	case FLEET_REVIEW_FIXES:
		return f->savings.opens ? "open" : NULL;
	case FLEET_REVIEW_TEAMS:
		return f->review.team[FLEET_REVIEW_LAST].groups ? "months" : NULL;
	case FLEET_REVIEW_RUNS:
		return f->review.runs ? "wasting" : NULL;
	default:
		return NULL;
	}
}

void fleet_page_review_first(struct fleet_page *s)
{
	fputs("<section aria-labelledby=\"next\">\n<h2 id=\"next\">What to look at first</h2>\n<ol>\n",
	      s->out);
	for (int part = 0; part < FLEET_REVIEW_PARTS; part++) {
		const char *to = anchor(s->f, (enum fleet_review_part)part);

		fputs("<li>", s->out);
		if (to)
			fprintf(s->out, "<a href=\"#%s\">%s</a>: ", to, fleet_review_titles[part]);
		else
			fprintf(s->out, "%s: ", fleet_review_titles[part]);
		html_escape_sentence(s->out, words_of(s->f, (enum fleet_review_part)part, &s->mem));
		fputs("</li>\n", s->out);
	}
	fputs("</ol>\n</section>\n", s->out);
}

static void page_idle(struct fleet_page *s)
{
	const struct fleet_table *t = &s->f->review.idle;
	size_t n = shown(s->f, t->groups);
	base_unit text;

	fleet_page_table(s, "idle", fleet_review_titles[FLEET_REVIEW_IDLE],
			 T("User") N("Idle") N(TIME) N("% of held") N("Runs"));
	for (size_t i = 0; i < n; i++) {
		const base_wide *m = t->group[i].sums.m;

		fleet_page_named(s, fleet_shown(t->group[i].key[0]));
		fleet_page_number(s, fleet_usd(s->f, text, m[FLEET_IDLE_USD]));
		fleet_page_number(s, fleet_hours_of_minutes(s->f, text, m[FLEET_MINUTES_IDLE]));
		fleet_page_number(s, base_percent(text, idle_ppm(m)));
		fleet_page_number(s, base_count(text, (uint64_t)m[FLEET_RUNS]));
		fputs("</tr>\n", s->out);
	}
	fleet_page_table_end(s, t->groups, n);
}

static void page_month(struct fleet_page *s, int64_t last, int64_t before, const base_wide *m,
		       base_wide before_usd)
{
	base_unit text;

	fleet_page_number(s, fleet_quanta(s->f, text, before));
	fleet_page_number(s, fleet_quanta(s->f, text, last));
	fleet_page_number(s, change(s->f, text, last, before));
	fleet_page_number(s, change_percent(text, m[FLEET_USD], before_usd));
	fleet_page_number(s, base_percent(text, base_ppm(m[FLEET_WASTED_NS], m[FLEET_HELD_NS])));
	fputs("</tr>\n", s->out);
}

static void page_teams(struct fleet_page *s)
{
	const struct fleet_review *r = &s->f->review;
	const struct fleet_table *last = &r->team[FLEET_REVIEW_LAST];
	struct quanta q = month_quanta(s->f, fleet_money_scale(s->f).quantum, &s->mem);
	size_t n = shown(s->f, last->groups);
	base_unit before, this;

	month_name(before, r->since_ns[FLEET_REVIEW_BEFORE]);
	month_name(this, r->since_ns[FLEET_REVIEW_LAST]);
	fleet_page_table(s, "months", fleet_review_titles[FLEET_REVIEW_TEAMS],
			 base_arena_printf(&s->mem,
					   T("Team") N("%s") N("%s") N("Change") N("Change %%")
						   N("Wasted %%"),
					   before, this));
	for (size_t i = 0; i < n; i++) {
		fleet_page_named(s, fleet_shown(last->group[i].key[0]));
		page_month(s, q.part[FLEET_REVIEW_LAST][i], q.part[FLEET_REVIEW_BEFORE][i],
			   last->group[i].sums.m,
			   r->team[FLEET_REVIEW_BEFORE].group[i].sums.m[FLEET_USD]);
	}
	fputs("<tr class=\"sum-row\"><th scope=\"row\">All</th>", s->out);
	page_month(s, sum_quanta(s->f, FLEET_REVIEW_LAST), sum_quanta(s->f, FLEET_REVIEW_BEFORE),
		   r->total[FLEET_REVIEW_LAST].m, r->total[FLEET_REVIEW_BEFORE].m[FLEET_USD]);
	fleet_page_table_end(s, last->groups, n);
}

static void page_runs(struct fleet_page *s)
{
	size_t n = shown(s->f, s->f->review.runs);
	base_unit text;

	fleet_page_table(s, "wasting", fleet_review_titles[FLEET_REVIEW_RUNS],
			 T("Run") N("Wasted") N("Wasted %") N("Cost") T("Began") T("End") T("User")
				 T("Team"));
	for (size_t i = 0; i < n; i++) {
		const struct fleet_review_run *r = &s->f->review.run[i];

		fleet_page_run_name(s, r->id);
		fleet_page_number(s, run_is_priced(r) ? fleet_usd(s->f, text, r->wasted_usd) : "-");
		fleet_page_number(s, base_percent(text, base_ppm(r->wasted_ns, r->held_ns)));
		fleet_page_number(s, run_is_priced(r) ? fleet_usd(s->f, text, r->usd) : "-");
		fleet_page_cell(s, base_day(text, r->start_ns));
		fleet_page_cell(s, r->end);
		fleet_page_cell(s, fleet_shown(r->user));
		fleet_page_cell(s, fleet_shown(r->team));
		fputs("</tr>\n", s->out);
	}
	fleet_page_table_end(s, s->f->review.runs, n);
}

void fleet_page_review(struct fleet_page *s)
{
	if (s->f->review.idle.groups)
		page_idle(s);
	fleet_page_savings(s);
	if (s->f->review.team[FLEET_REVIEW_LAST].groups)
		page_teams(s);
	if (s->f->review.runs)
		page_runs(s);
}
