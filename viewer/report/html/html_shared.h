/* SPDX-License-Identifier: Apache-2.0 */
/* What the comparison's page and the fleet's have in common with the report's. */
#ifndef VIEW_HTML_SHARED_H
#define VIEW_HTML_SHARED_H

#include <stdio.h>

/*
 * Untrusted text, fit for element content and for quoted attributes: the five special characters
 * as entities, controls and broken UTF-8 as U+FFFD, marks that turn the writing direction too.
 */
void html_escape(FILE *f, const char *text);
void html_escape_sentence(FILE *f, const char *text); /* capital first, full stop last */

const char *html_colour(int c); /* of a class: busy, comm, copy, input, host, ... */

#endif
