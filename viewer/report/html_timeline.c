/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One row of stacked columns per GPU, all on one time axis. A column is a stretch of time, its
 * colours are the shares of the classes' families in it. One SVG path per family and GPU keeps the
 * page small; with many GPUs the columns get wider.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "html_priv.h"
#include "base/units.h"

#define COLUMNS_IN_ALL 12000
#define COLUMNS_LEAST 60
#define ROWS_MAX 64
#define HEIGHT 100

static const char *const families[] = { "busy", "comm",	 "copy",    "device",
					"host", "input", "excluded" };
static const char *const family_text[] = { "computing",	    "communicating", "copying",
					   "on the device", "host",	     "starved: input",
					   "not counted" };
#define FAMILIES (sizeof(families) / sizeof(families[0]))

struct axis {
	int64_t start_ns, end_ns;
	size_t columns;
};

struct grid { /* ns per column and family */
	int64_t (*ns)[FAMILIES];
	size_t columns;
};

static size_t family_of(int c)
{
	const char *name = html_family(c);

	for (size_t i = 0; i < FAMILIES; i++)
		if (!strcmp(families[i], name))
			return i;
	return FAMILIES - 1;
}

static void find_axis(const struct ana_result *r, struct axis *a)
{
	*a = (struct axis){ INT64_MAX, INT64_MIN, 0 };
	for (size_t g = 0; g < r->gpus; g++) {
		const struct ana_timeline *t = &r->timeline[g];
		if (!t->count)
			continue;
		if (t->bucket[0].start_ns < a->start_ns)
			a->start_ns = t->bucket[0].start_ns;
		if (t->bucket[t->count - 1].end_ns > a->end_ns)
			a->end_ns = t->bucket[t->count - 1].end_ns;
		if (t->count > a->columns)
			a->columns = t->count;
	}
	size_t rows = r->gpus < ROWS_MAX ? r->gpus : ROWS_MAX;
	size_t most = rows ? COLUMNS_IN_ALL / rows : 0;
	if (most < COLUMNS_LEAST)
		most = COLUMNS_LEAST;
	if (a->columns > most)
		a->columns = most;
}

static size_t column_at(const struct axis *a, int64_t ns)
{
	__int128 at = (__int128)(ns - a->start_ns) * (__int128)a->columns;
	int64_t i = (int64_t)(at / (a->end_ns - a->start_ns));

	if (i < 0)
		return 0;
	return (size_t)i < a->columns ? (size_t)i : a->columns - 1;
}

/* A bucket goes into the column that holds its middle. */
static void fill(struct grid *grid, const struct axis *a, const struct ana_timeline *t)
{
	for (size_t b = 0; b < t->count; b++) {
		const struct ana_bucket *k = &t->bucket[b];
		size_t at = column_at(a, k->start_ns + (k->end_ns - k->start_ns) / 2);
		for (int c = 0; c < ANA_CLASSES; c++)
			grid->ns[at][family_of(c)] += k->classes[c];
	}
}

/* Heights of a column's families, bottom up; rounding goes to the last. */
static void heights(const int64_t ns[FAMILIES], int edge[FAMILIES + 1])
{
	int64_t whole = 0, sum = 0;

	for (size_t i = 0; i < FAMILIES; i++)
		whole += ns[i];
	edge[0] = 0;
	for (size_t i = 0; i < FAMILIES; i++) {
		sum += ns[i];
		edge[i + 1] = whole ? (int)view_div_even((__int128)sum * HEIGHT, whole) : 0;
	}
}

static void put_family(struct html *h, const struct grid *grid, size_t family)
{
	bool open = false;

	for (size_t x = 0; x < grid->columns; x++) {
		int edge[FAMILIES + 1];
		heights(grid->ns[x], edge);
		if (edge[family + 1] == edge[family])
			continue;
		if (!open)
			fprintf(h->f, "<path class=\"f-%s\" d=\"", families[family]);
		open = true;
		fprintf(h->f, "M%zu %dh1v%dh-1z", x, HEIGHT - edge[family + 1],
			edge[family + 1] - edge[family]);
	}
	if (open)
		fputs("\"/>", h->f);
}

static void put_row(struct html *h, const struct axis *a, size_t g)
{
	const struct ana_gpu *gpu = &h->s->result->gpu[g];
	struct grid grid = { calloc(a->columns, sizeof(*grid.ns)), a->columns };
	view_unit share;

	if (!grid.ns)
		return;
	fill(&grid, a, &h->s->result->timeline[g]);
	fprintf(h->f, "<div class=\"line\"><div><span>%sGPU %" PRIu32 " <bdi class=\"mono\">",
		gpu->judgement.flagged ? "<span class=\"bad\">&#9873;</span> " : "", gpu->index);
	html_escape(h->f, gpu->uuid ? gpu->uuid : gpu->name);
	fprintf(h->f, "</bdi></span><span>starved %s %%</span></div>",
		view_percent(share, view_ppm(view_gpu_starved_ns(gpu), gpu->held_ns)));
	fprintf(h->f,
		"<svg viewBox=\"0 0 %zu %d\" preserveAspectRatio=\"none\" shape-rendering=\"crispEdges\" role=\"img\" aria-label=\"timeline of GPU %" PRIu32
		"\">",
		a->columns, HEIGHT, gpu->index);
	for (size_t i = 0; i < FAMILIES; i++)
		put_family(h, &grid, i);
	fputs("</svg></div>\n", h->f);
	free(grid.ns);
}

static void put_legend(struct html *h)
{
	fputs("<div class=\"legend\">", h->f);
	for (size_t i = 0; i < FAMILIES; i++)
		fprintf(h->f, "<span><span class=\"key f-%s\"></span>%s</span>", families[i],
			family_text[i]);
	fputs("</div>\n", h->f);
}

static void put_axis(struct html *h, const struct axis *a)
{
	view_unit at;

	fputs("<div class=\"line\"><div>", h->f);
	for (int i = 0; i <= 4; i++)
		fprintf(h->f, "<span>%s</span>",
			i ? view_duration(at, (a->end_ns - a->start_ns) / 4 * i) : "0");
	fputs("</div></div>\n", h->f);
}

void html_timelines(struct html *h)
{
	const struct ana_result *r = h->s->result;
	struct axis a;

	if (!r->timeline)
		return;
	find_axis(r, &a);
	if (!a.columns || a.end_ns <= a.start_ns)
		return;
	fputs("<h2 id=\"timeline\">Timeline</h2>\n", h->f);
	put_legend(h);
	for (size_t g = 0; g < r->gpus && g < ROWS_MAX; g++)
		put_row(h, &a, g);
	put_axis(h, &a);
	if (r->gpus > ROWS_MAX)
		fprintf(h->f, "<p class=\"soft small\">The first %d of %zu GPUs are drawn.</p>\n",
			ROWS_MAX, r->gpus);
}
