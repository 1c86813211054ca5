/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the hosts' code did while GPUs starved: a graph per process and role, root on top. A frame's
 * width is GPU time; what is too narrow to be seen is left out, and stays in its parent.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/series/series.h"
#include "base/utf8.h"
#include "html_priv.h"
#include "wire/evidence.h"

#define GRAPHS_MAX 12
#define GRAPHS_COARSE 4 /* so many the block has at least */
#define FRAMES_IN_ALL 600
#define FRAMES_LEAST 16
#define WIDTH 960
#define ROW 20
#define DEPTH_MAX 40
#define LETTERS 15 /* of the small type in a hundred of the picture's units */
#define HOT 10

struct box {
	int64_t from_ns; /* where it begins, from the root's left edge */
	int64_t used_ns; /* by its children that were placed */
	uint32_t depth;
	enum ana_class class;
	bool drawn;
};

struct graph {
	const struct ana_series *s;
	const struct ana_flame *f;
	struct box *box;
	size_t at; /* in the series and the block */
	uint32_t deepest;
	int64_t least_ns;
};

static const char *role_text(uint8_t role)
{
	switch (role) {
	case WIRE_ROLE_SUBMITTER:
		return "the main process";
	case WIRE_ROLE_WORKER:
		return "loader workers";
	case WIRE_ROLE_PIN:
		return "the pin thread";
	case WIRE_ROLE_WORKER_OTHER:
		return "workers&#39; other threads";
	case WIRE_ROLE_PRODUCER:
		return "threads that were waited for";
	case WIRE_ROLE_FEEDER:
		return "threads that feed the main process";
	default:
		return "other threads";
	}
}

static const char *name_of(const struct graph *g, size_t i)
{
	uint32_t frame = g->f->node[i].frame;

	return i && frame < g->s->frames ? g->s->frame[frame] : "all";
}

/* A parent comes before its children, and these lie side by side in their order. */
static void place(struct graph *g)
{
	for (size_t i = 1; i < g->f->nodes; i++) {
		const struct ana_flame_node *n = &g->f->node[i];
		struct box *b = &g->box[i], *up = &g->box[n->parent];
		int class = up->depth ? (int)up->class : ana_class_by_name(name_of(g, i));

		b->from_ns = up->from_ns + up->used_ns;
		up->used_ns += n->ns;
		b->depth = up->depth + 1;
		b->class = class < 0 ? ANA_HOST_UNKNOWN : (enum ana_class) class;
		b->drawn = up->drawn && n->ns >= g->least_ns && b->depth < DEPTH_MAX;
		if (b->drawn && b->depth > g->deepest)
			g->deepest = b->depth;
	}
}

static int by_ns(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? 1 : x > y ? -1 : 0;
}

/* So wide that at most @most frames are drawn, and none is narrower than a line. */
static int64_t find_least(const struct ana_flame *f, size_t most)
{
	int64_t *ns = malloc(f->nodes * sizeof(*ns)), least = f->node[0].ns / 480 + 1;

	if (!ns)
		return least;
	for (size_t i = 0; i < f->nodes; i++)
		ns[i] = f->node[i].ns;
	qsort(ns, f->nodes, sizeof(*ns), by_ns);
	if (f->nodes > most && ns[most] >= least)
		least = ns[most] + 1;
	free(ns);
	return least;
}

static int x_of(const struct graph *g, int64_t ns)
{
	return (int)((__int128)ns * WIDTH / (g->f->node[0].ns > 0 ? g->f->node[0].ns : 1));
}

/* What stands behind the last of these folders, or @path. */
static const char *below(const char *path, const char *folder)
{
	const char *p = strstr(path, folder);

	return p ? below(p + strlen(folder), folder) : path;
}

/*
 * "Step.body train.py:192" of "Step.body /srv/job/train.py:192", and "Linear.forward
 * torch/nn/modules/linear.py:125" of a package's: what is before is the same in frame after frame.
 */
static const char *brief(struct html *h, const char *name)
{
	const char *path = strstr(name, " /"), *file;

	if (!path)
		return name;
	file = below(below(path, "/site-packages/"), "/dist-packages/");
	if (file == path)
		file = strrchr(path, '/') + 1;
	return base_arena_printf(&h->mem, "%.*s %s", (int)(path - name), name, file);
}

