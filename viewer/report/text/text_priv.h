/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of text*.c share. Private to them. */
#ifndef VIEW_TEXT_PRIV_H
#define VIEW_TEXT_PRIV_H

#include <stdbool.h>
#include <stdio.h>
#include "base/arena.h"
#include "summary/summary.h"
#include "text.h"

struct page {
	const struct view_summary *s;
	FILE *f;
	struct view_text_style style;
	struct base_arena mem;
};

/* Tables leave out what is least needed. */
static inline bool text_narrow(const struct page *p)
{
	return p->style.columns < 80;
}

/* text.c: what all parts are made of. */
const char *text_paint(const struct page *p, const char *code); /* "" where there is no colour */
void text_wrap(const struct page *p, int at, int hang, const char *text); /* in the columns */
void text_line(struct page *p, const char *text); /* indented by two */
void text_heading(struct page *p, const char *text);

/* text_frame.c: lines of @text, none longer than columns - 4, in a box with @title. */
void text_frame(FILE *f, const struct view_text_style *style, const char *title, const char *text);

void text_verdict(struct page *p); /* text_verdict.c: in its box */

/* text_why.c: the causes. */
void text_causes(struct page *p, size_t most); /* of the verdict, in the box */
void text_next(struct page *p);
void text_findings(struct page *p);
void text_loader(struct page *p);
void text_advice(struct page *p);

/* text_ranks.c */
void text_culprits(struct page *p, size_t most); /* for the verdict */
void text_ranks(struct page *p);

/* text_ledger.c: tables. */
void text_ledger(struct page *p);
void text_work(struct page *p);
void text_estimated(struct page *p); /* text_estimated.c */
void text_gpus(struct page *p);
void text_steps(struct page *p);
void text_copies(struct page *p);
void text_gaps(struct page *p);

void text_identity(struct page *p); /* text_run.c */
void text_saves(struct page *p); /* text_saves.c */
void text_prices(struct page *p); /* text_cost.c */
void text_quality(struct page *p); /* text_quality.c */

#endif
