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

#define BASE_CSV_FIELDS 64

struct base_csv { /* zero-initialise, set p and end */
	const char *p, *end;
	int line; /* of the row last read, from 1 */
	int next_line;
};

void base_csv_init(struct base_csv *c, const char *text, size_t len);

/* The next row that is not empty: its number of fields (more than BASE_CSV_FIELDS are cut), or 0. */
int base_csv_row(struct base_csv *c, struct base_arena *a, const char *field[BASE_CSV_FIELDS]);

/* Writes one field, quoted where it needs to be. */
void base_csv_put(FILE *f, const char *text);

#endif
