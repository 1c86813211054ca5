/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Comma-separated values as spreadsheets write them: quotes, doubled quotes, CRLF, a byte order
 * mark, and lines beginning with # as comments. Any thread.
 */
#ifndef VIEW_CSV_H
#define VIEW_CSV_H

#include <stddef.h>
#include <stdio.h>
#include "arena.h"

#define VIEW_CSV_FIELDS 64

struct view_csv { /* zero-initialise, set p and end */
	const char *p, *end;
	int line; /* of the row last read, from 1 */
	int next_line;
};

void view_csv_init(struct view_csv *c, const char *text, size_t len);

/* The next row that is not empty: its number of fields (more than VIEW_CSV_FIELDS are cut), or 0. */
int view_csv_row(struct view_csv *c, struct view_arena *a, const char *field[VIEW_CSV_FIELDS]);

/* Writes one field, quoted where it needs to be. */
void view_csv_put(FILE *f, const char *text);

#endif
