/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The comparison as a page with the report's looks: tables, no script, nothing fetched. Strings of
 * a run are untrusted and go through html_escape.
 */
#include <inttypes.h>
#include <string.h>
#include "core/embedded.h"
#include "compare_priv.h"
#include "report/html/html_shared.h"

struct sheet {
	const struct view_comparison *c;
	const struct view_pair *p;
	FILE *f;
	struct base_arena mem;
};

static void put_head(struct sheet *s)
{
	fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	      "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<meta name=\"color-scheme\" content=\"light dark\">\n"
	      "<meta name=\"referrer\" content=\"no-referrer\">\n<title>",
	      s->f);
	fprintf(s->f, "%zu runs compared - gpustarve</title>\n<style>\n", s->c->runs);
	fwrite(view_embedded_report_css, 1, view_embedded_report_css_len, s->f);
	fputs("</style>\n</head>\n<body>\n<main>\n", s->f);
}

/* Up to @before in @text, which @mark takes the place of; NULL: it is not there. */
static const char *put_mark(struct sheet *s, const char *text, const char *before, const char *mark)
{
	const char *at = strstr(text, before);

	if (!at)
		return NULL;
	html_escape(s->f, base_arena_copy(&s->mem, text, (size_t)(at - text)));
	fputs(mark, s->f);
	return at + strlen(before);
}

static void put_percents(struct sheet *s, const char *text)
{
	const char *rest;

	while ((rest = put_mark(s, text, " %", "&nbsp;%")) != NULL)
		text = rest;
	html_escape(s->f, text);
}

/* As html_escape; the arrow of text as one character, and no line breaks before a percent sign. */
static void put_text(struct sheet *s, const char *text)
{
	const char *arrow;

	while ((arrow = strstr(text, " -> ")) != NULL) {
		put_percents(s, base_arena_copy(&s->mem, text, (size_t)(arrow - text)));
		fputs(" &rarr; ", s->f);
		text = arrow + 4;
	}
	put_percents(s, text);
}

static void put_runs(struct sheet *s)
{
	fputs("<dl class=\"facts\">\n", s->f);
	for (size_t i = 0; i < s->c->runs; i++) {
		fprintf(s->f, "<dt>%s</dt><dd><bdi>", s->c->run[i].label);
		html_escape(s->f, compare_run_words(&s->c->run[i], &s->mem));
		fputs("</bdi></dd>\n", s->f);
	}
	fputs("</dl>\n", s->f);
}

static void put_paragraph(struct sheet *s, const char *before, const char *text)
{
	fprintf(s->f, "<p class=\"soft\">%s", before);
	html_escape_sentence(s->f, text);
	fputs("</p>\n", s->f);
}

static void table_begin(struct sheet *s, const char *id, const char *title, const char *first,
			const char *rest)
{
	const char *b = s->c->run[s->p->run].label;

	fprintf(s->f,
		"<section>\n<h2 id=\"%s-%s\">%s</h2>\n"
		"<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s, %s and %s\">"
		"<table>\n<thead><tr><th scope=\"col\">%s</th>%s</tr></thead>\n<tbody>\n",
		id, b, title, title, s->c->run[0].label, b, first, rest);
}

static void table_end(struct sheet *s)
{
	fputs("</tbody></table></div>\n</section>\n", s->f);
}

static const char *columns_of(struct sheet *s, const char *change)
{
	return base_arena_printf(
		&s->mem,
		"<th scope=\"col\" class=\"n\">%s</th><th scope=\"col\" "
		"class=\"n\">%s</th><th scope=\"col\" class=\"n\">Difference</th>%s",
		s->c->run[0].label, s->c->run[s->p->run].label, change);
}

static void put_cell(struct sheet *s, enum view_figure figure, int64_t v, const char *shown)
{
	fprintf(s->f, "<td class=\"n\" data-%s=\"%" PRId64 "\">", view_figure_names[figure], v);
	html_escape(s->f, shown);
	fputs("</td>", s->f);
}

static void put_figure(struct sheet *s, enum view_figure figure, bool known, int64_t v)
{
	base_unit shown;

	if (known)
		put_cell(s, figure, v, compare_figure(shown, figure, v));
	else
		fputs("<td class=\"n\">-</td>", s->f);
}

static void put_difference(struct sheet *s, enum view_figure figure, bool comparable, int64_t v)
{
	base_unit shown;

	if (comparable)
		put_cell(s, figure, v, compare_signed(shown, figure, v));
	else
		fputs("<td class=\"n soft\">not comparable</td>", s->f);
}

static void put_measure(struct sheet *s, const struct view_measure *m)
{
	base_unit v[2], difference;

	if (!m->comparable) {
		for (int i = 0; i < 2; i++)
			put_figure(s, m->figure, m->known[i], m->value[i]);
		put_difference(s, m->figure, false, 0);
		return;
	}
	compare_row(m->figure, m->value, v, difference);
	for (int i = 0; i < 2; i++)
		put_cell(s, m->figure, m->value[i], v[i]);
	put_cell(s, m->figure, m->difference, difference);
}

static void put_measures(struct sheet *s)
{
	base_unit change;

	table_begin(s, "measures", "Side by side", "What",
		    columns_of(s, "<th scope=\"col\" class=\"n\">Change</th>"));
	for (size_t i = 0; i < s->p->measures; i++) {
		const struct view_measure *m = &s->p->measure[i];
		if (!m->known[0] && !m->known[1])
			continue;
		fprintf(s->f, "<tr data-measure=\"%s\"><td>%s</td>", m->id, m->title);
		put_measure(s, m);
		fputs("<td class=\"n\">", s->f);
		if (m->has_change)
			html_escape(s->f, compare_change(change, m->change_ppm));
		fputs("</td></tr>\n", s->f);
	}
	table_end(s);
}

