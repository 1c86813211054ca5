/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A strip per GPU, all on one time axis, with the longest gaps marked above it; then these gaps,
 * exactly, and the windows around them.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/series/series.h"
#include "facts/class.h"
#include "html_priv.h"

#define COLUMNS_IN_ALL 2880
#define COLUMNS_MOST 240
#define COLUMNS_LEAST 8
#define STRIPS_MAX 24
#define STRIPS_TABLED 16 /* more GPUs have one table for all, that of the GPUs */
#define STRIPS_TALL 8 /* more GPUs get lower strips */
#define ROWS_IN_ALL 96
#define ROWS_MOST 12
#define WIDTH 960

struct axis {
	int64_t start_ns, end_ns;
	size_t from; /* the GPU whose first bucket begins it */
	size_t columns;
	size_t strips;
};

static void find_axis(const struct html *h, struct axis *a)
{
	const struct ana_result *r = h->s->result;
	*a = (struct axis){ INT64_MAX, INT64_MIN, 0, 0, 0 };
	a->strips = r->gpus < STRIPS_MAX ? r->gpus : STRIPS_MAX;
	for (size_t g = 0; g < r->gpus; g++) {
		const struct ana_timeline *t = &r->timeline[g];
		if (!t->count)
			continue;
		if (t->bucket[0].start_ns < a->start_ns) {
			a->start_ns = t->bucket[0].start_ns;
			a->from = g;
		}
		if (t->bucket[t->count - 1].end_ns > a->end_ns)
			a->end_ns = t->bucket[t->count - 1].end_ns;
	}
	a->columns = a->strips ? html_budget(h, COLUMNS_IN_ALL) / a->strips : 0;
	if (a->columns > COLUMNS_MOST)
		a->columns = COLUMNS_MOST;
	if (a->columns < COLUMNS_LEAST)
		a->columns = COLUMNS_LEAST;
}

static int64_t x_of(const struct axis *a, int64_t ns)
{
	__int128 x = ((__int128)ns - a->start_ns) * WIDTH / ((__int128)a->end_ns - a->start_ns);

	return x < 0 ? 0 : x > WIDTH ? WIDTH : (int64_t)x;
}

static void put_marks(struct html *h, const struct axis *a, size_t g)
{
	const struct ana_result *r = h->s->result;

	html_put(h, "<svg class=\"marks\" viewBox=\"0 0 960 8\" preserveAspectRatio=\"none\" "
		    "aria-hidden=\"true\">");
	for (size_t i = 0; i < r->top_gaps; i++) {
		const struct ana_gap *gap = &r->top_gap[i];
		if (gap->gpu != g)
			continue;
		int64_t from = x_of(a, gap->start_ns), to = x_of(a, gap->end_ns);
		fprintf(h->f, "<path d=\"M%" PRId64 " 0h%" PRId64 "v8h-%" PRId64 "z\"/>", from,
			to > from + 2 ? to - from : 2, to > from + 2 ? to - from : 2);
	}
	html_put(h, "</svg>\n");
}

struct columns { /* of summary.json's timeline: where a group of classes stands in its rows */
	int at[ANA_CLASSES]; /* -1: the class is nowhere in this timeline */
};

static void find_columns(const struct ana_timeline *t, struct columns *c)
{
	int n = 2;

	for (int k = 0; k < ANA_CLASSES; k++) {
		bool used = false;
		for (size_t b = 0; b < t->count && !used; b++)
			used = t->bucket[b].classes[k] != 0;
		c->at[k] = used ? n++ : -1;
	}
}

struct span { /* buckets [first, last] of a GPU's timeline */
	size_t gpu, first, last;
	const struct ana_timeline *line;
	const struct columns *columns;
};

/* The time of the classes of @group, and " + /timeline/.../3..5" for it; "" if it is 0. */
static int64_t sum_of(struct html *h, const struct span *s, enum facts_group group,
		      const char **key)
{
	int first = -1, last = -1;
	int64_t ns = 0;

	for (int c = 0; c < ANA_CLASSES; c++) {
		if (facts_classes[c].group != group || s->columns->at[c] < 0)
			continue;
		first = first < 0 ? s->columns->at[c] : first;
		last = s->columns->at[c];
		for (size_t b = s->first; b <= s->last; b++)
			view_cost_add(&ns, s->line->bucket[b].classes[c]);
	}
	if (first >= 0)
		*key = base_arena_printf(&h->mem, "%s%s/timeline/%zu/buckets/%zu..%zu/%d..%d", *key,
					 **key ? " + " : "", s->gpu, s->first, s->last, first,
					 last);
	return ns;
}

static void put_sum(struct html *h, const struct span *s, enum facts_group group)
{
	const char *key = "";
	int64_t ns = sum_of(h, s, group, &key);

	if (group == FACTS_GROUP_BUSY)
		view_cost_add(&ns, sum_of(h, s, FACTS_GROUP_SKEW, &key));
	HTML_NUMBER_IF(h, *key, html_ns(h, ns, "%s", key));
}

