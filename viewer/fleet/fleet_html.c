/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fleet as one page with the report's looks: tables and one static chart, no script, nothing
 * fetched. Names come from runs and are untrusted: html_escape.
 */
#include <inttypes.h>
#include <string.h>
#include "base/units.h"
#include "bill.h"
#include "page.h"
#include "report/html/html_script.h"

#define CHART_WIDTH 960
#define CHART_HEIGHT 160
#define CHART_WEEKS 104

static void put_head(struct fleet_page *s)
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

static void put_answer(struct fleet_page *s, const char *what, const char *big, const char *small)
{
	fprintf(s->out, "<div><dt>%s</dt><dd><b>", what);
	html_escape(s->out, big);
	fputs("</b> ", s->out);
	html_escape(s->out, small);
	fputs("</dd></div>\n", s->out);
}

static void put_money(struct fleet_page *s)
{
	const base_wide *m = s->f->total.m;
	base_unit usd, pct, hours;

	put_answer(s, "Cost", fleet_usd(s->f, usd, m[FLEET_USD]),
		   base_arena_printf(&s->mem, "for %s",
				     fleet_gpu_time(s->f, hours, m[FLEET_HELD_NS])));
	put_answer(s, "Wasted", fleet_usd(s->f, usd, m[FLEET_WASTED_USD]),
		   base_arena_printf(&s->mem, "%s %% of the time",
				     base_percent(pct,
						  base_ppm(m[FLEET_WASTED_NS], m[FLEET_HELD_NS]))));
	put_answer(s, "Starved", fleet_usd(s->f, usd, m[FLEET_STARVED_USD]),
		   base_arena_printf(
			   &s->mem, "%s %% of the time",
			   base_percent(pct, base_ppm(m[FLEET_STARVED_NS], m[FLEET_HELD_NS]))));
	put_answer(s, "Failed", fleet_usd(s->f, usd, m[FLEET_FAILED_USD]),
		   base_arena_printf(&s->mem, "in %s that failed, were killed or got lost",
				     fleet_runs_of(hours, s->f->failed.count)));
	put_answer(s, "Idle", fleet_usd(s->f, usd, m[FLEET_IDLE_USD]),
		   base_arena_printf(&s->mem, "for %s %s in minutes under 5 %% busy",
				     fleet_hours_of_minutes(s->f, hours, m[FLEET_MINUTES_IDLE]),
				     fleet_time_name(s->f)));
	put_answer(
		s, "On spot", fleet_usd(s->f, usd, m[FLEET_SPOT_USD]),
		base_arena_printf(&s->mem, "for %s, %s %% of all",
				  fleet_gpu_time(s->f, hours, m[FLEET_SPOT_NS]),
				  base_percent(pct, base_ppm(m[FLEET_SPOT_NS], m[FLEET_HELD_NS]))));
}