static void put_classes(struct sheet *s)
{
	const char *a = s->c->run[0].label, *b = s->c->run[s->p->run].label;
	bool same = !s->p->why[VIEW_PART_GPU_STEP];

	table_begin(s, "classes", "Where the GPU time went", "Class",
		    base_arena_printf(
			    &s->mem,
			    "<th scope=\"col\" class=\"n\">Share in %s</th><th scope=\"col\" "
			    "class=\"n\">in %s</th><th scope=\"col\" class=\"n\">Per step in %s"
			    "</th><th scope=\"col\" class=\"n\">in %s</th><th scope=\"col\" "
			    "class=\"n\">Difference</th>",
			    a, b, a, b));
	for (size_t i = 0; i < s->p->classes; i++) {
		const struct view_class_change *k = &s->p->class[i];
		fprintf(s->f, "<tr><td><span class=\"key f-%s\"></span>%s</td>",
			html_colour((int)k->class), ana_class_names[k->class]);
		put_figure(s, VIEW_FIGURE_PPM, true, k->ppm[0]);
		put_figure(s, VIEW_FIGURE_PPM, true, k->ppm[1]);
		put_figure(s, VIEW_FIGURE_NS, s->p->stepped[0], k->step_ns[0]);
		put_figure(s, VIEW_FIGURE_NS, s->p->stepped[1], k->step_ns[1]);
		put_difference(s, VIEW_FIGURE_NS, same, k->step_ns[1] - k->step_ns[0]);
		fputs("</tr>\n", s->f);
	}
	table_end(s);
}

static void put_findings(struct sheet *s)
{
	if (!s->p->findings)
		return;
	table_begin(s, "findings", "Findings that came and went", "Status",
		    "<th scope=\"col\">Class</th><th scope=\"col\">What</th>"
		    "<th scope=\"col\">Time</th>");
	for (size_t i = 0; i < s->p->findings; i++) {
		const struct view_finding_change *f = &s->p->finding[i];
		const struct view_finding *at = f->finding[1] ? f->finding[1] : f->finding[0];
		fprintf(s->f, "<tr><td>%s</td><td class=\"keep\">%s</td><td><bdi>",
			view_finding_states[f->status], ana_class_names[at->class]);
		html_escape(s->f, compare_finding_words(s->c, s->p, f, &s->mem));
		fputs("</bdi></td><td>", s->f);
		put_text(s, compare_finding_figures(s->p, f, &s->mem));
		fputs("</td></tr>\n", s->f);
	}
	table_end(s);
	if (s->p->findings_left_out)
		fprintf(s->f, "<p class=\"soft small\">%zu more were not looked at.</p>\n",
			s->p->findings_left_out);
}

static void put_promises(struct sheet *s)
{
	if (!s->p->promises)
		return;
	table_begin(s, "advice", "What the advice predicted, and what was realised", "Advice",
		    "<th scope=\"col\">Class</th><th scope=\"col\">Upper bound and realised</th>");
	for (size_t i = 0; i < s->p->promises; i++) {
		const struct view_promise *q = &s->p->promise[i];
		fputs("<tr><td><bdi>", s->f);
		put_text(s, q->advice->brief);
		fprintf(s->f, "</bdi></td><td class=\"keep\">%s</td><td>",
			ana_class_names[q->advice->class]);
		html_escape_sentence(s->f, compare_promise_words(s->p, q, &s->mem));
		fputs("</td></tr>\n", s->f);
	}
	table_end(s);
	fputs("<p class=\"soft small\">Each is an upper bound, and they overlap. Realised is by "
	      "how much the advice's classes shrank at the places where the first run had them, "
	      "at most by how much the GPU time without start-up and shutdown shrank, and at most "
	      "the bound.</p>\n",
	      s->f);
}

static void put_pair(struct sheet *s)
{
	const char *saving = compare_saving_words(s->c, s->p, &s->mem);

	fputs(s->p == s->c->pair ? "<h1>" : "<h1 class=\"next\">", s->f);
	put_text(s, s->p->sentence);
	fputc('.', s->f);
	fputs("</h1>\n", s->f);
	put_runs(s);
	if (saving)
		put_paragraph(s,
			      base_arena_printf(&s->mem, "%s against %s: ",
						s->c->run[s->p->run].label, s->c->run[0].label),
			      saving);
	for (size_t i = 0; i < s->p->refusals; i++)
		put_paragraph(s, "<b class=\"warn\">Not comparable:</b> ", s->p->refusal[i]);
	for (size_t i = 0; i < s->p->notes; i++)
		put_paragraph(s, "", s->p->note[i]);
	put_measures(s);
	put_classes(s);
	put_findings(s);
	put_promises(s);
}

void view_compare_html(const struct view_comparison *c, FILE *f)
{
	struct sheet s = { .c = c, .f = f };

	put_head(&s);
	for (size_t i = 0; i + 1 < c->runs; i++) {
		s.p = &c->pair[i];
		put_pair(&s);
	}
	fputs("<footer>gpustarve " GPUSTARVE_VERSION
	      ". Each later run is compared with the first. Every number here is in the "
	      "comparison's JSON (--format json). Costs are the price of the GPUs "
	      "only.</footer>\n"
	      "</main>\n"
	      "</body>\n"
	      "</html>\n",
	      f);
	base_arena_fini(&s.mem);
}
