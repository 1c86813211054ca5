/* SPDX-License-Identifier: Apache-2.0 */
/* The loader over time: what its workers did, how long batches took, how many were ready. */
#include <stdlib.h>
#include "analysis/series/series.h"
#include "html_priv.h"

#define COLUMNS_MOST 192
#define ROWS 12
#define CUT 8 /* times the mean: what takes longer is cut off */

/* Colours of the states, in the style sheet. */
static const char *const styles[ANA_WORKER_STATES] = {
	[ANA_WORKER_IO] = "f-input",	  [ANA_WORKER_CPU] = "f-busy",
	[ANA_WORKER_RUNNABLE] = "f-host", [ANA_WORKER_IDLE] = "f-excluded",
	[ANA_WORKER_LOCK] = "f-copy",	  [ANA_WORKER_OTHER] = "f-device",
};

struct cells {
	const struct ana_series *s;
	size_t columns;
};

static size_t column_of(const struct cells *c, size_t cell)
{
	return cell * c->columns / c->s->cells;
}

static void put_states(struct html *h, const struct cells *c)
{
	struct html_stack stack = { c->columns, ANA_WORKER_STATES, NULL, styles,
				    "What workers did over time; the table below has the numbers" };
	int64_t *value = calloc(c->columns * ANA_WORKER_STATES, sizeof(*value));

	if (!value)
		return;
	html_put(h, "<p class=\"soft small\">What workers did, as far as samples show it</p>\n"
		    "<ul class=\"legend\">");
	for (size_t k = 0; k < ANA_WORKER_STATES; k++)
		fprintf(h->f, "<li><span class=\"key %s\"></span>%s</li>", styles[k],
			ana_worker_state_words[k]);
	html_put(h, "</ul>\n");
	for (size_t i = 0; i < c->s->cells; i++)
		for (size_t k = 0; k < ANA_WORKER_STATES; k++)
			view_cost_add(&value[column_of(c, i) * ANA_WORKER_STATES + k],
				      c->s->cell[i].state_ns[k]);
	stack.value = value;
	html_stack(h, &stack);
	free(value);
}

static void add(struct html_point *p, int64_t *count, const struct ana_spread *s)
{
	if (!s->count)
		return;
	if (!p->any || s->min_ns < p->min)
		p->min = s->min_ns;
	if (!p->any || s->max_ns > p->max)
		p->max = s->max_ns;
	p->any = true;
	view_cost_add(&p->mean, s->sum_ns);
	view_cost_add(count, (int64_t)s->count);
}

/* Sums to means; the height: the longest, but at most CUT times the mean of all. */
static int64_t find_top(struct html_point *p, const int64_t *count, size_t columns, bool *cut)
{
	int64_t all = 0, sum = 0, top = 1;

	for (size_t i = 0; i < columns; i++) {
		if (!count[i])
			continue;
		view_cost_add(&sum, p[i].mean);
		view_cost_add(&all, count[i]);
		p[i].mean = base_div_even(p[i].mean, count[i]);
		top = p[i].max > top ? p[i].max : top;
	}
	int64_t mean = all ? base_div_even(sum, all) : 0;
	*cut = mean > 0 && mean < top / CUT;
	return *cut ? mean * CUT : top;
}

static void put_spread(struct html *h, const struct cells *c, bool take)
{
	struct html_point *p = calloc(c->columns, sizeof(*p));
	int64_t *count = calloc(c->columns, sizeof(*count));
	bool cut = false;
	struct html_band band = {
		c->columns, p, 1,
		take ? "Taking a batch over time; the table below has the numbers"
		     : "Making a batch over time; the table below has the numbers"
	};

	for (size_t i = 0; p && count && i < c->s->cells; i++) {
		size_t at = column_of(c, i);
		add(&p[at], &count[at], take ? &c->s->cell[i].take : &c->s->cell[i].fetch);
	}
	if (p && count)
		band.top = find_top(p, count, c->columns, &cut);
	fprintf(h->f, "<p class=\"soft small pair\"><span>%s</span> ",
		take ? "Time in next(), hidden or not: shortest to longest, and mean"
		     : "Making a batch: shortest to longest, and mean");
	html_scale(h, band.top, cut);
	html_put(h, "</p>\n");
	if (p && count)
		html_band(h, &band);
	free(p);
	free(count);
}

