/* SPDX-License-Identifier: Apache-2.0 */
/* The text report: a function per part, in order. */
#include "text.h"

#include <stdlib.h>
#include <string.h>
#include "core/wrap.h"
#include "text_priv.h"

#define CENT_SIGN "\302\242"

const char *text_paint(const struct page *p, const char *code)
{
	return p->style.colour ? code : "";
}

/* For a terminal that has no letters but ASCII's: "0.140 ct". NULL without memory. */
static char *spelt_out(const char *text)
{
	char *copy = strdup(text);

	for (char *p = copy; p && (p = strstr(p, CENT_SIGN)) != NULL;)
		memcpy(p, "ct", 2); /* the sign has as many bytes */
	return copy;
}

void text_wrap(const struct page *p, int at, int hang, const char *text)
{
	char *owned = NULL;

	if (p->style.box && !p->style.utf8)
		owned = spelt_out(text);
	/* A pipe gets long words whole, so that paths in it can be used. */
	view_wrap_in(p->f, p->style.columns, p->style.columns < VIEW_COLUMNS, at, hang,
		     owned ? owned : text);
	free(owned);
}

void text_line(struct page *p, const char *text)
{
	fputs("  ", p->f);
	text_wrap(p, 2, 2, text);
}

void text_heading(struct page *p, const char *text)
{
	fprintf(p->f, "\n%s", text_paint(p, "\033[1m"));
	text_wrap(p, 0, 0, text);
	fputs(text_paint(p, "\033[0m"), p->f);
}

void view_text_verdict(const struct view_summary *s, FILE *f, const struct view_text_style *style,
		       const char *report)
{
	struct page p = { .s = s, .f = f, .style = *style };

	text_verdict(&p);
	if (report) {
		/* Below the box and in one piece, so that it can be copied. */
		fputs("  report: ", f);
		view_put_tame(f, report);
		fputc('\n', f);
	}
	base_arena_fini(&p.mem);
}

void view_text_report(const struct view_summary *s, FILE *f, const struct view_text_style *style)
{
	struct page p = { .s = s, .f = f, .style = *style };

	text_verdict(&p);
	text_identity(&p);
	text_findings(&p);
	text_ledger(&p);
	text_estimated(&p);
	text_work(&p);
	text_gpus(&p);
	text_steps(&p);
	text_loader(&p);
	text_ranks(&p);
	text_copies(&p);
	text_gaps(&p);
	text_advice(&p);
	text_saves(&p);
	text_prices(&p);
	text_quality(&p);
	base_arena_fini(&p.mem);
}
