/* SPDX-License-Identifier: Apache-2.0 */
/* Steps over time, how their times spread, and the slowest of them. */
#include <inttypes.h>
#include <stdlib.h>
#include "analysis/series/series.h"
#include "findings/words.h"
#include "html_priv.h"

#define SERIES_MAX 8
#define COLUMNS_IN_ALL 720
#define COLUMNS_MOST 240
#define ROWS 12
#define OUTLIERS_SHOWN 10
#define CUT 6 /* times the 95th percentile: what is slower is cut off, and listed */

static void put_process(struct html *h, uint32_t i)
{
	const struct ana_result *r = h->s->result;

	if (i >= r->processes) {
		html_put(h, "a process");
	} else if (r->process[i].has_rank) {
		html_put(h, "rank ");
		html_id(h, r->process[i].rank, "/run/processes/%" PRIu32 "/rank", i);
	} else {
		html_put(h, "pid ");
		html_id(h, r->process[i].pid, "/run/processes/%" PRIu32 "/pid", i);
	}
}

static void add(struct html_point *p, int64_t *count, const struct ana_step_bucket *b)
{
	if (!p->any || b->min_ns < p->min)
		p->min = b->min_ns;
	if (!p->any || b->max_ns > p->max)
		p->max = b->max_ns;
	p->any = true;
	view_cost_add(&p->mean, b->sum_ns);
	view_cost_add(&p->part, b->input_ns);
	view_cost_add(count, (int64_t)b->count);
}

/* Sums until here; then means. */
static void divide(struct html_point *p, const int64_t *count, size_t columns)
{
	for (size_t i = 0; i < columns; i++) {
		if (!count[i])
			continue;
		p[i].mean = base_div_even(p[i].mean, count[i]);
		p[i].part = base_div_even(p[i].part, count[i]);
	}
}

static void put_band(struct html *h, const struct ana_step_series *l, size_t columns, int64_t top)
{
	const struct ana_series *s = h->s->result->series;
	struct html_point *p = calloc(columns, sizeof(*p));
	int64_t *count = calloc(columns, sizeof(*count));
	struct html_band band = { columns, p, top, "Step times; the table below has the numbers" };

	for (size_t i = 0; p && count && i < l->buckets; i++) {
		size_t at = html_column(s->start_ns, s->end_ns, columns, l->bucket[i].start_ns);
		add(&p[at], &count[at], &l->bucket[i]);
	}
	if (p && count) {
		divide(p, count, columns);
		html_band(h, &band);
	}
	free(p);
	free(count);
}

struct rows { /* buckets [a, b] of series @at of the block */
	size_t at, a, b;
	const struct ana_step_series *l;
};

static void put_row(struct html *h, const struct rows *w)
{
	struct html_point p = { 0 };
	int64_t count = 0;

	for (size_t i = w->a; i <= w->b; i++)
		add(&p, &count, &w->l->bucket[i]);
	html_put(h, "<tr>");
	HTML_ROW(h, html_ns(h, w->l->bucket[w->a].start_ns - h->s->result->series->start_ns,
			    "page:/steps/series/%zu/start_ns/0..%zu", w->at, w->a));
	HTML_NUMBER(h, html_count(h, (uint64_t)count, "page:/steps/series/%zu/count/%zu..%zu",
				  w->at, w->a, w->b));
	HTML_NUMBER(h, html_ns(h, p.min, "min page:/steps/series/%zu/min_ns/%zu..%zu", w->at, w->a,
			       w->b));
	HTML_NUMBER(
		h,
		html_ns(h, base_div_even(p.mean, count ? count : 1),
			"page:/steps/series/%zu/sum_ns/%zu..%zu / page:/steps/series/%zu/count/%zu..%zu",
			w->at, w->a, w->b, w->at, w->a, w->b));
	HTML_NUMBER(h, html_ns(h, p.max, "max page:/steps/series/%zu/max_ns/%zu..%zu", w->at, w->a,
			       w->b));
	HTML_NUMBER(
		h,
		html_ns(h, base_div_even(p.part, count ? count : 1),
			"page:/steps/series/%zu/input_ns/%zu..%zu / page:/steps/series/%zu/count/%zu..%zu",
			w->at, w->a, w->b, w->at, w->a, w->b));
	html_put(h, "</tr>\n");
}

static void put_table(struct html *h, const struct ana_step_series *l, size_t at)
{
	size_t rows = l->buckets < ROWS ? l->buckets : ROWS;

	if (html_coarse(
		    h,
		    "steps")) /* the block's buckets are others then; all together they are the same */
		rows = 1;
	html_details(h, "Table");
	html_table_from(h, "page:/steps", "Steps over time, series %zu", at + 1);
	HTML_HEADS(h, "From", "n:Steps", "n:Shortest", "n:Mean", "n:Longest",
		   "n:Its GPU waited for input");
	for (size_t i = 0; i < rows; i++) {
		struct rows w = { at, i * l->buckets / rows, (i + 1) * l->buckets / rows - 1, l };
		put_row(h, &w);
	}
	html_table_end(h);
	html_details_end(h);
}

