/* SPDX-License-Identifier: Apache-2.0 */
/* What the programs that read lines share. */
#ifndef TESTS_MADE_LINES_H
#define TESTS_MADE_LINES_H

#include <stdint.h>
#include "made.h"

/* @n numbers at @p, negative ones in two's complement; returns what follows them. */
char *made_numbers(char *p, uint64_t *v, int n);

/* The name that the rest of a line is: its id. */
uint32_t made_rest(struct made_stream *s, char *p);

/* '~' ends a frame of a stack, '|' a field: as wire has them, in place. */
void made_unfold(char *text);

/* Rows that lines give alike: "START END CORR TID NAME" and "OP START END TID FLAGS NAME". */
void made_api(struct made_stream *s, char *p);
void made_range(struct made_stream *s, char *p);

#endif
