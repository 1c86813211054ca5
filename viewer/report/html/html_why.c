/* SPDX-License-Identifier: Apache-2.0 */
/* The causes: every class that was not well spent, at the places where samples saw it. */
#include <stdint.h>
#include "findings/finding_sentence.h"
#include "findings/words.h"
#include "findings/findings.h"
#include "findings/lead.h"
#include "findings/told.h"
#include "facts/class.h"
#include "html_priv.h"

#define LINE_COLUMNS 40

static void put_escaped(struct html *h, const char *before, const char *text, const char *after)
{
	if (!text)
		return;
	html_put(h, before);
	html_escape(h->f, text);
	html_put(h, after);
}

void html_finding(struct html *h, size_t at)
{
	html_text(h, "bdi", view_finding_sentence(h->s, &h->mem, at), "/findings/%zu/sentence", at);
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

/* What proves a class stands with the class, below. */
void html_evidence(struct html *h, size_t at, const char *before)
{
	const struct view_finding *f = &h->s->finding[at];

	if (f->where.known) {
		html_put(h, before);
		html_count(h, f->where.samples, "/findings/%zu/evidence/samples", at);
		html_put(h, f->where.samples == 1 ? " sample of " : " samples of ");
		html_count(h, f->where.threads, "/findings/%zu/evidence/threads", at);
		html_put(h, f->where.threads == 1 ? " thread" : " threads");
	}
}

/*
 * Where in the summary a finding's time or dollars stand, with what it stands for. @member: ns or
 * usd.
 */
static const char *told_key(struct html *h, size_t at, const char *member)
{
	size_t rest = view_told_rest(h->s, at);

	if (rest == SIZE_MAX)
		return base_arena_printf(&h->mem, "/findings/%zu/%s", at, member);
	return base_arena_printf(&h->mem, "/findings/%zu/%s + /findings/%zu/%s", at, member, rest,
				 member);
}

/* Of the training time; what lies outside of it as a share of all that was held. */
static void put_share(struct html *h, size_t at)
{
	html_pct(h, view_told_share_ppm(h->s, at), "%s %% /ledger/%s", told_key(h, at, "ns"),
		 ana_class_is_outside(h->s->finding[at].class) ? "gpu_ns" : "working_ns");
}

static void put_usd(struct html *h, size_t at)
{
	size_t rest = view_told_rest(h->s, at);
	int64_t nano = h->s->finding[at].nano_usd;

	if (rest != SIZE_MAX)
		view_cost_add(&nano, h->s->finding[rest].nano_usd);
	html_usd(h, nano, "%s", told_key(h, at, "usd"));
}

/* What is left of the finding's class, in small below it. */
static void put_rest(struct html *h, size_t rest)
{
	if (rest == SIZE_MAX)
		return;
	html_put(h, "<br>");
	html_text(h, "span class=\"soft small\"", view_finding_sentence(h->s, &h->mem, rest),
		  "/findings/%zu/sentence", rest);
}

/* A line that stands for more than was seen at it (view_told_rest) says how much was. */
static void put_seen_here(struct html *h, size_t at)
{
	const struct view_finding *f = &h->s->finding[at];

	if (!f->where.file || view_told_rest(h->s, at) == SIZE_MAX)
		return;
	html_put(h, "<br><span class=\"soft small\">");
	html_own_share(h, at);
	html_put(h, " seen at this line</span>");
}

void html_own_share(struct html *h, size_t at)
{
	const struct view_finding *f = &h->s->finding[at];
	bool outside = ana_class_is_outside(f->class);

	html_pct(h, base_ppm(f->ns, outside ? h->s->result->gpu_ns : view_working_ns(h->s)),
		 "/findings/%zu/ns %% /ledger/%s", at, outside ? "gpu_ns" : "working_ns");
}

/* The line, how much of the time was seen there, and how sure all that is: "..., gain low; 1,514 samples of 4 threads". */
static void put_line(struct html *h, size_t at)
{
	html_hotspot(h, at);
	put_seen_here(h, at);
	fprintf(h->f, "<span class=\"proof soft small\">%s",
		view_finding_confidence_words(h->s, &h->mem, at));
	html_evidence(h, at, "; ");
	html_put(h, "</span>");
}

static void put_finding(struct html *h, const struct view_told *told)
{
	const struct view_finding *f = &h->s->finding[told->at];
	size_t at = told->at;

	html_put(h, "<tr>");
	HTML_ROW(h, html_class(h, f->class));
	HTML_NUMBER(h, html_ns(h, view_told_ns(h->s, at), "%s", told_key(h, at, "ns")));
	HTML_NUMBER(h, put_share(h, at));
	if (h->s->cost.known)
		HTML_NUMBER(h, put_usd(h, at));
	html_put(h, "<td class=\"wide\">");
	html_finding(h, at);
	put_native(h, at);
	put_rest(h, told->rest);
	html_put(h, "</td>");
	HTML_CELL_IN(h, "td class=\"where\"", put_line(h, at));
	html_put(h, "</tr>\n");
}

/* "/findings/0/ns + /findings/2/ns": those of the first that the verdict is about. */
static const char *first_key(struct html *h, const struct view_told *told,
			     const struct view_lead *l, int64_t *ns)
{
	const char *key = "";

	*ns = 0;
	for (size_t i = 0; i < VIEW_TOLD_FIRST; i++) {
		const struct view_finding *f = &h->s->finding[told[i].at];
		if (!l->set[f->class])
			continue;
		view_cost_add(ns, view_told_ns(h->s, told[i].at));
		key = base_arena_printf(&h->mem, "%s%s%s", key, *key ? " + " : "",
					told_key(h, told[i].at, "ns"));
	}
	return key;
}

/* How much of what the verdict is about those of the first three are that are of it. */
static void put_covered(struct html *h, const struct view_told *told, size_t n)
{
	struct view_lead l = view_lead_of(h->s);
	int64_t working = view_working_ns(h->s), ns, part, all;
	const char *key;

	if (n <= VIEW_TOLD_FIRST || !view_covered(h->s, told, VIEW_TOLD_FIRST, false, &part, &all))
		return;
	key = first_key(h, told, &l, &ns);
	fprintf(h->f, "<p>The %s ", view_covering_words(h->s, told));
	html_pct_closed(h, base_ppm(ns, working), part, "%s %% /ledger/working_ns", key);
	html_put(h, " of the ");
	html_pct(h, l.ppm, "%s %% /ledger/working_ns", html_lead_key(h, &l, "ns"));
	fprintf(h->f, "; %s.</p>\n", view_uncovered_words(part, all));
}

void html_findings(struct html *h)
{
	struct view_told *told;
	size_t n = view_findings_told(h->s, &h->mem, &told);
	const char *of;

	if (!n)
		return;
	of = base_arena_printf(&h->mem, "n:Of the %s", view_whole_words(&h->s->kind, false));
	html_section(h, "why", "Why, and in which line");
	fprintf(h->f, "<p class=\"soft\">Here, %s.</p>\n", view_confidence_words(h->s));
	html_table(h, "Time not well spent, the most costly first");
	HTML_HEADS(h, "Class", "n:Time", of, "$:Cost", "What", "Line, and how sure");
	for (size_t i = 0; i < n; i++)
		put_finding(h, &told[i]);
	html_table_end(h);
	put_covered(h, told, n);
	html_section_end(h);
}