static void put_span(struct html *h, const struct axis *a, const struct span *s)
{
	html_put(h, "<tr><th scope=\"row\">");
	html_ns(h, s->line->bucket[s->first].start_ns - a->start_ns,
		"/timeline/%zu/buckets/%zu/0 - /timeline/%zu/buckets/0/0", s->gpu, s->first,
		a->from);
	html_put(h, " to ");
	html_ns(h, s->line->bucket[s->last].end_ns - a->start_ns,
		"/timeline/%zu/buckets/%zu/1 - /timeline/%zu/buckets/0/0", s->gpu, s->last,
		a->from);
	html_put(h, "</th>");
	put_sum(h, s, FACTS_GROUP_BUSY);
	put_sum(h, s, FACTS_GROUP_INPUT);
	put_sum(h, s, FACTS_GROUP_HOST);
	put_sum(h, s, FACTS_GROUP_DEVICE);
	put_sum(h, s, FACTS_GROUP_EXCLUDED);
	html_put(h, "</tr>\n");
}

static void put_table(struct html *h, const struct axis *a, size_t g)
{
	const struct ana_timeline *t = &h->s->result->timeline[g];
	size_t rows = a->strips ? html_budget(h, ROWS_IN_ALL) / a->strips : 1;
	struct columns columns;

	find_columns(t, &columns);
	rows = rows > ROWS_MOST ? ROWS_MOST : rows ? rows : 1;
	rows = rows > t->count ? t->count : rows;
	html_details(h, "Table");
	html_table_from(h, "/gpus", "GPU %" PRIu32 " over time", h->s->result->gpu[g].index);
	HTML_HEADS(h, "From, to", "n:Busy", "n:Lost to input", "n:Host", "n:On the device",
		   "n:Start-up, shutdown, unused");
	for (size_t i = 0; i < rows; i++) {
		struct span s = { g, i * t->count / rows, (i + 1) * t->count / rows - 1, t,
				  &columns };
		put_span(h, a, &s);
	}
	html_table_end(h);
	html_details_end(h);
}

static void put_caption(struct html *h, size_t g)
{
	const struct ana_gpu *gpu = &h->s->result->gpu[g];

	html_put(h, "<figcaption><span>");
	html_gpu_place(h, g);
	html_put(h, " <span class=\"soft\">");
	html_text(h, "bdi", gpu->name, "/gpus/%zu/name", g);
	html_put(h, "</span>");
	html_put(h, gpu->judgement.flagged ? " <strong class=\"bad\">flagged</strong>" : "");
	html_put(h, "</span> <span>");
	html_gpu_shares(h, g);
	html_put(h, "</span></figcaption>\n");
}

static void put_gpu(struct html *h, const struct axis *a, size_t g)
{
	const struct ana_timeline *t = &h->s->result->timeline[g];
	struct html_strip strip = { t, a->start_ns, a->end_ns, a->columns, NULL };

	if (!t->count)
		return;
	strip.label = base_arena_printf(&h->mem,
					"What GPU %" PRIu32 " did over time; the table "
					"below has the numbers",
					h->s->result->gpu[g].index);
	fprintf(h->f, "<figure class=\"chart\" data-chart=\"timeline\" data-gpu=\"%zu\">\n", g);
	put_caption(h, g);
	html_put(h, "<div class=\"plot\">\n");
	put_marks(h, a, g);
	html_strip(h, &strip);
	html_axis(h, a->end_ns - a->start_ns);
	html_put(h, "</div>\n");
	if (a->strips <= STRIPS_TABLED)
		put_table(h, a, g);
	html_put(h, "</figure>\n");
}

/*
 * "input.fetch", or where a twentieth or more of it is of other classes "input.fetch 61.0 % of it".
 */
static void put_gap_class(struct html *h, const struct ana_gap *g, size_t i)
{
	html_class(h, g->major);
	if (g->class_ns <= 0 ||
	    (__int128)20 * g->class_ns > (__int128)19 * ((__int128)g->end_ns - g->start_ns))
		return;
	html_put(h, " <span class=\"soft small\">");
	html_pct(
		h, base_ppm(g->class_ns, g->end_ns - g->start_ns),
		"/longest_gaps/%zu/class_ns %% /longest_gaps/%zu/end_ns - /longest_gaps/%zu/start_ns",
		i, i, i);
	html_put(h, " of it</span>");
}