static void put_verdict(struct fleet_page *s)
{
	const base_wide *m = s->f->total.m;
	base_unit wasted;

	fputs("<section id=\"verdict\" aria-label=\"Diagnosis\">\n<h1>", s->out);
	if (!m[FLEET_RUNS] && !m[FLEET_HELD_NS])
		fputs("No runs yet", s->out);
	else if (m[FLEET_UNPRICED_NS] == m[FLEET_HELD_NS])
		fputs("No price is known: time only", s->out);
	else
		fprintf(s->out, "%s were wasted", fleet_usd(s->f, wasted, m[FLEET_WASTED_USD]));
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

static void put_group(struct fleet_page *s, const struct fleet_group *g, int by, int64_t cost,
		      int64_t wasted)
{
	const base_wide *m = g->sums.m;
	bool priced = m[FLEET_UNPRICED_NS] != m[FLEET_HELD_NS];
	base_unit text;

	fleet_page_named(s, fleet_group_name(g, by, &s->mem));
	fleet_page_number(s, fleet_hours(s->f, text, m[FLEET_HELD_NS]));
	fleet_page_number(s, priced ? fleet_usd_closed(s->f, text, m[FLEET_USD], cost) : "-");
	fleet_page_number(s,
			  priced ? fleet_usd_closed(s->f, text, m[FLEET_WASTED_USD], wasted) : "-");
	fleet_page_number(s, base_percent(text, base_ppm(m[FLEET_WASTED_NS], m[FLEET_HELD_NS])));
	fleet_page_number(s, base_percent(text, base_ppm(m[FLEET_STARVED_NS], m[FLEET_HELD_NS])));
	fleet_page_number(s, fleet_hours_of_minutes(s->f, text, m[FLEET_MINUTES_IDLE]));
	fleet_page_number(s, base_count(text, (uint64_t)m[FLEET_RUNS]));
	fputs("</tr>\n", s->out);
}

static void put_told(struct fleet_page *s, const struct fleet_table *t, int by, size_t n,
		     const int64_t *quanta)
{
	fputs("<ul>\n", s->out);
	for (size_t i = 0; i < n; i++) {
		fputs("<li><bdi>", s->out);
		html_escape(s->out, fleet_words_group(s->f, &t->group[i], by, quanta[i], &s->mem));
		fputs("</bdi></li>\n", s->out);
	}
	fputs("</ul>\n", s->out);
}

static void put_dim(struct fleet_page *s, int d)
{
	const struct fleet_table *t = fleet_table_of(s->f, d);
	const struct fleet_sums *total = fleet_total_of(s->f, d);
	int64_t quantum = fleet_money_scale(s->f).quantum;
	const int64_t *cost =
		fleet_table_quanta(t, FLEET_USD, total->m[FLEET_USD], quantum, &s->mem);
	const int64_t *wasted = fleet_table_quanta(t, FLEET_WASTED_USD, total->m[FLEET_WASTED_USD],
						   quantum, &s->mem);
	size_t n = t->groups < s->f->options.top ? t->groups : s->f->options.top;
	size_t from = d == FLEET_DIM_WEEK || d == FLEET_BY_MONTH ? t->groups - n : 0;

	if (!t->groups)
		return;
	fleet_page_table(s, fleet_by_name(d), fleet_title(d),
			 T("Name") N(TIME) N("Cost") N("Wasted") N("Wasted %") N("Starved %")
				 N("Idle") N("Runs"));
	for (size_t i = from; i < from + n; i++)
		put_group(s, &t->group[i], d, cost[i], wasted[i]);
	fleet_page_table_end(s, t->groups, n);
	if (fleet_tells_groups(s->f, d))
		put_told(s, t, d, n, cost);
}

/* --- the weeks as columns: what was wasted at the bottom --- */

static int height(base_wide part, base_wide whole)
{
	return whole ? (int)base_div_even(part * CHART_HEIGHT, whole) : 0;
}

static void put_column(struct fleet_page *s, const char *style, int left, int width, int at,
		       int high)
{
	if (high > 0)
		fprintf(s->out, "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>",
			style, left, CHART_HEIGHT - at - high, width, high);
}

/* In dollars; where nothing has a price in time. */
static void put_weeks(struct fleet_page *s)
{
	const struct fleet_table *t = &s->f->dim[FLEET_DIM_WEEK];
	bool priced = s->f->total.m[FLEET_USD] > 0;
	enum fleet_measure all = priced ? FLEET_USD : FLEET_HELD_NS;
	enum fleet_measure bad = priced ? FLEET_WASTED_USD : FLEET_WASTED_NS;
	size_t n = t->groups < CHART_WEEKS ? t->groups : CHART_WEEKS, from = t->groups - n;
	base_wide most = 0;

	if (n < 2)
		return;
	for (size_t i = from; i < t->groups; i++)
		if (t->group[i].sums.m[all] > most)
			most = t->group[i].sums.m[all];
	fprintf(s->out,
		"<section aria-labelledby=\"trend\">\n<h2 id=\"trend\">The trend</h2>\n<figure>"
		"<svg class=\"strip\" viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" "
		"role=\"img\" aria-label=\"%s by week, with what was wasted\">",
		CHART_WIDTH, CHART_HEIGHT, priced ? "Cost" : "GPU time");
	for (size_t i = 0; i < n; i++) {
		const base_wide *m = t->group[from + i].sums.m;
		int left = (int)(i * CHART_WIDTH / n);
		int width = (int)((i + 1) * CHART_WIDTH / n) - left - (n < 60 ? 3 : 1);
		int wasted = height(m[bad], most);

		put_column(s, "f-input", left, width, 0, wasted);
		put_column(s, "f-busy", left, width, wasted, height(m[all], most) - wasted);
	}
	fputs("</svg><figcaption class=\"soft small\">", s->out);
	base_unit usd, hours;
	fprintf(s->out,
		"%s by week from %s to %s, below it in red what was wasted; the highest is ",
		priced ? "Cost" : "GPU time", t->group[from].key[0],
		t->group[t->groups - 1].key[0]);
	fputs(priced ? fleet_usd(s->f, usd, most) : fleet_gpu_time(s->f, hours, most), s->out);
	fputs(".</figcaption></figure>\n</section>\n", s->out);
}

/* --- why --- */

#define PAIR_HEADS(usd) N(usd) N(TIME) N("%") N("Runs")

static void put_pair(struct fleet_page *s, const struct fleet_group *g)
{
	base_unit text;

	fleet_page_number(s, fleet_usd(s->f, text, g->sums.m[FLEET_USD]));
	fleet_page_number(s, fleet_hours(s->f, text, g->sums.m[FLEET_HELD_NS]));
	fleet_page_number(s, base_percent(text, base_ppm(g->sums.m[FLEET_HELD_NS],
							 s->f->begun.m[FLEET_HELD_NS])));
	fleet_page_number(s, base_count(text, (uint64_t)g->sums.m[FLEET_RUNS]));
	fputs("</tr>\n", s->out);
}

static void put_fixes(struct fleet_page *s)
{
	const struct fleet_table *t = &s->f->fixes;
	size_t n = t->groups < s->f->options.top ? t->groups : s->f->options.top;

	if (!n)
		return;
	fleet_page_table(s, "fixes", "Top fixes", T("What, and where") PAIR_HEADS("At most"));
	for (size_t i = 0; i < n; i++) {
		const struct fleet_group *g = &t->group[i];

		fleet_page_what(
			s, base_arena_printf(&s->mem, "%s: %s", g->key[1], g->text ? g->text : ""),
			g->key[3]);
		put_pair(s, g);
	}
	fleet_page_table_end(s, t->groups, n);
}

static void put_hotspots(struct fleet_page *s)
{
	const struct fleet_table *t = &s->f->hotspots;
	size_t n = t->groups < s->f->options.top ? t->groups : s->f->options.top;

	if (!n)
		return;
	fleet_page_table(s, "lines", "Lines of code that made GPUs wait",
			 T("Class, and where") PAIR_HEADS("Cost"));
	for (size_t i = 0; i < n; i++) {
		fleet_page_what(s, t->group[i].key[0], t->group[i].key[1]);
		put_pair(s, &t->group[i]);
	}
	fleet_page_table_end(s, t->groups, n);
}

static void put_classes(struct fleet_page *s)
{
	const struct fleet_table *t = &s->f->classes;

	if (!t->groups)
		return;
	fleet_page_table(s, "classes", "Where the time went", T("Class") PAIR_HEADS("Cost"));
	for (size_t i = 0; i < t->groups; i++) {
		fleet_page_named(s, t->group[i].key[0]);
		put_pair(s, &t->group[i]);
	}
	fleet_page_table_end(s, t->groups, t->groups);
}

static void put_compute(struct fleet_page *s)
{
	const struct fleet_table *t = &s->f->compute;

	if (!t->groups)
		return;
	fleet_page_table(s, "compute", fleet_title(FLEET_BY_COMPUTE),
			 T("Kind, and precision") PAIR_HEADS("Cost"));
	for (size_t i = 0; i < t->groups; i++) {
		fleet_page_what(s, t->group[i].key[0], t->group[i].key[1]);
		put_pair(s, &t->group[i]);
	}
	fleet_page_table_end(s, t->groups, t->groups);
}

/* --- use --- */

static void put_use(struct fleet_page *s)
{
	const base_wide *m = s->f->total.m;
	base_wide all = fleet_minutes(&s->f->total);
	base_unit text;

	if (!all)
		return;
	fleet_page_table(s, "use", "How busy the GPUs were, minute by minute",
			 T("Busy") N(TIME) N("%"));
	for (int b = 0; b < FLEET_BANDS; b++) {
		fleet_page_named(s, fleet_band_names[b]);
		fleet_page_number(s, fleet_hours_of_minutes(s->f, text, m[FLEET_MINUTES_IDLE + b]));
		fleet_page_number(s, base_percent(text, base_ppm(m[FLEET_MINUTES_IDLE + b], all)));
		fputs("</tr>\n", s->out);
	}
	fleet_page_table_end(s, 0, 0);
}

static void put_overview(struct fleet_page *s)
{
	put_weeks(s);
	put_fixes(s);
	put_hotspots(s);
	put_classes(s);
	for (size_t i = 0; i < FLEET_TABLES; i++) {
		int by = fleet_tables[i];

		if (!fleet_is_seen(by) || fleet_is_told(fleet_table_of(s->f, by), by))
			put_dim(s, by);
	}
	put_dim(s, FLEET_DIM_WEEK);
	put_use(s);
	fleet_page_runs(s, "failed", fleet_title(FLEET_BY_FAILED), &s->f->failed);
	fleet_page_bill(s);
}

static void put_one(struct fleet_page *s, int by)
{
	if (by < FLEET_DIMS || fleet_is_cut(by))
		put_dim(s, by);
	else if (by == FLEET_BY_RUN)
		fleet_page_runs(s, "runs", fleet_title(by), &s->f->all);
	else if (by == FLEET_BY_LOST)
		fleet_page_lost(s);
	else if (by == FLEET_BY_UNUSED)
		fleet_page_vacant(s);
	else if (by == FLEET_BY_PLAN)
		fleet_page_plan(s);
	else if (by == FLEET_BY_SAVINGS)
		fleet_page_savings(s);
	else if (by == FLEET_BY_REVIEW)
		fleet_page_review(s);
	else if (by == FLEET_BY_CLASS)
		put_classes(s);
	else if (by == FLEET_BY_LINE)
		put_hotspots(s);
	else if (by == FLEET_BY_FIX)
		put_fixes(s);
	else if (by == FLEET_BY_COMPUTE)
		put_compute(s);
	else if (by == FLEET_BY_FAILED)
		fleet_page_runs(s, "failed", fleet_title(by), &s->f->failed);
	else
		fleet_page_bill(s);
}

void fleet_write_html(const struct fleet *f, FILE *out)
{
	struct fleet_page s = { .f = f, .out = out };

	put_head(&s);
	put_verdict(&s);
	if (f->options.by == FLEET_BY_REVIEW)
		fleet_page_review_first(&s);
	fleet_page_whole(&s);
	if (f->options.by == FLEET_BY_NOTHING)
		put_overview(&s);
	else
		put_one(&s, f->options.by);
	fleet_page_runs(&s, "unlabelled", "Runs that lack the label", &f->unlabelled);
	fleet_page_budgets(&s);
	fleet_page_rates(&s);
	fputs("</main>\n<footer><p>gpustarve " GPUSTARVE_VERSION
	      ". The same numbers: <code>gpustarve fleet --format json</code>.</p></footer>\n"
	      "</body>\n</html>\n",
	      out);
	base_arena_fini(&s.mem);
}
