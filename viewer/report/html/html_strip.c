/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stretch of a GPU's time as stacked columns: the height of a colour's part of a column is its
 * share of the time in it. A colour with any time in a column shows, lest a short stall be lost.
 */
#include <stdlib.h>
#include "facts/class.h"
#include "html_priv.h"

/* A bucket goes into the column that holds its middle. */
static void fill(int64_t *to, size_t columns, const struct html_strip *s)
{
	for (size_t b = 0; b < s->line->count; b++) {
		const struct ana_bucket *k = &s->line->bucket[b];
		int64_t middle = (int64_t)(((__int128)k->start_ns + k->end_ns) / 2);
		int64_t *at =
			&to[html_column(s->start_ns, s->end_ns, columns, middle) * FACTS_COLOURS];
		for (int c = 0; c < ANA_CLASSES; c++)
			view_cost_add(&at[facts_classes[c].colour], k->classes[c]);
	}
}

void html_strip(struct html *h, const struct html_strip *s)
{
	static const char *const style[FACTS_COLOURS] = {
#define COLOUR(symbol, name, words) "f-" name,
#include "facts/classes.def"
	};
	struct html_stack stack = { .layers = FACTS_COLOURS, .style = style, .label = s->label };
	int64_t *value;

	stack.columns = s->columns < s->line->count ? s->columns : s->line->count;
	if (!stack.columns || s->end_ns <= s->start_ns)
		return;
	value = calloc(stack.columns * FACTS_COLOURS, sizeof(*value));
	if (!value)
		return;
	fill(value, stack.columns, s);
	stack.value = value;
	html_stack(h, &stack);
	free(value);
}

void html_legend(struct html *h, const int64_t *classes)
{
	bool in[FACTS_COLOURS] = { false };

	for (int c = 0; c < ANA_CLASSES; c++)
		in[facts_classes[c].colour] |= classes[c] != 0;
	html_put(h, "<ul class=\"legend\">");
	for (size_t i = 0; i < FACTS_COLOURS; i++)
		if (in[i])
			fprintf(h->f, "<li><span class=\"key f-%s\"></span>%s</li>",
				facts_colours[i].name, facts_colours[i].words);
	html_put(h, "</ul>\n");
}

void html_axis(struct html *h, int64_t length_ns)
{
	base_unit at;

	html_put(h, "<div class=\"axis\" aria-hidden=\"true\">");
	for (int i = 0; i <= 4; i++)
		fprintf(h->f, "<span>%s</span>",
			i ? base_duration_like(at, length_ns / 4 * i, length_ns) : "0");
	html_put(h, "</div>\n");
}