static void put_gap(struct html *h, size_t i)
{
	const struct ana_result *r = h->s->result;
	const struct ana_gap *g = &r->top_gap[i];

	html_put(h, "<tr>");
	HTML_NUMBER(h, html_ns(h, g->end_ns - g->start_ns,
			       "/longest_gaps/%zu/end_ns - /longest_gaps/%zu/start_ns", i, i));
	HTML_ROW(h, put_gap_class(h, g, i));
	HTML_NUMBER(h, html_ns(h, g->empty_ns, "/longest_gaps/%zu/empty_ns", i));
	html_put(h, "<td>");
	if (g->gpu < r->gpus) {
		html_gpu_place(h, g->gpu);
		html_put(h, "</td><td class=\"n\">");
		html_ns(h, g->start_ns - r->gpu[g->gpu].held_start_ns,
			"/longest_gaps/%zu/start_ns - /gpus/%" PRIu32 "/held_start_ns", i, g->gpu);
	} else {
		html_put(h, "</td><td>");
	}
	html_put(h, "</td><td class=\"keep\">");
	if (g->pid) {
		html_put(h, "pid ");
		html_id(h, g->pid, "/longest_gaps/%zu/pid", i);
		html_put(h, ", thread ");
		html_id(h, g->tid, "/longest_gaps/%zu/tid", i);
	}
	html_put(h, "</td></tr>\n");
}

static void put_gaps(struct html *h)
{
	const struct ana_result *r = h->s->result;

	if (!r->top_gaps)
		return;
	html_put(h, "<h3 id=\"gaps\">The longest gaps, exactly</h3>\n");
	html_table(h, "Longest gaps between operations");
	HTML_HEADS(h, "n:Length", "Mostly", "n:Nothing submitted", "Where", "n:At", "Submitter");
	for (size_t i = 0; i < r->top_gaps; i++)
		put_gap(h, i);
	html_table_end(h);
}

/* The block's place of a window: GPUs and windows in their order. */
static size_t place_of(const struct ana_series *s, size_t zoom)
{
	size_t at = 0;

	for (size_t i = 0; i < zoom; i++)
		at += s->zoom[i].gpu == s->zoom[zoom].gpu;
	return at;
}

static void put_zoom(struct html *h, size_t i)
{
	const struct ana_result *r = h->s->result;
	const struct ana_zoom *z = &r->series->zoom[i];
	size_t at = place_of(r->series, i);
	int64_t start = z->line.bucket[0].start_ns, end = z->line.bucket[z->line.count - 1].end_ns;
	struct html_strip strip = { &z->line, start, end, COLUMNS_MOST / 2,
				    "The time around a long gap; it is in the table of gaps" };

	html_put(h, "<div class=\"zoom\"><p>GPU ");
	html_id(h, r->gpu[z->gpu].index, "/gpus/%" PRIu32 "/index", z->gpu);
	html_put(h, " <span class=\"soft\">from ");
	html_ns(h, start - r->series->start_ns, "page:/gpus/%" PRIu32 "/fine/%zu/start_ns", z->gpu,
		at);
	html_put(h, ", for ");
	html_ns(h, end - start,
		"page:/gpus/%" PRIu32 "/fine/%zu/end_ns - page:/gpus/%" PRIu32 "/fine/%zu/start_ns",
		z->gpu, at, z->gpu, at);
	html_put(h, "</span></p>\n");
	html_strip(h, &strip);
	html_put(h, "</div>\n");
}

/* Where the block leaves windows out, nothing vouches for their numbers. */
static void put_zooms(struct html *h)
{
	const struct ana_series *s = h->s->result->series;

	if (!s || !s->zooms || html_coarse(h, "timeline"))
		return;
	html_put(h, "<h3>A closer look at the longest gaps</h3>\n<div class=\"zooms\">\n");
	for (size_t i = 0; i < s->zooms; i++)
		if (s->zoom[i].line.count && s->zoom[i].gpu < h->s->result->gpus)
			put_zoom(h, i);
	html_put(h, "</div>\n");
}

void html_timelines(struct html *h)
{
	const struct ana_result *r = h->s->result;
	struct axis a;

	if (!r->timeline)
		return;
	find_axis(h, &a);
	if (a.end_ns <= a.start_ns)
		return;
	html_section(h, "timeline", "Timeline");
	html_put(
		h,
		"<p>Each column is a stretch of time, its parts what the GPU did in it. Whatever took "
		"any time shows, however short. The marks above are the longest gaps.</p>\n");
	html_legend(h, r->classes);
	fprintf(h->f, "<div class=\"strips%s\">\n", a.strips > STRIPS_TALL ? " many" : "");
	for (size_t g = 0; g < a.strips; g++)
		put_gpu(h, &a, g);
	html_put(h, "</div>\n");
	if (a.strips > STRIPS_TABLED)
		html_put(h, "<p>The <a href=\"#gpus\">table of GPUs</a> has their numbers.</p>\n");
	if (r->gpus > a.strips) {
		html_put(h, "<p class=\"soft\">Of ");
		html_count(h, r->gpus, "#/gpus");
		html_put(h, " GPUs the first ones are drawn.</p>\n");
	}
	put_zooms(h);
	put_gaps(h);
	html_section_end(h);
}
