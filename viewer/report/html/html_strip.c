/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stretch of a GPU's time as stacked columns: the height of a family's part of a column is its
 * share of the time in it. A family with any time in a column shows, lest a short stall be lost.
 */
#include <stdlib.h>
#include <string.h>
#include "html_priv.h"

static const struct {
	const char *name, *text;
} families[] = {
	{ "busy", "computing" },       { "comm", "communicating" }, { "copy", "copying" },
	{ "device", "on the device" }, { "host", "host" },	    { "input", "starved: input" },
	{ "excluded", "not counted" },
};
#define FAMILIES (sizeof(families) / sizeof(families[0]))

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
static void fill(int64_t *to, size_t columns, const struct html_strip *s)
{
	for (size_t b = 0; b < s->line->count; b++) {
		const struct ana_bucket *k = &s->line->bucket[b];
		int64_t middle = (int64_t)(((__int128)k->start_ns + k->end_ns) / 2);
		int64_t *at = &to[column_at(s, columns, middle) * FAMILIES];
		for (int c = 0; c < ANA_CLASSES; c++)
			view_cost_add(&at[family_of(c)], k->classes[c]);
	}
}

void html_strip(struct html *h, const struct html_strip *s)
{
	static const char *const style[FAMILIES] = { "f-busy", "f-comm",  "f-copy",    "f-device",
						     "f-host", "f-input", "f-excluded" };
	struct html_stack stack = { .layers = FAMILIES, .style = style, .label = s->label };
	int64_t *value;

	stack.columns = s->columns < s->line->count ? s->columns : s->line->count;
	if (!stack.columns || s->end_ns <= s->start_ns)
		return;
	value = calloc(stack.columns * FAMILIES, sizeof(*value));
	if (!value)
		return;
	fill(value, stack.columns, s);
	stack.value = value;
	html_stack(h, &stack);
	free(value);
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
	base_unit at;

	html_put(h, "<div class=\"axis\" aria-hidden=\"true\">");
	for (int i = 0; i <= 4; i++)
		fprintf(h->f, "<span>%s</span>", i ? base_duration(at, length_ns / 4 * i) : "0");
	html_put(h, "</div>\n");
}
