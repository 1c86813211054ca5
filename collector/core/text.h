/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Untrusted text in JSON, HTML and Prometheus' text format, so that it is nothing but text there.
 * What is not UTF-8 becomes U+FFFD, control characters are escaped or replaced.
 */
#ifndef COLL_TEXT_H
#define COLL_TEXT_H

#include <stdio.h>

void coll_put_json(FILE *f, const char *text); /* with its quotes; fit for HTML, too */
void coll_put_html(FILE *f, const char *text); /* content of an element or of a quoted attribute */
void coll_put_label(FILE *f, const char *text); /* a label's value, with its quotes */

#endif
