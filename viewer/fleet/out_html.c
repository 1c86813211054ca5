/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fleet as one page with the report's looks: tables and one static chart, no script, nothing
 * fetched. Names come from runs and are untrusted: html_escape.
 */
#include <inttypes.h>
#include <string.h>
#include "base/units.h"
#include "bill.h"
#include "budget.h"
#include "out.h"
#include "report/html_priv.h"
#include "report/script.h"

#define CHART_WIDTH 960
#define CHART_HEIGHT 160
#define CHART_WEEKS 104

struct sheet {
	const struct fleet *f;
	FILE *out;
	struct view_arena mem;
};

static void put_head(struct sheet *s)
{
	fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n", s->out);
	view_script_policy(s->out);
	fputs("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<meta name=\"color-scheme\" content=\"light dark\">\n"
	      "<meta name=\"referrer\" content=\"no-referrer\">\n<title>The fleet - gpustarve"
	      "</title>\n",
	      s->out);
	view_script_style(s->out);
	fputs("</head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to the numbers</a>\n"
	      "<header><p class=\"brand\">gpustarve</p>\n<p class=\"soft\">",
	      s->out);
	html_escape(s->out, fleet_words_scope(s->f, &s->mem));
	if (s->f->options.links)
		fputs("</p>\n<p><a href=\"runs\">All runs</a>", s->out);
	fputs("</p></header>\n<main id=\"main\" tabindex=\"-1\">\n", s->out);
}

static void put_answer(struct sheet *s, const char *what, const char *big, const char *small)
{
	fprintf(s->out, "<div><dt>%s</dt><dd><b>", what);
	html_escape(s->out, big);
	fputs("</b> ", s->out);
	html_escape(s->out, small);
	fputs("</dd></div>\n", s->out);
}

static void put_money(struct sheet *s)
{
	const int64_t *m = s->f->total.m;
	view_unit usd, pct, hours;

	put_answer(s, "Cost", view_cents(usd, m[FLEET_USD]),
		   view_arena_printf(&s->mem, "for %s GPU-hours",
				     view_hours(hours, m[FLEET_HELD_NS])));
	put_answer(s, "Wasted", view_cents(usd, m[FLEET_WASTED_USD]),
		   view_arena_printf(&s->mem, "%s %% of the time",
				     view_percent(pct,
						  view_ppm(m[FLEET_WASTED_NS], m[FLEET_HELD_NS]))));
	put_answer(s, "Starved", view_cents(usd, m[FLEET_STARVED_USD]),
		   view_arena_printf(
			   &s->mem, "%s %% of the time",
			   view_percent(pct, view_ppm(m[FLEET_STARVED_NS], m[FLEET_HELD_NS]))));
	put_answer(s, "Failed", view_cents(usd, m[FLEET_FAILED_USD]),
		   view_arena_printf(&s->mem, "in %" PRId64 " runs that failed",
				     s->f->failed.count ? (int64_t)s->f->failed.count
							: INT64_C(0)));
}

static void put_verdict(struct sheet *s)
{
	view_unit wasted;

	fputs("<section id=\"verdict\" aria-label=\"Verdict\">\n<h1>", s->out);
	if (!s->f->total.m[FLEET_RUNS])
		fputs("No runs yet", s->out);
	else if (s->f->total.m[FLEET_UNPRICED_NS] == s->f->total.m[FLEET_HELD_NS])
		fputs("No price is known: time only", s->out);
	else
		fprintf(s->out, "%s were wasted",
			view_cents(wasted, s->f->total.m[FLEET_WASTED_USD]));
	fputs("</h1>\n<dl class=\"answers\">\n", s->out);
	put_money(s);
	fputs("</dl>\n", s->out);
	const char *const *note = fleet_words_notes(s->f, &s->mem);
	if (*note)
		fputs("<ul>\n", s->out);
	for (size_t i = 0; note[i]; i++) {
		fputs("<li>", s->out);
		html_escape_sentence(s->out, note[i]);
		fputs("</li>\n", s->out);
	}
	fputs(*note ? "</ul>\n</section>\n" : "</section>\n", s->out);
}

