/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of text*.c share. Private to them. */
#ifndef VIEW_TEXT_PRIV_H
#define VIEW_TEXT_PRIV_H

#include <stdbool.h>
#include <stdio.h>
#include "base/arena.h"
#include "summary/summary.h"

struct page {
	const struct view_summary *s;
	FILE *f;
	bool colour;
	struct view_arena mem;
};

void text_heading(struct page *p, const char *text);

/* text_why.c: the causes. */
void text_causes(struct page *p, size_t most); /* of the verdict, in the box */
void text_next(struct page *p);
void text_findings(struct page *p);
void text_loader(struct page *p);
void text_advice(struct page *p);

#endif
