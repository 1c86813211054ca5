/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stretch of time as stacked columns, in one SVG: the height of a family's part of a column is its
 * share of the time in it. Painted from the top family down, each as one outline over what lies
 * below it, with steps of one height drawn as one: so 64 GPUs fit into a page. A family with any
 * time in a column is at least one unit high, lest a short stall be lost to rounding.
 */
#include <stdlib.h>
#include <string.h>
#include "html_priv.h"

#define WIDTH 960
#define HEIGHT 96

static const struct {
	const char *name, *text;
} families[] = {
	{ "busy", "computing" },       { "comm", "communicating" }, { "copy", "copying" },
	{ "device", "on the device" }, { "host", "host" },	    { "input", "starved: input" },
	{ "excluded", "not counted" },
};
#define FAMILIES (sizeof(families) / sizeof(families[0]))

struct column {
	int64_t ns[FAMILIES];
};

static size_t family_of(int c)
{
	const char *name = html_family(c);

	for (size_t i = 0; i < FAMILIES; i++)
		if (!strcmp(families[i].name, name))
			return i;
	return FAMILIES - 1;
}

static size_t column_at(const struct html_strip *s, size_t columns, int64_t ns)
{
	__int128 at = ((__int128)ns - s->start_ns) * (__int128)columns;
	int64_t i = (int64_t)(at / ((__int128)s->end_ns - s->start_ns));

	if (i < 0)
		return 0;
	return (size_t)i < columns ? (size_t)i : columns - 1;
}

/* A bucket goes into the column that holds its middle. */
static void fill(struct column *to, size_t columns, const struct html_strip *s)
{
	for (size_t b = 0; b < s->line->count; b++) {
		const struct ana_bucket *k = &s->line->bucket[b];
		int64_t middle = (int64_t)(((__int128)k->start_ns + k->end_ns) / 2);
		struct column *at = &to[column_at(s, columns, middle)];
		for (int c = 0; c < ANA_CLASSES; c++)
			view_cost_add(&at->ns[family_of(c)], k->classes[c]);
	}
}

/* The upper edges of a column's families, bottom up; each that has time gets a unit at least. */
static void edges(const struct column *c, int edge[FAMILIES])
{
	__int128 whole = 0, sum = 0;
	int below = 0, above = 0;

	for (size_t i = 0; i < FAMILIES; i++) {
		whole += c->ns[i] > 0 ? c->ns[i] : 0;
		above += c->ns[i] > 0;
	}
	for (size_t i = 0; i < FAMILIES; i++) {
		edge[i] = below;
		if (c->ns[i] <= 0)
			continue;
		sum += c->ns[i];
		above--;
		int at = (int)view_div_even(sum * HEIGHT, whole);
		at = at > below ? at : below + 1;
		below = edge[i] = at < HEIGHT - above ? at : HEIGHT - above;
	}
}

static bool has(const struct column *c, size_t columns, size_t family)
{
	for (size_t x = 0; x < columns; x++)
		if (c[x].ns[family] > 0)
			return true;
	return false;
}

static int left_of(size_t column, size_t columns)
{
	return (int)(column * WIDTH / columns);
}

static void put_family(struct html *h, const struct column *c, size_t columns, size_t family)
{
	int was = 0, from = 0;

	fprintf(h->f, "<path class=\"f-%s\" d=\"M0 %d", families[family].name, HEIGHT);
	for (size_t x = 0; x <= columns; x++) {
		int edge[FAMILIES] = { 0 }, at = left_of(x, columns);
		if (x < columns)
			edges(&c[x], edge);
		if (edge[family] == was && x < columns)
			continue;
		if (at > from)
			fprintf(h->f, "h%d", at - from);
		if (edge[family] != was)
			fprintf(h->f, "v%d", was - edge[family]);
		from = at;
		was = edge[family];
	}
	html_put(h, "z\"/>");
}

void html_strip(struct html *h, const struct html_strip *s)
{
	size_t columns = s->columns < s->line->count ? s->columns : s->line->count;
	struct column *c;

	if (!columns || s->end_ns <= s->start_ns)
		return;
	c = calloc(columns, sizeof(*c));
	if (!c)
		return;
	fill(c, columns, s);
	fprintf(h->f,
		"<svg class=\"strip\" viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" role=\"img\" "
		"aria-label=\"%s\">",
		WIDTH, HEIGHT, s->label);
	for (size_t i = FAMILIES; i-- > 0;)
		if (has(c, columns, i))
			put_family(h, c, columns, i);
	html_put(h, "</svg>\n");
	free(c);
}

void html_legend(struct html *h, const int64_t *classes)
{
	bool in[FAMILIES] = { false };

	for (int c = 0; c < ANA_CLASSES; c++)
		in[family_of(c)] |= classes[c] != 0;
	html_put(h, "<ul class=\"legend\">");
	for (size_t i = 0; i < FAMILIES; i++)
		if (in[i])
			fprintf(h->f, "<li><span class=\"key f-%s\"></span>%s</li>",
				families[i].name, families[i].text);
	html_put(h, "</ul>\n");
}

void html_axis(struct html *h, int64_t length_ns)
{
	view_unit at;

	html_put(h, "<div class=\"axis\" aria-hidden=\"true\">");
	for (int i = 0; i <= 4; i++)
		fprintf(h->f, "<span>%s</span>", i ? view_duration(at, length_ns / 4 * i) : "0");
	html_put(h, "</div>\n");
}