/* @columns: heads in markup of ours. */
static void table_begin(struct sheet *s, const char *id, const char *title, const char *columns)
{
	fprintf(s->out,
		"<section aria-labelledby=\"%s\">\n<h2 id=\"%s\">%s</h2>\n"
		"<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-labelledby=\"%s\">"
		"<table>\n<thead><tr>%s</tr></thead>\n<tbody>\n",
		id, id, title, id, columns);
}

static void table_end(struct sheet *s, size_t all, size_t shown)
{
	view_unit n;

	fputs("</tbody></table></div>\n", s->out);
	if (all > shown)
		fprintf(s->out, "<p class=\"soft\">And %s more.</p>\n", view_count(n, all - shown));
	fputs("</section>\n", s->out);
}

static void put_number(struct sheet *s, const char *text)
{
	fputs("<td class=\"n\">", s->out);
	html_escape(s->out, text);
	fputs("</td>", s->out);
}

static void put_named(struct sheet *s, const char *text)
{
	fputs("<tr><th scope=\"row\"><bdi>", s->out);
	html_escape(s->out, text);
	fputs("</bdi></th>", s->out);
}

static void put_cell(struct sheet *s, const char *text)
{
	fputs("<td class=\"wide\"><bdi>", s->out);
	html_escape(s->out, text);
	fputs("</bdi></td>", s->out);
}

#define N(head) "<th scope=\"col\" class=\"n\">" head "</th>"
#define T(head) "<th scope=\"col\">" head "</th>"

static void put_group(struct sheet *s, const struct fleet_group *g, int by, int64_t cents,
		      int64_t wasted_cents)
{
	const int64_t *m = g->sums.m;
	bool priced = m[FLEET_UNPRICED_NS] != m[FLEET_HELD_NS];
	view_unit text;

	put_named(s, fleet_group_name(g, by, &s->mem));
	put_number(s, view_hours(text, m[FLEET_HELD_NS]));
	put_number(s, priced ? view_cents_closed(text, m[FLEET_USD], cents) : "-");
	put_number(s, priced ? view_cents_closed(text, m[FLEET_WASTED_USD], wasted_cents) : "-");
	put_number(s, view_percent(text, view_ppm(m[FLEET_WASTED_NS], m[FLEET_HELD_NS])));
	put_number(s, view_percent(text, view_ppm(m[FLEET_STARVED_NS], m[FLEET_HELD_NS])));
	put_number(s, view_count(text, (uint64_t)m[FLEET_RUNS]));
	fputs("</tr>\n", s->out);
}

static void put_dim(struct sheet *s, enum fleet_dim d)
{
	const struct fleet_table *t = &s->f->dim[d];
	const int64_t *cents = fleet_table_cents(t, FLEET_USD, s->f->total.m[FLEET_USD], &s->mem);
	const int64_t *wasted =
		fleet_table_cents(t, FLEET_WASTED_USD, s->f->total.m[FLEET_WASTED_USD], &s->mem);
	size_t n = t->groups < s->f->options.top ? t->groups : s->f->options.top;
	size_t from = d == FLEET_DIM_WEEK ? t->groups - n : 0;

	if (!t->groups)
		return;
	table_begin(s, fleet_dim_names[d], fleet_title(d),
		    T("Name") N("GPU-hours") N("Cost") N("Wasted") N("Wasted %") N("Starved %")
			    N("Runs"));
	for (size_t i = from; i < from + n; i++)
		put_group(s, &t->group[i], d, cents[i], wasted[i]);
	table_end(s, t->groups, n);
}

/* --- the weeks as columns: what was wasted at the bottom --- */

static int height(int64_t part, int64_t whole)
{
	return whole ? (int)view_div_even((__int128)part * CHART_HEIGHT, whole) : 0;
}

