/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page's styles and script, and the policy under which a browser takes these and nothing else:
 * it names the SHA-256 of each by its exact bytes, so that nothing else in the page can be style
 * or script, and allows no request. A style attribute is refused too. In a build without npm there
 * is no script, and the page says what it has to say without.
 */
#ifndef VIEW_HTML_SCRIPT_H
#define VIEW_HTML_SCRIPT_H

#include <stdbool.h>
#include <stdio.h>

/* Whether this program was built with the charts. */
bool view_script_built(void);

/* The policy as a meta element, for the head, before anything it is to hold for. */
void view_script_policy(FILE *f);

/* The style elements, for the head. */
void view_script_style(FILE *f);

/* The script element, for the end of the body: it reads what stands before it. */
void view_script_write(FILE *f);

#endif
