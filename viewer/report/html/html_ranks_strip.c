/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All ranks over time in one picture: a row per rank, the stronger the colour the more of that time
 * it starved, or waited in a collective for a later rank.
 */
#include <inttypes.h>
#include <string.h>
#include "html_priv.h"

#define WIDTH 960
#define ROW_HEIGHT 14
#define CELLS_MAX 4000 /* of the picture, for pages of many ranks */
#define COLUMNS_MAX 160
#define COLUMNS_MIN 24
#define LEVELS 4

static const struct ana_ranks *ranks(const struct html *h)
{
	return &h->s->result->ranks;
}

struct cell {
	int64_t whole, input, skew;
};

/* 0: nothing, to LEVELS: all of the column's time. */
static int level(int64_t part, int64_t whole)
{
	if (part <= 0 || whole <= 0 || part < whole / 50)
		return 0;
	return 1 + (int)((__int128)part * (LEVELS - 1) / whole);
}

/* What brings a rank's stamps onto the first host's clock. */
static int64_t offset_of(const struct html *h, size_t row)
{
	const struct ana_ranks *r = ranks(h);
	const char *host = h->s->result->gpu[r->row[row].gpu].host;

	for (size_t i = 0; host && i < r->clocks; i++)
		if (r->clock[i].host && !strcmp(r->clock[i].host, host))
			return r->clock[i].offset_ns;
	return 0;
}

struct axis { /* of the picture, on the first host's clock */
	int64_t start, end;
	size_t columns;
};

static size_t column_of(const struct axis *a, const struct ana_bucket *k, int64_t offset)
{
	__int128 at = ((__int128)k->start_ns + k->end_ns) / 2 + offset - a->start;
	__int128 x = at * (__int128)a->columns / ((__int128)a->end - a->start);

	return x < 0 ? 0 : x < (__int128)a->columns ? (size_t)x : a->columns - 1;
}

static void fill(struct cell *cell, const struct axis *a, const struct ana_timeline *line,
		 int64_t offset)
{
	for (size_t b = 0; b < line->count; b++) {
		const struct ana_bucket *k = &line->bucket[b];
		struct cell *c = &cell[column_of(a, k, offset)];

		for (int n = 0; n < ANA_CLASSES; n++) {
			view_cost_add(&c->whole, k->classes[n]);
			if (ana_class_is_input(n))
				view_cost_add(&c->input, k->classes[n]);
		}
		view_cost_add(&c->skew, k->classes[ANA_COMM_SKEW]);
	}
}

/* Which kind of a column's time is painted, and how strongly; 0: none. */
static int paint(const struct cell *c, bool skew)
{
	if ((c->skew > c->input) != skew)
		return 0;
	return level(skew ? c->skew : c->input, c->whole);
}

/* The columns of one kind and level, those that touch as one. */
static void put_level(struct html *h, const struct cell *cell, size_t columns, size_t row,
		      bool skew, int wanted)
{
	bool open = false;

	for (size_t x = 0, end; x < columns; x = end) {
		size_t left = x * WIDTH / columns;

		end = x + 1;
		if (paint(&cell[x], skew) != wanted)
			continue;
		while (end < columns && paint(&cell[end], skew) == wanted)
			end++;
		if (!open)
			fprintf(h->f, "<path class=\"f-%s\" fill-opacity=\"%d.%02d\" d=\"",
				skew ? "comm" : "input", wanted / LEVELS,
				wanted % LEVELS * 100 / LEVELS);
		open = true;
		fprintf(h->f, "M%zu %zuh%zuv%dh-%zuz", left, row * ROW_HEIGHT,
			end * WIDTH / columns - left, ROW_HEIGHT - 2, end * WIDTH / columns - left);
	}
	html_put(h, open ? "\"/>" : "");
}

static void put_row_strip(struct html *h, const struct axis *a, size_t row)
{
	struct cell cell[COLUMNS_MAX] = { { 0 } };

	fill(cell, a, &h->s->result->timeline[ranks(h)->row[row].gpu], offset_of(h, row));
	for (int n = 1; n <= LEVELS; n++) {
		put_level(h, cell, a->columns, row, false, n);
		put_level(h, cell, a->columns, row, true, n);
	}
}

static struct axis find_axis(const struct html *h, size_t shown)
{
	struct axis a = { .start = INT64_MAX, .end = INT64_MIN, .columns = CELLS_MAX / shown };

	for (size_t i = 0; i < shown && h->s->result->timeline; i++) {
		const struct ana_timeline *line = &h->s->result->timeline[ranks(h)->row[i].gpu];
		int64_t from, to;

		if (!line->count)
			continue;
		from = line->bucket[0].start_ns;
		to = line->bucket[line->count - 1].end_ns;
		view_cost_add(&from, offset_of(h, i));
		view_cost_add(&to, offset_of(h, i));
		a.start = from < a.start ? from : a.start;
		a.end = to > a.end ? to : a.end;
	}
	a.columns = a.columns > COLUMNS_MAX ? COLUMNS_MAX : a.columns;
	a.columns = a.columns < COLUMNS_MIN ? COLUMNS_MIN : a.columns;
	return a;
}

/* What the picture's rows add up to. */
static void put_sums(struct html *h, size_t shown)
{
	html_details(h, "Table");
	html_table(h, "What each rank lost in all");
	HTML_HEADS(h, "Rank", "n:Starved, with what others starved",
		   "n:In a collective for a later rank");
	for (size_t i = 0; i < shown; i++) {
		uint32_t g = ranks(h)->row[i].gpu;

		html_put(h, "<tr>");
		HTML_ROW(h, html_rank_name(h, i, ""));
		HTML_NUMBER(h, html_ns(h, view_gpu_starved_ns(&h->s->result->gpu[g]),
				       "/gpus/%" PRIu32 "/starved_ns", g));
		HTML_NUMBER(h, html_ns(h, h->s->result->gpu[g].classes[ANA_COMM_SKEW],
				       "/gpus/%" PRIu32 "/classes/comm.skew", g));
		html_put(h, "</tr>\n");
	}
	html_table_end(h);
	html_details_end(h);
}

/*
 * One row per rank from left to right: what it starved, and what it waited for others. data-rows
 * has gpu:offset_ns of each row, for the script that draws it anew.
 */
void html_ranks_strip(struct html *h, size_t shown)
{
	struct axis a = find_axis(h, shown);

	if (a.start >= a.end)
		return;
	html_put(h, "<figure class=\"chart\" data-chart=\"ranks\" data-rows=\"");
	for (size_t i = 0; i < shown; i++)
		fprintf(h->f, "%s%" PRIu32 ":%" PRId64, i ? " " : "", ranks(h)->row[i].gpu,
			offset_of(h, i));
	html_put(
		h,
		"\">\n<figcaption><span>A row per rank, in "
		"the table's order, over the run: <span class=\"key f-input\"></span> starved, <span "
		"class=\"key f-comm\"></span> in a collective for a later rank; the stronger, the "
		"more</span></figcaption>\n<div class=\"plot\">\n");
	fprintf(h->f,
		"<svg viewBox=\"0 0 %d %zu\" role=\"img\" aria-label=\"What each rank did over time; "
		"the table below has the sums\" preserveAspectRatio=\"none\">",
		WIDTH, shown * ROW_HEIGHT);
	for (size_t i = 0; i < shown; i++)
		put_row_strip(h, &a, i);
	html_put(h, "</svg>\n</div>\n");
	put_sums(h, shown);
	html_put(h, "</figure>\n");
}