static int64_t find_top(const struct ana_result *r)
{
	const struct ana_series *s = r->series;
	int64_t top = 1;

	for (size_t i = 0; i < s->step_series && i < SERIES_MAX; i++)
		for (size_t b = 0; b < s->steps[i].buckets; b++)
			if (s->steps[i].bucket[b].max_ns > top)
				top = s->steps[i].bucket[b].max_ns;
	if (r->step_p95_ns > 0 && r->step_p95_ns < top / CUT)
		top = r->step_p95_ns * CUT;
	return top;
}

static void put_one(struct html *h, size_t at, size_t columns, int64_t top)
{
	const struct ana_series *s = h->s->result->series;

	fprintf(h->f,
		"<figure class=\"chart\" data-chart=\"steps\" data-series=\"%zu\">\n<figcaption>"
		"<span>",
		at);
	put_process(h, s->steps[at].process);
	html_put(h, "</span> ");
	html_scale(h, top, h->s->result->step_p95_ns > 0 && top == h->s->result->step_p95_ns * CUT);
	html_put(h, "</figcaption>\n<div class=\"plot\">\n");
	put_band(h, &s->steps[at], columns, top);
	html_axis(h, s->end_ns - s->start_ns);
	html_put(h, "</div>\n");
	put_table(h, &s->steps[at], at);
	html_put(h, "</figure>\n");
}

static void put_series(struct html *h)
{
	const struct ana_series *s = h->s->result->series;
	size_t n = s->step_series < SERIES_MAX ? s->step_series : SERIES_MAX;
	size_t columns = n ? html_budget(h, COLUMNS_IN_ALL) / n : 0;
	int64_t top = find_top(h->s->result);

	if (!n || s->end_ns <= s->start_ns)
		return;
	html_put(
		h,
		"<h3>Over time</h3>\n<p class=\"soft\">From the shortest to the longest step of each "
		"moment, with their mean; below, in red, the part of it in which its GPU waited for "
		"input: all <code>input.*</code> of the ledger that lies in it.</p>\n");
	fprintf(h->f, "<div class=\"strips%s\">\n", n > 2 ? " many" : "");
	for (size_t i = 0; i < n; i++)
		put_one(h, i, columns < COLUMNS_MOST ? columns : COLUMNS_MOST, top);
	html_put(h, "</div>\n");
	if (s->step_series > n)
		fprintf(h->f, "<p class=\"soft\">The first %zu processes are drawn.</p>\n", n);
}

struct bins {
	unsigned int first, end; /* in use */
	uint64_t most;
};

static struct bins find_bins(const struct ana_series *s)
{
	struct bins b = { 0, ANA_HISTOGRAM_BINS, 0 };

	while (b.first < b.end && !s->histogram[b.first])
		b.first++;
	while (b.end > b.first && !s->histogram[b.end - 1])
		b.end--;
	for (unsigned int i = b.first; i < b.end; i++)
		b.most = s->histogram[i] > b.most ? s->histogram[i] : b.most;
	return b;
}

/* A bin with any steps is two units high: one slow step of a million shows. */
static void put_bars(struct html *h, const struct ana_series *s, const struct bins *b)
{
	unsigned int n = b->end - b->first;

	html_put(
		h,
		"<svg class=\"band\" viewBox=\"0 0 960 120\" preserveAspectRatio=\"none\" role=\"img\" "
		"aria-label=\"How step times spread; the table below has the numbers\">"
		"<path class=\"c-bar\" d=\"");
	for (unsigned int i = 0; i < n; i++) {
		uint64_t count = s->histogram[b->first + i];
		int y = count ? (int)base_div_even((__int128)count * 120, (__int128)b->most) : 0;
		unsigned int x = i * 960 / n, w = (i + 1) * 960 / n - x;
		if (count)
			fprintf(h->f, "M%u 120v-%dh%uv%dz", x, y < 2 ? 2 : y, w > 2 ? w - 1 : w,
				y < 2 ? 2 : y);
	}
	html_put(h, "\"/></svg>\n");
}

