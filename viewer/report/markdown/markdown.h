/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The summary as GitHub's Markdown, short enough for a ticket. Shows the summary's numbers and no
 * others.
 */
#ifndef VIEW_MARKDOWN_H
#define VIEW_MARKDOWN_H

#include <stdio.h>
#include "summary/summary.h"

void view_markdown_write(const struct view_summary *s, FILE *f);

#endif
