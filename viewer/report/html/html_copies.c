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

	fprintf(h->f,
		"<tr><th scope=\"row\" class=\"keep\"><span class=\"mono\">%s</span> <span class=\"soft\">%s"
		"</span></th><td class=\"n\">",
		name, what[d]);
	html_count(h, c->count, "/copies/%s/count", name);
	html_put(h, "</td><td class=\"n\">");
	html_bytes(h, c->bytes, "/copies/%s/bytes", name);
	html_put(h, "</td><td class=\"n\">");
	html_ns(h, c->ns, "/copies/%s/ns", name);
	html_put(h, "</td><td class=\"n\">");
	html_ns(h, c->exposed_ns, "/copies/%s/exposed_ns", name);
	html_put(h, "</td><td class=\"n\">");
	html_count(h, c->pageable_count, "/copies/%s/pageable_count", name);
	html_put(h, "</td><td class=\"n\">");
	html_count(h, c->synchronous, "/copies/%s/synchronous", name);
	html_put(h, "</td></tr>\n");
}

void html_copies(struct html *h)
{
	static const char *const head[] = {
		"Direction",	 "n:Count",   "n:Bytes",
		"n:Time",	 "n:Exposed", "n:From pageable memory",
		"n:Synchronous",
	};
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
	html_columns(h, head, 7);
	for (int d = 0; d < ANA_COPY_DIRS; d++)
		if (c[d].count)
			put_row(h, d);
	html_table_end(h);
	html_section_end(h);
}
