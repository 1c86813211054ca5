/* SPDX-License-Identifier: Apache-2.0 */
/* The causes: every class that was not well spent, at the places where samples saw it. */
#include <stdint.h>
#include "findings/words.h"
#include "findings/findings.h"
#include "findings/loader.h"
#include "facts/class.h"
#include "html_priv.h"

#define LEAST_PPM 1000 /* of the GPU time: smaller findings are not listed */
#define LINE_COLUMNS 40

static void put_escaped(struct html *h, const char *before, const char *text, const char *after)
{
	if (!text)
		return;
	html_put(h, before);
	html_escape(h->f, text);
	html_put(h, after);
}

void html_doing(struct html *h, size_t at)
{
	const struct view_finding *f = &h->s->finding[at];
	const struct view_hotspot *p = &f->where;

	if (p->late) {
		html_put(h, "the others waited for rank ");
		html_id(h, p->rank, "/findings/%zu/where/rank", at);
		html_put(h, ": ");
	}
	if (!p->known) {
		html_put(h, facts_classes[f->class].meaning);
		html_put(h, f->rest ? ", line not known" : "");
		return;
	}
	fprintf(h->f, "<span data-from=\"/findings/%zu /loader/workers\"><span class=\"who\">", at);
	html_escape(h->f, view_words_who(&h->mem, p, view_loader_workers(h->s)));
	html_put(h, "</span> <bdi>");
	html_escape(h->f, view_words_doing(&h->mem, f->class, p, SIZE_MAX));
	html_put(h, "</bdi></span>");
}

void html_hotspot(struct html *h, size_t at)
{
	const struct view_hotspot *p = &h->s->finding[at].where;

	if ((!p->known && !p->late) || !p->file)
		return;
	fprintf(h->f, "<span class=\"mono\" data-from=\"/findings/%zu/where\">", at);
	put_escaped(h, "<bdi class=\"spot\">", view_words_hotspot(&h->mem, p, LINE_COLUMNS),
		    "</bdi>");
	put_escaped(h, " <bdi>", p->function, "</bdi>");
	put_escaped(h, "<br><bdi class=\"soft small\">", p->file, "</bdi>");
	html_put(h, "</span>");
}

static void put_native(struct html *h, size_t at)
{
	const struct view_hotspot *p = &h->s->finding[at].where;

	if (!p->known || !p->native)
		return;
	fprintf(h->f, "<br><span class=\"soft small mono\" data-from=\"/findings/%zu/where\">", at);
	put_escaped(h, "<bdi>", view_words_native(&h->mem, p), "</bdi></span>");
}

/* "high: 1,514 samples of 4 threads"; what proves a class stands with the class, below. */
static void put_evidence(struct html *h, size_t at)
{
	const struct view_finding *f = &h->s->finding[at];

	html_put(h, ana_confidence_names[f->confidence]);
	if (f->where.known) {
		html_put(h, ": ");
		html_count(h, f->where.samples, "/findings/%zu/evidence/samples", at);
		html_put(h, f->where.samples == 1 ? " sample of " : " samples of ");
		html_count(h, f->where.threads, "/findings/%zu/evidence/threads", at);
		html_put(h, f->where.threads == 1 ? " thread" : " threads");
	}
}

static void put_finding(struct html *h, size_t at)
{
	const struct view_finding *f = &h->s->finding[at];

	html_put(h, "<tr>");
	HTML_ROW(h, html_class(h, f->class));
	HTML_NUMBER(h, html_ns(h, f->ns, "/findings/%zu/ns", at));
	HTML_NUMBER(h, html_pct(h, f->ppm, "/findings/%zu/pct", at));
	if (h->s->cost.known)
		HTML_NUMBER(h, html_usd(h, f->nano_usd, "/findings/%zu/usd", at));
	html_put(h, "<td class=\"wide\">");
	html_doing(h, at);
	put_native(h, at);
	html_put(h, "</td>");
	HTML_CELL(h, html_hotspot(h, at));
	HTML_CELL_IN(h, "td class=\"proof\"", put_evidence(h, at));
	html_put(h, "</tr>\n");
}

void html_findings(struct html *h)
{
	const struct view_summary *s = h->s;
	const size_t *at = view_findings_by_cost(s, &h->mem);
	size_t shown = 0;

	for (size_t i = 0; i < s->findings; i++) {
		if (s->finding[at[i]].ppm < LEAST_PPM)
			continue;
		if (!shown++) {
			html_section(h, "why", "Why, and in which line");
			html_table(h, "Time not well spent, the most first");
			HTML_HEADS(h, "Class", "n:Time", "n:Of all", "$:Cost", "What", "Line",
				   "Evidence");
		}
		put_finding(h, at[i]);
	}
	if (!shown)
		return;
	html_table_end(h);
	html_section_end(h);
}