static void put_column(struct sheet *s, const char *style, int left, int width, int at, int high)
{
	if (high > 0)
		fprintf(s->out, "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>",
			style, left, CHART_HEIGHT - at - high, width, high);
}

/* In dollars; where nothing has a price in time. */
static void put_weeks(struct sheet *s)
{
	const struct fleet_table *t = &s->f->dim[FLEET_DIM_WEEK];
	bool priced = s->f->total.m[FLEET_USD] > 0;
	enum fleet_measure all = priced ? FLEET_USD : FLEET_HELD_NS;
	enum fleet_measure bad = priced ? FLEET_WASTED_USD : FLEET_WASTED_NS;
	size_t n = t->groups < CHART_WEEKS ? t->groups : CHART_WEEKS, from = t->groups - n;
	int64_t most = 0;

	if (n < 2)
		return;
	for (size_t i = from; i < t->groups; i++)
		if (t->group[i].sums.m[all] > most)
			most = t->group[i].sums.m[all];
	fprintf(s->out,
		"<section aria-labelledby=\"trend\">\n<h2 id=\"trend\">The trend</h2>\n<figure>"
		"<svg class=\"strip\" viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" "
		"role=\"img\" aria-label=\"%s by week, with what was wasted\">",
		CHART_WIDTH, CHART_HEIGHT, priced ? "Cost" : "GPU-hours");
	for (size_t i = 0; i < n; i++) {
		const int64_t *m = t->group[from + i].sums.m;
		int left = (int)(i * CHART_WIDTH / n);
		int width = (int)((i + 1) * CHART_WIDTH / n) - left - (n < 60 ? 3 : 1);
		int wasted = height(m[bad], most);

		put_column(s, "f-input", left, width, 0, wasted);
		put_column(s, "f-busy", left, width, wasted, height(m[all], most) - wasted);
	}
	fputs("</svg><figcaption class=\"soft small\">", s->out);
	view_unit usd, hours;
	fprintf(s->out,
		"%s by week from %s to %s, below it in red what was wasted; the highest is ",
		priced ? "Cost" : "GPU-hours", t->group[from].key[0],
		t->group[t->groups - 1].key[0]);
	fputs(priced ? view_cents(usd, most) : view_hours(hours, most), s->out);
	fputs(".</figcaption></figure>\n</section>\n", s->out);
}

/* --- why --- */

static void put_pair(struct sheet *s, const struct fleet_group *g)
{
	view_unit text;

	put_number(s, view_hours(text, g->sums.m[FLEET_HELD_NS]));
	put_number(s, view_cents(text, g->sums.m[FLEET_USD]));
	put_number(s, view_percent(text, view_ppm(g->sums.m[FLEET_HELD_NS],
						  s->f->total.m[FLEET_HELD_NS])));
	put_number(s, view_count(text, (uint64_t)g->sums.m[FLEET_RUNS]));
	fputs("</tr>\n", s->out);
}

static void put_fixes(struct sheet *s)
{
	const struct fleet_table *t = &s->f->fixes;
	size_t n = t->groups < s->f->options.top ? t->groups : s->f->options.top;

	if (!n)
		return;
	table_begin(s, "fixes", "Top fixes",
		    T("What") T("How") T("Where") N("GPU-hours") N("At most") N("%") N("Runs"));
	for (size_t i = 0; i < n; i++) {
		put_named(s, t->group[i].key[1]);
		put_cell(s, t->group[i].text ? t->group[i].text : "");
		put_cell(s, t->group[i].key[3]);
		put_pair(s, &t->group[i]);
	}
	table_end(s, t->groups, n);
}