static void put_ready(struct html *h, const struct cells *c)
{
	struct html_point *p = calloc(c->columns, sizeof(*p));
	struct html_band band = { c->columns, p, 1,
				  "Batches ready and not taken over time; the table below has the "
				  "numbers" };

	for (size_t i = 0; p && i < c->s->cells; i++) {
		struct html_point *at = &p[column_of(c, i)];
		at->any |= c->s->cell[i].ready > 0;
		at->max = c->s->cell[i].ready > at->max ? c->s->cell[i].ready : at->max;
		at->mean = at->max;
		band.top = at->max > band.top ? at->max : band.top;
	}
	html_put(h, "<p class=\"soft small pair\"><span>Batches ready and not taken</span> "
		    "<span class=\"axis\">full height: ");
	fprintf(h->f, "%lld</span></p>\n", (long long)band.top);
	if (p)
		html_band(h, &band);
	free(p);
}

static int64_t state_sum(const struct ana_series *s, size_t a, size_t b, int state)
{
	int64_t ns = 0;

	for (size_t i = a; i <= b; i++)
		for (int k = 0; k < ANA_WORKER_STATES; k++)
			if (state < 0 || k == state)
				view_cost_add(&ns, s->cell[i].state_ns[k]);
	return ns;
}

static void put_made(struct html *h, const struct ana_series *s, size_t a, size_t b)
{
	struct html_point p = { 0 };
	int64_t count = 0;

	for (size_t i = a; i <= b; i++)
		add(&p, &count, &s->cell[i].fetch);
	HTML_NUMBER(h, html_count(h, (uint64_t)count, "page:/loader/batch/count/%zu..%zu", a, b));
	HTML_NUMBER_IF(
		h, count,
		html_ns(h, base_div_even(p.mean, count),
			"page:/loader/batch/sum_ns/%zu..%zu / page:/loader/batch/count/%zu..%zu", a,
			b, a, b));
	HTML_NUMBER_IF(h, count, html_ns(h, p.max, "max page:/loader/batch/max_ns/%zu..%zu", a, b));
}

static void put_row(struct html *h, const struct ana_series *s, size_t a, size_t b)
{
	int64_t whole = s->has_states ? state_sum(s, a, b, -1) : 0;

	html_put(h, "<tr>");
	HTML_ROW(h, html_ns(h, (int64_t)a * s->cell_ns, "%zu * page:/loader/cell_ns", a));
	put_made(h, s, a, b);
	for (int k = 0; s->has_states && k < ANA_WORKER_STATES; k++)
		HTML_NUMBER(
			h,
			html_pct(
				h, base_ppm(state_sum(s, a, b, k), whole),
				"page:/loader/states/%s/%zu..%zu %% page:/loader/states/*/%zu..%zu",
				ana_worker_state_names[k], a, b, a, b));
	html_put(h, "</tr>\n");
}

static void put_table(struct html *h, const struct ana_series *s)
{
	static const char *const head[] = { "From",	     "n:Batches made",	 "n:Mean",
					    "n:Longest",     "n:Files, network", "n:On CPU",
					    "n:Wants a CPU", "n:Without work",	 "n:Lock",
					    "n:Other" };
	size_t rows = s->cells < ROWS ? s->cells : ROWS;

	/* The block's cells are others then; all together they are the same. */
	if (html_coarse(h, "loader"))
		rows = 1;
	html_details(h, "Table");
	html_table(h, "The loader over time");
	html_columns(h, head, s->has_states ? 10 : 4);
	for (size_t i = 0; i < rows; i++)
		put_row(h, s, i * s->cells / rows, (i + 1) * s->cells / rows - 1);
	html_table_end(h);
	html_details_end(h);
}

void html_workers(struct html *h)
{
	const struct ana_series *s = h->s->result->series;
	struct cells c;

	if (!s || !s->cell || !s->cells)
		return;
	size_t most = html_budget(h, COLUMNS_MOST);
	c = (struct cells){ s, s->cells < most ? s->cells : most };
	html_put(h, "<h3>Over time</h3>\n<figure class=\"chart\" data-chart=\"workers\">\n"
		    "<figcaption>What the loader did, all processes together</figcaption>\n"
		    "<div class=\"plot\">\n");
	if (s->has_states)
		put_states(h, &c);
	put_spread(h, &c, false);
	put_spread(h, &c, true);
	if (s->has_ready)
		put_ready(h, &c);
	html_axis(h, s->end_ns - s->start_ns);
	html_put(h, "</div>\n");
	put_table(h, s);
	html_put(h, "</figure>\n");
}
