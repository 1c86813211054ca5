/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Comma-separated values as spreadsheets write them: quotes, doubled quotes, CRLF, a byte order
 * mark, and lines beginning with # as comments. Any thread.
 */
#ifndef BASE_CSV_H
#define BASE_CSV_H

#include <stddef.h>
#include <stdio.h>
#include "arena.h"

#define BASE_CSV_FIELDS 256 /* bills have a hundred */

struct base_csv { /* zero-initialise, set p and end */
	const char *p, *end;
	int line; /* of the row last read, from 1 */
	int next_line;
};

void base_csv_init(struct base_csv *c, const char *text, size_t len);

/*
 * The next row that is not empty: its number of fields (more than BASE_CSV_FIELDS are cut), or 0.
 */
int base_csv_row(struct base_csv *c, struct base_arena *a, const char *field[BASE_CSV_FIELDS]);

/* Writes one field, quoted where it needs to be: for base_csv_row and others that read text. */
void base_csv_put(FILE *f, const char *text);

/*
 * The same for spreadsheets, which run what begins like a formula: that is quoted and begins with
 * an apostrophe.
 */
void base_csv_put_guarded(FILE *f, const char *text);

/*
 * For who writes such a field elsewhere than to a stream: what stands before its text. Unless that
 * is "", a quote stands behind it. The text goes in as BASE_AS_CSV says.
 */
const char *base_csv_lead(const char *text);

#endif