static void put_bins(struct html *h, const struct ana_series *s, const struct bins *b)
{
	unsigned int n = b->end - b->first, rows = n < ROWS ? n : ROWS;

	html_details(h, "Table");
	html_table(h, "Steps by how long they took");
	HTML_HEADS(h, "From", "To", "n:Steps");
	for (unsigned int i = 0; i < rows; i++) {
		unsigned int from = i * n / rows, to = (i + 1) * n / rows;
		uint64_t count = 0;
		for (unsigned int k = from; k < to; k++)
			count += s->histogram[b->first + k];
		html_put(h, "<tr>");
		HTML_ROW(h, html_ns(h, ana_histogram_edge(b->first + from),
				    "page:/steps/histogram/edges_ns/%u", from));
		HTML_CELL(h, html_ns(h, ana_histogram_edge(b->first + to),
				     "page:/steps/histogram/edges_ns/%u", to));
		HTML_NUMBER(h, html_count(h, count, "page:/steps/histogram/count/%u..%u", from,
					  to - 1));
		html_put(h, "</tr>\n");
	}
	html_table_end(h);
	html_details_end(h);
}

static void put_histogram(struct html *h)
{
	const struct ana_series *s = h->s->result->series;
	struct bins b = find_bins(s);
	base_unit text;

	if (b.first >= b.end)
		return;
	html_put(
		h,
		"<h3>How they spread</h3>\n<figure class=\"chart\" data-chart=\"histogram\">\n"
		"<figcaption>Steps by duration; each doubling of it is cut into eight equal bins, drawn "
		"equally wide</figcaption>\n"
		"<div class=\"plot\">\n");
	put_bars(h, s, &b);
	fprintf(h->f, "<div class=\"axis\" aria-hidden=\"true\"><span>%s</span>",
		base_duration(text, ana_histogram_edge(b.first)));
	fprintf(h->f, "<span>%s</span></div>\n</div>\n",
		base_duration(text, ana_histogram_edge(b.end)));
	put_bins(h, s, &b);
	html_put(h, "</figure>\n");
}

static void put_outlier(struct html *h, size_t i)
{
	const struct ana_series *s = h->s->result->series;
	const struct ana_step *o = &s->outlier[i];

	html_put(h, "<tr>");
	HTML_NUMBER(h,
		    html_ns(h, o->end_ns - o->start_ns,
			    "page:/steps/outliers/%zu/end_ns - page:/steps/outliers/%zu/start_ns",
			    i, i));
	HTML_CELL_IN(h, "th scope=\"row\" class=\"keep\"", put_process(h, o->process));
	HTML_NUMBER(h,
		    html_ns(h, o->start_ns - s->start_ns, "page:/steps/outliers/%zu/start_ns", i));
	HTML_NUMBER(h, html_ns(h, o->input_ns, "page:/steps/outliers/%zu/input_ns", i));
	html_put(h, "</tr>\n");
}

static void put_outliers(struct html *h)
{
	const struct ana_series *s = h->s->result->series;

	if (!s->outliers)
		return;
	html_put(h, "<h3>The slowest</h3>\n");
	html_table(h, "The slowest steps, exactly");
	HTML_HEADS(h, "n:Took", "Of", "n:Began after", "n:Its GPU waited for input");
	for (size_t i = 0; i < s->outliers && i < OUTLIERS_SHOWN; i++)
		put_outlier(h, i);
	html_table_end(h);
}

static void put_sentence(struct html *h)
{
	const struct view_summary *s = h->s;
	const struct ana_result *r = s->result;
	enum view_outcome_bound bound = view_told_bound(s);

	html_put(h, bound ? "<p>At least " : "<p>");
	html_count(h, view_steps_shown(r), "/steps/count");
	fprintf(h->f, " steps%s, found by %s%s", view_steps_of_words(r),
		view_step_source_words[r->step_source], bound ? ", up to the last record" : "");
	if (view_steps_recorded(r)) {
		html_put(h, "; of ");
		html_count(h, r->unrecorded.steps_recorded, "/steps/recorded");
		html_put(h, " that were recorded");
	}
	if (r->step_median_ns >= 0) {
		html_put(h, view_steps_recorded(r) ? " median " : "; median ");
		html_ns(h, r->step_median_ns, "/steps/median_ns");
		html_put(h, ", p95 ");
		html_ns(h, r->step_p95_ns, "/steps/p95_ns");
	}
	if (s->step_nano_usd >= 0) {
		html_put(h, "; each cost ");
		html_put(h, view_bound_each[bound]);
		html_money(h, s->step_nano_usd, "/cost/usd_per_step");
		html_put_kind(
			h,
			view_working_ns(s) >= r->gpu_ns ? ""
			: !view_projects(s)
				? ", start-up, shutdown and all else that was paid included"
				: ", start-up, shutdown and all else that was paid included; what stands "
				  "per thousand steps is of the training time alone");
	}
	html_put(h, ".</p>\n");
}

void html_steps(struct html *h)
{
	const struct ana_result *r = h->s->result;

	if (!view_steps_shown(r))
		return;
	html_section(h, "steps", "Steps");
	put_sentence(h);
	if (r->series && r->series->step_series) {
		put_series(h);
		put_histogram(h);
		put_outliers(h);
	}
	html_section_end(h);
}
