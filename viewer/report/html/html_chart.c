/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Static pictures of series, each an SVG that is stretched to the page's width: no text stands in
 * them. Outlines are few and long, so that many fit into a page.
 */
#include <inttypes.h>
#include "html_priv.h"

#define WIDTH 960

size_t html_column(int64_t start, int64_t end, size_t columns, int64_t ns)
{
	__int128 at = ((__int128)ns - start) * (__int128)columns;
	int64_t i = (int64_t)(at / ((__int128)end - start));

	return i < 0 ? 0 : (size_t)i < columns ? (size_t)i : columns - 1;
}

static int left_of(size_t column, size_t columns)
{
	return (int)(column * WIDTH / columns);
}

static void begin(struct html *h, const char *style, int height, const char *label)
{
	fprintf(h->f,
		"<svg class=\"%s\" viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" role=\"img\" "
		"aria-label=\"%s\">",
		style, WIDTH, height, label);
}

/* The upper edges of a column's layers, bottom up; each that has any gets a unit at least. */
static void edges(const struct html_stack *s, size_t column, int edge[HTML_LAYERS_MAX])
{
	const int64_t *v = &s->value[column * s->layers];
	__int128 whole = 0, sum = 0;
	int below = 0, above = 0;

	for (size_t i = 0; i < s->layers; i++) {
		whole += v[i] > 0 ? v[i] : 0;
		above += v[i] > 0;
	}
	for (size_t i = 0; i < s->layers; i++) {
		edge[i] = below;
		if (v[i] <= 0)
			continue;
		sum += v[i];
		above--;
		int at = (int)base_div_even(sum * HTML_STACK_HEIGHT, whole);
		at = at > below ? at : below + 1;
		below = at < HTML_STACK_HEIGHT - above ? at : HTML_STACK_HEIGHT - above;
		edge[i] = below;
	}
}

static bool has(const struct html_stack *s, size_t layer)
{
	for (size_t x = 0; x < s->columns; x++)
		if (s->value[x * s->layers + layer] > 0)
			return true;
	return false;
}

/* The outline of all layers up to this one; columns of one height are one step. */
static void put_layer(struct html *h, const struct html_stack *s, size_t layer)
{
	int was = 0, from = 0;

	fprintf(h->f, "<path class=\"%s\" d=\"M0 %d", s->style[layer], HTML_STACK_HEIGHT);
	for (size_t x = 0; x <= s->columns; x++) {
		int edge[HTML_LAYERS_MAX] = { 0 }, at = left_of(x, s->columns);
		if (x < s->columns)
			edges(s, x, edge);
		if (edge[layer] == was && x < s->columns)
			continue;
		if (at > from)
			fprintf(h->f, "h%d", at - from);
		if (edge[layer] != was)
			fprintf(h->f, "v%d", was - edge[layer]);
		from = at;
		was = edge[layer];
	}
	html_put(h, "z\"/>");
}

/* Painted from the top layer down: each covers what lies below it. */
void html_stack(struct html *h, const struct html_stack *s)
{
	begin(h, "strip", HTML_STACK_HEIGHT, s->label);
	for (size_t i = s->layers; i-- > 0;)
		if (has(s, i))
			put_layer(h, s, i);
	html_put(h, "</svg>\n");
}

static int y_of(int64_t v, int64_t top)
{
	__int128 y = top > 0 && v > 0 ? (__int128)v * HTML_BAND_HEIGHT / top : 0;

	return y > HTML_BAND_HEIGHT ? 0 : HTML_BAND_HEIGHT - (int)y;
}

static void put_bars(struct html *h, const struct html_band *b, const char *style, int what)
{
	bool any = false;

	for (size_t i = 0; i < b->columns; i++) {
		const struct html_point *p = &b->point[i];
		int x = left_of(i, b->columns), w = left_of(i + 1, b->columns) - x;
		int low = what == 0 ? y_of(p->min, b->top) : HTML_BAND_HEIGHT;
		int high = y_of(what == 0 ? p->max : p->part, b->top);
		if (!p->any || (what && p->part <= 0))
			continue;
		if (!any)
			fprintf(h->f, "<path class=\"%s\" d=\"", style);
		any = true;
		fprintf(h->f, "M%d %dh%dv%dh-%dz", x, high, w, low > high ? low - high : 1, w);
	}
	html_put(h, any ? "\"/>" : "");
}

static void put_means(struct html *h, const struct html_band *b)
{
	bool any = false;

	for (size_t i = 0; i < b->columns; i++) {
		int x = left_of(i, b->columns);
		if (!b->point[i].any)
			continue;
		if (!any)
			html_put(h, "<path class=\"c-mean\" d=\"");
		any = true;
		fprintf(h->f, "M%d %dh%d", x, y_of(b->point[i].mean, b->top),
			left_of(i + 1, b->columns) - x);
	}
	html_put(h, any ? "\"/>" : "");
}

void html_band(struct html *h, const struct html_band *b)
{
	begin(h, "band", HTML_BAND_HEIGHT, b->label);
	put_bars(h, b, "c-band", 0);
	put_bars(h, b, "f-input", 1);
	put_means(h, b);
	html_put(h, "</svg>\n");
}

void html_scale(struct html *h, int64_t top, bool cut)
{
	base_unit text;

	fprintf(h->f, "<span class=\"soft axis\">full height: %s%s</span>",
		base_duration(text, top), cut ? ", what is over it is cut" : "");
}
