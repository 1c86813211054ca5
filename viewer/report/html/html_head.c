/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands around the sections: the document's head, the banner, the list of sections, the end.
 */
#include <ctype.h>
#include <string.h>
#include "findings/lead.h"
#include "findings/unused.h"
#include "html_priv.h"
#include "html_script.h"

static void put_document(struct html *h)
{
	html_put(h, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
	view_script_policy(h->f);
	html_put(h, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		    "<meta name=\"color-scheme\" content=\"light dark\">\n"
		    "<meta name=\"referrer\" content=\"no-referrer\">\n<title>");
	html_escape(h->f, h->s->id);
	fprintf(h->f, ": %s - gpustarve</title>\n", view_judgement_words(h->s, &h->mem));
	view_script_style(h->f);
	html_put(h, "</head>\n<body>\n");
}

/* Classes are told apart by texture as well as by colour: in charts by these. */
static void put_patterns(struct html *h)
{
	static const struct {
		const char *family, *shape;
	} pattern[] = {
		{ "comm", "<path d=\"M0 4h8\"/>" },
		{ "copy", "<path d=\"M4 0v8\"/>" },
		{ "host", "<path d=\"M-2 2l4-4M0 8l8-8M6 10l4-4\"/>" },
		{ "device", "<circle cx=\"4\" cy=\"4\" r=\"1.2\"/>" },
		{ "makes", "<path d=\"M-2 2l4-4M0 8l8-8M6 10l4-4\"/>" },
		{ "runnable", "<path d=\"M-2 2l4-4M0 8l8-8M6 10l4-4\"/>" },
		{ "awaits-gpu", "<path d=\"M0 4h8\"/>" },
		{ "unseen", "<path d=\"M-2 6l4 4M0 0l8 8M6 -2l4 4\"/>" },
	};

	html_put(h, "<svg class=\"patterns\" aria-hidden=\"true\" focusable=\"false\"><defs>");
	for (size_t i = 0; i < sizeof(pattern) / sizeof(pattern[0]); i++)
		fprintf(h->f,
			"<pattern id=\"p-%s\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\">"
			"<rect width=\"8\" height=\"8\"/>%s</pattern>",
			pattern[i].family, pattern[i].shape);
	html_put(h, "</defs></svg>\n");
}

static void put_banner(struct html *h)
{
	const struct view_summary *s = h->s;

	html_put(h, "<header><p class=\"brand\">gpustarve</p>\n<p class=\"soft\">");
	html_text(h, "bdi class=\"mono\"", s->id, "/run/id");
	if (s->start_unix_ns) {
		html_put(h, " <span class=\"when\">");
		html_moment(h, s->start_unix_ns, "/run/start_unix_ns");
		html_put(h, "</span>");
	}
	html_put(h, "</p></header>\n");
}

/* A section's id is its name in short. */
static void put_entry(struct html *h, const char *id)
{
	size_t capitals = strcmp(id, "gpus") ? 1 : 3;

	fprintf(h->f, "<li><a href=\"#%s\">", id);
	for (size_t i = 0; id[i]; i++)
		fputc(i < capitals ? toupper((unsigned char)id[i]) : id[i], h->f);
	html_put(h, "</a></li>\n");
}

static void put_list(struct html *h)
{
	html_put(h, "<nav aria-label=\"Sections\"><ul>\n");
	for (size_t i = 0; i < h->sections; i++)
		put_entry(h, h->section[i]);
	html_put(h, "</ul></nav>\n");
}

void html_head(struct html *h)
{
	put_document(h);
	html_put(h, "<a class=\"skip\" href=\"#main\">Skip to the result</a>\n");
	put_patterns(h);
	put_banner(h);
	put_list(h);
	html_put(h, "<main id=\"main\" tabindex=\"-1\">\n");
}

void html_foot(struct html *h)
{
	html_put(h, "</main>\n<footer><p>gpustarve <span>" GPUSTARVE_VERSION
		    "</span>. Every number here is in summary.json, or in this page's own data; "
		    "<code>gpustarve verify</code> recomputes it from the trace.</p></footer>\n");
	fwrite(h->block, 1, h->block_len, h->f); /* what charts draw; the page reads without it */
	view_script_write(h->f);
	html_put(h, "</body>\n</html>\n");
}
