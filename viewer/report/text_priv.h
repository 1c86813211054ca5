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
	struct view_look look;
	struct view_arena mem;
};

/* Tables leave out what is least needed. */
static inline bool text_narrow(const struct page *p)
{
	return p->look.columns < 80;
}

/* view_wrap in the page's columns. */
void text_wrap(const struct page *p, int at, int hang, const char *text);

/* frame.c: lines of @text, none longer than columns - 4, in a box with @title. */
void text_frame(FILE *f, const struct view_look *look, const char *title, const char *text);

void text_heading(struct page *p, const char *text);

/* text_why.c: the causes. */
void text_causes(struct page *p, size_t most); /* of the verdict, in the box */
void text_next(struct page *p);
void text_findings(struct page *p);
void text_loader(struct page *p);
void text_advice(struct page *p);

/* text_ranks.c */
void text_culprits(struct page *p, size_t most); /* for the verdict */
void text_ranks(struct page *p);

#endif