/* As much of a name as there is room for; three letters are none. */
static void put_name(struct html *h, const char *whole, int x, int y, int width)
{
	size_t room = width > 6 ? (size_t)(width - 6) * LETTERS / 100 : 0;
	const char *name = room < 4 ? NULL : brief(h, whole);
	size_t columns = name ? base_utf8_columns(name) : 0;
	size_t bytes = 0;

	if (!name)
		return;
	fprintf(h->f, "<text x=\"%d\" y=\"%d\">", x + 4, y + 14);
	if (name != whole || columns > room) {
		html_put(h, "<title>");
		html_escape(h->f, whole);
		html_put(h, "</title>");
	}
	if (columns <= room) {
		html_escape(h->f, name);
	} else {
		for (size_t k = 0; k + 1 < room && name[bytes]; k++) {
			size_t n = base_utf8_length(name + bytes, strlen(name + bytes));
			bytes += n ? n : 1;
		}
		html_escape(h->f, base_arena_copy(&h->mem, name, bytes));
		html_put(h, "&#8230;");
	}
	html_put(h, "</text>");
}

static void put_frame(struct html *h, const struct graph *g, size_t i)
{
	const struct box *b = &g->box[i];
	int x = x_of(g, b->from_ns), y = (int)b->depth * ROW;
	int width = x_of(g, b->from_ns + g->f->node[i].ns) - x;

	fprintf(h->f, "<rect class=\"%s%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>",
		i ? "t-" : "t-excluded", i ? html_colour((int)b->class) : "", x, y,
		width > 0 ? width : 1, ROW - 1);
	put_name(h, name_of(g, i), x, y, width);
}

static void put_picture(struct html *h, const struct graph *g)
{
	html_put(
		h,
		"<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Flame graph of ");
	html_put(h, role_text(g->f->role));
	fprintf(h->f, ", %zu\">", g->at + 1);
	fprintf(h->f,
		"<svg class=\"flame\" viewBox=\"0 0 %d %u\" role=\"img\" aria-label=\"Stacks; the table "
		"below has the heaviest\">\n",
		WIDTH, (g->deepest + 1) * ROW);
	for (size_t i = 0; i < g->f->nodes; i++)
		if (g->box[i].drawn)
			put_frame(h, g, i);
	html_put(h, "</svg></div>\n");
}

static void put_process(struct html *h, uint32_t i)
{
	const struct ana_result *r = h->s->result;

	if (i >= r->processes) {
		html_put(h, "A process");
	} else if (r->process[i].has_rank) {
		html_put(h, "Rank ");
		html_id(h, r->process[i].rank, "/run/processes/%" PRIu32 "/rank", i);
	} else {
		html_put(h, "Process ");
		html_id(h, r->process[i].pid, "/run/processes/%" PRIu32 "/pid", i);
	}
}

/* "Rank 3, loader workers" */
static void put_whose(struct html *h, const struct ana_flame *f)
{
	put_process(h, f->process);
	html_put(h, ", ");
	html_put(h, role_text(f->role));
}

static void put_choice(struct html *h, const struct graph *g)
{
	html_put(h, g->at ? "<details class=\"choice\"><summary>"
			  : "<details class=\"choice\" open><summary>");
	put_whose(h, g->f);
	html_put(h, ": ");
	html_ns(h, g->f->node[0].ns, "page:/flame/graphs/%zu/ns", g->at);
	html_put(h, "</summary>\n");
	put_picture(h, g);
	html_put(h, "</details>\n");
}

static size_t graphs_of(const struct html *h)
{
	size_t most = html_coarse(h, "flame") ? GRAPHS_COARSE : GRAPHS_MAX;

	return h->s->result->series->flames < most ? h->s->result->series->flames : most;
}

static size_t most_frames(const struct html *h)
{
	size_t most = html_budget(h, FRAMES_IN_ALL) / graphs_of(h);

	return most < FRAMES_LEAST ? FRAMES_LEAST : most;
}

static void put_graph(struct html *h, size_t at)
{
	const struct ana_series *s = h->s->result->series;
	struct graph g = { .s = s, .f = &s->flame[at], .at = at };

	if (!g.f->nodes)
		return;
	g.box = calloc(g.f->nodes, sizeof(*g.box));
	if (!g.box)
		return;
	g.least_ns = find_least(g.f, most_frames(h));
	g.box[0].drawn = true;
	place(&g);
	put_choice(h, &g);
	free(g.box);
}

/* What the table looks for: ends of stacks. */
struct ends {
	const struct ana_series *s;
	const struct ana_flame *f;
	size_t at; /* of the graph */
	int64_t *largest; /* of a node's children */
	bool *other; /* it has a child for what was cut off; the block has that one first */
	bool *done;
};

static bool is_other(const struct ends *e, size_t i)
{
	return i && !strcmp(e->s->frame[e->f->node[i].frame], "(other)");
}

