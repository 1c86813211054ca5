/* SPDX-License-Identifier: Apache-2.0 */
/* Copies by direction. */
#include "html_priv.h"

static void put_row(struct html *h, int d)
{
	static const char *const what[ANA_COPY_DIRS] = {
#define COPY(symbol, name, words) words,
#include "facts/copies.def"
	};
	const struct ana_copies *c = &h->s->result->copies[d];
	const char *name = ana_copy_names[d];

	html_put(h, "<tr>");
	HTML_CELL_IN(h, "th scope=\"row\" class=\"keep\"",
		     fprintf(h->f, "<span class=\"mono\">%s</span> <span class=\"soft\">%s</span>",
			     name, what[d]));
	HTML_NUMBER(h, html_count(h, c->count, "/copies/%s/count", name));
	HTML_NUMBER(h, html_bytes(h, c->bytes, "/copies/%s/bytes", name));
	HTML_NUMBER(h, html_ns(h, c->ns, "/copies/%s/ns", name));
	HTML_NUMBER(h, html_ns(h, c->exposed_ns, "/copies/%s/exposed_ns", name));
	HTML_NUMBER(h, html_count(h, c->pageable_count, "/copies/%s/pageable_count", name));
	HTML_NUMBER(h, html_count(h, c->synchronous, "/copies/%s/synchronous", name));
	html_put(h, "</tr>\n");
}

void html_copies(struct html *h)
{
	const struct ana_copies *c = h->s->result->copies;
	uint64_t all = 0;

	for (int d = 0; d < ANA_COPY_DIRS; d++)
		all |= c[d].count;
	if (!all)
		return;
	html_section(h, "copies", "Copies");
	html_put(h,
		 "<p>Exposed is the part during which no kernel ran: only that part costs.</p>\n");
	html_table(h, "Copies by direction");
	HTML_HEADS(h, "Direction", "n:Count", "n:Bytes", "n:Time", "n:Exposed",
		   "n:From pageable memory", "n:Synchronous");
	for (int d = 0; d < ANA_COPY_DIRS; d++)
		if (c[d].count)
			put_row(h, d);
	html_table_end(h);
	html_section_end(h);
}