static void put_spots(struct sheet *s)
{
	const struct fleet_table *t = &s->f->spots;
	size_t n = t->groups < s->f->options.top ? t->groups : s->f->options.top;

	if (!n)
		return;
	table_begin(s, "lines", "Lines of code that made GPUs wait",
		    T("Class") T("Where") N("GPU-hours") N("Cost") N("%") N("Runs"));
	for (size_t i = 0; i < n; i++) {
		put_named(s, t->group[i].key[0]);
		put_cell(s, t->group[i].key[1]);
		put_pair(s, &t->group[i]);
	}
	table_end(s, t->groups, n);
}

static void put_classes(struct sheet *s)
{
	const struct fleet_table *t = &s->f->classes;

	if (!t->groups)
		return;
	table_begin(s, "classes", "Where the time went",
		    T("Class") N("GPU-hours") N("Cost") N("%") N("Runs"));
	for (size_t i = 0; i < t->groups; i++) {
		put_named(s, t->group[i].key[0]);
		put_pair(s, &t->group[i]);
	}
	table_end(s, t->groups, t->groups);
}

/* --- use, runs, bill, prices --- */

static void put_use(struct sheet *s)
{
	const int64_t *m = s->f->total.m;
	int64_t all = fleet_minutes(&s->f->total);
	view_unit text;

	if (!all)
		return;
	table_begin(s, "use", "How busy the GPUs were, minute by minute",
		    T("Busy") N("GPU-hours") N("%"));
	for (int b = 0; b < FLEET_BANDS; b++) {
		put_named(s, fleet_band_names[b]);
		put_number(s, fleet_hours_of_minutes(text, m[FLEET_MINUTES_IDLE + b]));
		put_number(s, view_percent(text, view_ppm(m[FLEET_MINUTES_IDLE + b], all)));
		fputs("</tr>\n", s->out);
	}
	table_end(s, 0, 0);
}

