/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of the fleet's page, and those of runs. */
#include <string.h>
#include "base/units.h"
#include "page.h"

/* What scrolls has the name; the section would be a second landmark of that name. */
void fleet_page_table(struct fleet_page *s, const char *id, const char *title, const char *columns)
{
	size_t before = strcspn(columns, TIME);
	const char *after = columns + before + (columns[before] ? 1 : 0);

	fprintf(s->out,
		"<section>\n<h2 id=\"%s\">%s</h2>\n"
		"<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-labelledby=\"%s\">"
		"<table>\n<thead><tr>%.*s%s%s</tr></thead>\n<tbody>\n",
		id, title, id, (int)before, columns, columns[before] ? fleet_time_name(s->f) : "",
		after);
}

void fleet_page_table_end(struct fleet_page *s, size_t all, size_t shown)
{
	base_unit n;

	fputs("</tbody></table></div>\n", s->out);
	if (all > shown)
		fprintf(s->out, "<p class=\"soft\">And %s more.</p>\n", base_count(n, all - shown));
	fputs("</section>\n", s->out);
}

void fleet_page_number(struct fleet_page *s, const char *text)
{
	fputs("<td class=\"n\">", s->out);
	html_escape(s->out, text);
	fputs("</td>", s->out);
}

/* What is short, such as a date, stays on one line. */
static void put_text(struct fleet_page *s, const char *text)
{
	fputs(strlen(text) <= 12 ? "<bdi class=\"keep\">" : "<bdi>", s->out);
	html_escape(s->out, text);
	fputs("</bdi>", s->out);
}

void fleet_page_named(struct fleet_page *s, const char *text)
{
	fputs("<tr><th scope=\"row\">", s->out);
	put_text(s, text);
	fputs("</th>", s->out);
}

void fleet_page_cell(struct fleet_page *s, const char *text)
{
	fputs("<td>", s->out);
	put_text(s, text);
	fputs("</td>", s->out);
}

void fleet_page_what(struct fleet_page *s, const char *text, const char *place)
{
	fputs("<tr><th scope=\"row\" class=\"what\"><bdi>", s->out);
	html_escape(s->out, text);
	fputs("</bdi><br><bdi class=\"mono small soft\">", s->out);
	html_escape(s->out, place);
	fputs("</bdi></th>", s->out);
}

/* --- runs --- */

/* An address that a page may hold, whatever the run is called. */
static void put_link(struct fleet_page *s, const char *id)
{
	fputs("<a href=\"runs/", s->out);
	for (const unsigned char *p = (const unsigned char *)id; *p; p++) {
		if ((*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') ||
		    (*p >= 'A' && *p <= 'Z') || strchr("-_.+=@", *p))
			fputc(*p, s->out);
		else
			fprintf(s->out, "%%%02X", *p);
	}
	fputs("\">", s->out);
}

void fleet_page_run_name(struct fleet_page *s, const char *id)
{
	fputs("<tr><th scope=\"row\" class=\"what\"><bdi class=\"mono\">", s->out);
	if (s->f->options.links)
		put_link(s, id);
	html_escape(s->out, id);
	fputs(s->f->options.links ? "</a></bdi></th>" : "</bdi></th>", s->out);
}

static void put_run(struct fleet_page *s, const struct fleet_run *r)
{
	base_unit text;

	fleet_page_run_name(s, r->id);
	fleet_page_number(s, r->priced ? fleet_usd(s->f, text, r->usd) : "-");
	fleet_page_number(s, fleet_hours(s->f, text, r->held_ns));
	fleet_page_cell(s, base_day(text, r->start_ns));
	fleet_page_cell(s, base_arena_printf(&s->mem, "%s %s", r->end, r->exit));
	fleet_page_cell(s, fleet_shown(r->user));
	fleet_page_cell(s, fleet_shown(r->team));
	fputs("</tr>\n", s->out);
}

void fleet_page_runs(struct fleet_page *s, const char *id, const char *title,
		     const struct fleet_runs *r)
{
	size_t n = r->runs < s->f->options.top ? r->runs : s->f->options.top;

	if (!r->count)
		return;
	fleet_page_table(s, id, title,
			 T("Run") N("Cost") N(TIME) T("Began") T("End") T("User") T("Team"));
	for (size_t i = 0; i < n; i++)
		put_run(s, &r->run[i]);
	fleet_page_table_end(s, r->count, n);
}
