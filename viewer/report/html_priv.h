/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of html*.c share. Private to them. */
#ifndef VIEW_HTML_PRIV_H
#define VIEW_HTML_PRIV_H

#include <stdio.h>
#include "base/arena.h"
#include "summary/summary.h"

#define HTML_GPUS_MAX 256
#define HTML_GAPS_MAX 10

struct html {
	const struct view_summary *s;
	FILE *f;
	struct view_arena mem;
};

/*
 * Untrusted text, fit for element content and for quoted attributes: the five special characters
 * as entities, controls and broken UTF-8 as U+FFFD, marks that turn the writing direction too.
 */
void html_escape(FILE *f, const char *text);
void html_escape_sentence(FILE *f, const char *text); /* capital first, full stop last */

/* "<$0.01" as "&lt;$0.01"; other amounts as they are. */
const char *html_less(struct html *h, const char *amount);

const char *html_family(int c); /* colour of a class: busy, comm, copy, input, host, ... */
void html_key(struct html *h, enum ana_class c); /* its little square */

/* A table cell with dollars; nothing without a price. */
void html_usd_cell(struct html *h, int64_t nano, const char *shown);

/* html_why.c: the causes. */
void html_findings(struct html *h);
void html_loader(struct html *h);
void html_advice(struct html *h);

/* html_timeline.c: the per-GPU timelines. */
void html_timelines(struct html *h);

#endif