/* Where the block has this node. */
static size_t place_of(const struct ends *e, size_t node)
{
	size_t at = 0;

	for (size_t i = 0; i < node; i++)
		at += is_other(e, i) ? 0 : e->other[i] ? 2 : 1;
	return at;
}

static void put_hot(struct html *h, const struct ends *e, size_t i)
{
	html_put(h, "<tr>");
	HTML_ROW(h, put_whose(h, e->f));
	html_put(h, "<td class=\"wide mono\"><bdi data-from=\"page:/flame/frames\">");
	html_escape(h->f, e->s->frame[e->f->node[i].frame]);
	html_put(h, "</bdi></td>");
	HTML_NUMBER(h, html_ns(h, e->f->node[i].ns, "page:/flame/graphs/%zu/ns_below/%zu", e->at,
			       place_of(e, i)));
	html_put(h, "</tr>\n");
}

/* The heaviest frame of which no child has more than half; 0: there is none left. */
static size_t heaviest(const struct ends *e)
{
	size_t best = 0;

	for (size_t i = 1; i < e->f->nodes; i++) {
		int64_t ns = e->f->node[i].ns;
		if (!e->done[i] && !is_other(e, i) && e->largest[i] <= ns / 2 &&
		    (!best || ns > e->f->node[best].ns))
			best = i;
	}
	return best;
}

static void put_ends(struct html *h, struct ends *e, size_t rows)
{
	size_t i;

	for (i = 1; i < e->f->nodes; i++) {
		uint32_t up = e->f->node[i].parent;
		e->other[up] |= is_other(e, i);
		if (e->f->node[i].ns > e->largest[up])
			e->largest[up] = e->f->node[i].ns;
	}
	while (rows-- && (i = heaviest(e))) {
		put_hot(h, e, i);
		e->done[i] = true;
	}
}

static void put_hottest(struct html *h, size_t at, size_t rows)
{
	const struct ana_series *s = h->s->result->series;
	size_t n = s->flame[at].nodes ? s->flame[at].nodes : 1;
	struct ends e = { s,
			  &s->flame[at],
			  at,
			  calloc(n, sizeof(*e.largest)),
			  calloc(n, sizeof(*e.other)),
			  calloc(n, sizeof(*e.done)) };

	if (e.largest && e.other && e.done)
		put_ends(h, &e, rows);
	free(e.largest);
	free(e.other);
	free(e.done);
}

static void put_total(struct html *h, size_t at)
{
	const struct ana_flame *f = &h->s->result->series->flame[at];

	html_put(h, "<tr>");
	HTML_ROW(h, put_whose(h, f));
	HTML_CELL(h, html_put(h, "all of it"));
	HTML_NUMBER(h, html_ns(h, f->node[0].ns, "page:/flame/graphs/%zu/ns", at));
	html_put(h, "</tr>\n");
}

/* Where the block leaves out frames, its indices are not the series': the graphs' totals remain. */
static void put_table(struct html *h, size_t graphs)
{
	bool coarse = html_coarse(h, "flame");

	html_details(h, "Table");
	html_table(h, "Where stacks end that took most");
	HTML_HEADS(h, "Of", "Frame", "n:GPU time");
	for (size_t i = 0; i < graphs; i++)
		if (coarse)
			put_total(h, i);
		else
			put_hottest(h, i, graphs > 4 ? 3 : HOT);
	html_table_end(h);
	html_details_end(h);
}

void html_flame(struct html *h)
{
	const struct ana_series *s = h->s->result->series;
	size_t graphs;

	if (!s || !s->flames)
		return;
	graphs = graphs_of(h);
	html_section(h, "flame", "What the hosts did while GPUs waited");
	html_put(h, "<p>GPUs waited for input or the host for ");
	html_ns(h, s->flame_total_ns, "page:/flame/total_ns");
	html_put(h, "; samples of the threads they waited for stand for ");
	html_ns(h, s->flame_sampled_ns, "page:/flame/sampled_ns");
	html_put(
		h,
		" of it. The width of a frame is GPU time that passed meanwhile. The first row is the "
		"class, below it the outermost call, at the bottom what ran or was blocked.</p>\n"
		"<figure class=\"chart\" data-chart=\"flame\">\n<figcaption>Stacks by process and role"
		"</figcaption>\n<div class=\"plot\">\n");
	for (size_t i = 0; i < graphs; i++)
		put_graph(h, i);
	html_put(h, "</div>\n");
	put_table(h, graphs);
	html_put(h, "</figure>\n");
	if (s->flames > graphs)
		fprintf(h->f, "<p class=\"soft\">The first %zu graphs are drawn.</p>\n", graphs);
	html_section_end(h);
}