/* An address that a page may hold, whatever the run is called. */
static void put_link(struct sheet *s, const char *id)
{
	fputs("<a href=\"runs/", s->out);
	for (const unsigned char *p = (const unsigned char *)id; *p; p++) {
		if ((*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') ||
		    (*p >= 'A' && *p <= 'Z') || strchr("-_.+=@", *p))
			fputc(*p, s->out);
		else
			fprintf(s->out, "%%%02X", *p);
	}
	fputs("\">", s->out);
}

static void put_run(struct sheet *s, const struct fleet_run *r)
{
	view_unit text;

	fputs("<tr><th scope=\"row\"><bdi class=\"mono\">", s->out);
	if (s->f->options.links)
		put_link(s, r->id);
	html_escape(s->out, r->id);
	fputs(s->f->options.links ? "</a></bdi></th>" : "</bdi></th>", s->out);
	put_cell(s, fleet_shown(r->team));
	put_cell(s, fleet_shown(r->user));
	put_cell(s, view_arena_printf(&s->mem, "%s %s", r->end, r->exit));
	put_cell(s, view_day(text, r->start_ns));
	put_number(s, view_hours(text, r->held_ns));
	put_number(s, r->priced ? view_cents(text, r->usd) : "-");
	fputs("</tr>\n", s->out);
}

static void put_runs(struct sheet *s, const char *id, const char *title, const struct fleet_runs *r)
{
	size_t n = r->runs < s->f->options.top ? r->runs : s->f->options.top;

	if (!r->count)
		return;
	table_begin(s, id, title,
		    T("Run") T("Team") T("User") T("End") T("Began") N("GPU-hours") N("Cost"));
	for (size_t i = 0; i < n; i++)
		put_run(s, &r->run[i]);
	table_end(s, r->count, n);
}

static void put_bill(struct sheet *s)
{
	const struct fleet_bill *b = &s->f->bill;
	size_t n = s->f->options.by == FLEET_BY_BILL || b->lines < s->f->options.top
			   ? b->lines
			   : s->f->options.top;
	view_unit text;

	table_begin(s, "bill", "The bill",
		    T("Team") T("Project") T("User") T("GPU") T("Price model") N("GPU-hours")
			    N("Amount"));
	for (size_t i = 0; i < n; i++) {
		const struct fleet_group *g = b->line[i].group;

		put_named(s, fleet_shown(g->key[0]));
		for (int k = 1; k < 4; k++)
			put_cell(s, fleet_shown(g->key[k]));
		put_cell(s, g->key[4][0] ? g->key[4] : "no price");
		put_number(s, view_hours(text, g->sums.m[FLEET_HELD_NS]));
		put_number(s, g->key[4][0] ? view_cents_of(text, b->line[i].cents) : "-");
		fputs("</tr>\n", s->out);
	}
	put_named(s, "Total");
	fputs("<td colspan=\"4\"></td>", s->out);
	put_number(s, view_hours(text, s->f->total.m[FLEET_HELD_NS]));
	put_number(s, view_cents_of(text, b->total_cents));
	fputs("</tr>\n", s->out);
	table_end(s, b->lines, n);
}

static void put_rates(struct sheet *s)
{
	const struct fleet_table *t = &s->f->rates;
	size_t n = t->groups < s->f->options.top ? t->groups : s->f->options.top;

	if (!n)
		return;
	fputs("<section aria-labelledby=\"prices\">\n<h2 id=\"prices\">Prices used</h2>\n<ul>\n",
	      s->out);
	for (size_t i = 0; i < n; i++) {
		fputs("<li><bdi>", s->out);
		html_escape(s->out, fleet_words_rate(&t->group[i], &s->mem));
		fputs("</bdi></li>\n", s->out);
	}
	fputs("</ul>\n<p class=\"soft\">Dollars are the price of the GPUs only, for the time they "
	      "were held. A run counts where it began.</p>\n</section>\n",
	      s->out);
}

static void put_budgets(struct sheet *s)
{
	if (!s->f->budgets)
		return;
	fputs("<section aria-labelledby=\"budgets\">\n<h2 id=\"budgets\">Budgets</h2>\n<ul>\n",
	      s->out);
	for (size_t i = 0; i < s->f->budgets; i++) {
		fputs("<li>", s->out);
		html_escape_sentence(s->out, fleet_words_budget(&s->f->budget[i], &s->mem));
		fputs("</li>\n", s->out);
	}
	fputs("</ul>\n</section>\n", s->out);
}

static void put_overview(struct sheet *s)
{
	put_weeks(s);
	put_fixes(s);
	put_spots(s);
	put_classes(s);
	for (size_t i = 0; i < FLEET_TABLES; i++)
		put_dim(s, fleet_tables[i]);
	put_dim(s, FLEET_DIM_WEEK);
	put_use(s);
	put_runs(s, "failed", fleet_title(FLEET_BY_FAILED), &s->f->failed);
	put_bill(s);
}

static void put_one(struct sheet *s, int by)
{
	if (by < FLEET_DIMS)
		put_dim(s, (enum fleet_dim)by);
	else if (by == FLEET_BY_CLASS)
		put_classes(s);
	else if (by == FLEET_BY_LINE)
		put_spots(s);
	else if (by == FLEET_BY_FIX)
		put_fixes(s);
	else if (by == FLEET_BY_FAILED)
		put_runs(s, "failed", fleet_title(by), &s->f->failed);
	else
		put_bill(s);
}

void fleet_write_html(const struct fleet *f, FILE *out)
{
	struct sheet s = { .f = f, .out = out };

	put_head(&s);
	put_verdict(&s);
	if (f->options.by == FLEET_BY_NOTHING)
		put_overview(&s);
	else
		put_one(&s, f->options.by);
	put_runs(&s, "unlabelled", "Runs that lack the label", &f->unlabelled);
	put_budgets(&s);
	put_rates(&s);
	fputs("</main>\n<footer><p>gpustarve " GPUSTARVE_VERSION
	      ". The same numbers: <code>gpustarve fleet --format json</code>.</p></footer>\n"
	      "</body>\n</html>\n",
	      out);
	view_arena_fini(&s.mem);
}
