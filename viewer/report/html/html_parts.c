/* SPDX-License-Identifier: Apache-2.0 */
/* What sections are made of: headings, tables, the little squares of classes. */
#include <string.h>
#include "facts/class.h"
#include "html_priv.h"

void html_put(struct html *h, const char *markup)
{
	fputs(markup, h->f);
}

void html_put_kind(struct html *h, const char *markup)
{
	html_put(h, view_words_of_kind(&h->s->kind, &h->mem, markup));
}

void html_section(struct html *h, const char *id, const char *title)
{
	if (h->sections < HTML_SECTIONS_MAX)
		h->section[h->sections++] = id;
	fprintf(h->f, "<section id=\"%s\" aria-labelledby=\"h-%s\">\n<h2 id=\"h-%s\">%s</h2>\n", id,
		id, id, title);
}

void html_section_end(struct html *h)
{
	html_put(h, "</section>\n");
}

/* A region that scrolls must be reachable by keyboard, and needs a name then. */
HTML_KEY_LIST(3)
static void put_table(struct html *h, const char *from, const char *caption, va_list ap)
{
	char text[160];

	vsnprintf(text, sizeof(text), caption, ap);
	html_put(h, "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Table: ");
	html_escape(h->f, text);
	html_put(h, "\"><table>\n<caption>");
	if (from)
		fprintf(h->f, "<span data-from=\"%s\">", from);
	html_escape(h->f, text);
	html_put(h, from ? "</span></caption>\n" : "</caption>\n");
}

void html_table(struct html *h, const char *caption, ...)
{
	va_list ap;

	va_start(ap, caption);
	put_table(h, NULL, caption, ap);
	va_end(ap);
}

void html_table_from(struct html *h, const char *from, const char *caption, ...)
{
	va_list ap;

	va_start(ap, caption);
	put_table(h, from, caption, ap);
	va_end(ap);
}

void html_columns(struct html *h, const char *const *column, size_t n)
{
	html_put(h, "<thead><tr>");
	for (size_t i = 0; i < n; i++) {
		bool dollars = !strncmp(column[i], "$:", 2);
		bool number = dollars || !strncmp(column[i], "n:", 2);

		if (dollars && !h->s->cost.known)
			continue;
		if (!*column[i]) /* of pictures; a heading must say something */
			html_put(h, "<td></td>");
		else
			fprintf(h->f, "<th scope=\"col\"%s>%s</th>", number ? " class=\"n\"" : "",
				column[i] + (number ? 2 : 0));
	}
	html_put(h, "</tr></thead>\n<tbody>\n");
}

void html_cell(struct html *h, const char *tag)
{
	fprintf(h->f, "<%s>", tag);
}

void html_cell_end(struct html *h, const char *tag)
{
	fprintf(h->f, "</%.2s>", tag);
}

void html_table_end(struct html *h)
{
	html_put(h, "</tbody></table></div>\n");
}

void html_details(struct html *h, const char *summary)
{
	fprintf(h->f, "<details><summary>%s</summary>\n", summary);
}

void html_details_end(struct html *h)
{
	html_put(h, "</details>\n");
}

const char *html_colour(int c)
{
	return facts_colours[facts_classes[c].colour].name;
}

void html_key(struct html *h, enum ana_class c)
{
	fprintf(h->f, "<span class=\"key f-%s\"></span>", html_colour((int)c));
}

void html_class(struct html *h, enum ana_class c)
{
	const char *name = ana_class_names[c];

	html_put(h, "<span class=\"keep\">");
	html_key(h, c);
	if (h->s->result->classes[c])
		fprintf(h->f, "<a class=\"class\" href=\"#class-%s\">%s</a></span>", name, name);
	else
		fprintf(h->f, "%s</span>", name);
}
