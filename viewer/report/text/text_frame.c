/* SPDX-License-Identifier: Apache-2.0 */
/* A box around lines of text. */
#include <string.h>
#include "core/wrap.h"
#include "text_priv.h"

struct lines {
	const char *top_left, *top_right, *bottom_left, *bottom_right, *across, *down;
};

static const struct lines ascii = { "+", "+", "+", "+", "-", "|" };
static const struct lines unicode = { "\u256d", "\u256e", "\u2570", "\u256f", "\u2500", "\u2502" };

static void put_across(FILE *f, const struct lines *l, int n)
{
	while (n-- > 0)
		fputs(l->across, f);
}

static void put_top(FILE *f, const struct lines *l, int columns, const char *title)
{
	fprintf(f, "%s%s %s ", l->top_left, l->across, title);
	put_across(f, l, columns - 5 - (int)strlen(title));
	fprintf(f, "%s\n", l->top_right);
}

void text_frame(FILE *f, const struct view_text_style *style, const char *title, const char *text)
{
	const struct lines *l = style->utf8 ? &unicode : &ascii;

	put_top(f, l, style->columns, title);
	while (*text) {
		size_t len = strcspn(text, "\n");
		int columns = view_line_columns(text, len);
		fprintf(f, "%s ", l->down);
		fwrite(text, 1, len, f);
		fprintf(f, "%*s %s\n",
			columns < style->columns - 4 ? style->columns - 4 - columns : 0, "",
			l->down);
		text += len + (text[len] == '\n');
	}
	fputs(l->bottom_left, f);
	put_across(f, l, style->columns - 2);
	fprintf(f, "%s\n", l->bottom_right);
}
