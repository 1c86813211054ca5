/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report as one self-contained page: no network (a policy in the page forbids it), no script
 * needed to read it. Takes the summary and nothing else, so that its numbers are summary.json's.
 * What it has of the user's source files (findings/own_line.h) is text, apart from these.
 * Every string of a trace is untrusted and escaped for where it stands.
 */
#ifndef VIEW_HTML_H
#define VIEW_HTML_H

#include <stdio.h>
#include "summary/summary.h"

void view_html_write(const struct view_summary *s, FILE *f);

#endif
