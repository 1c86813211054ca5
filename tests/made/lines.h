/* SPDX-License-Identifier: Apache-2.0 */
/* What the programs that read lines share. */
#ifndef TESTS_MADE_LINES_H
#define TESTS_MADE_LINES_H

#include <stdint.h>

/* @n numbers at @p, negative ones in two's complement; returns what follows them. */
char *made_numbers(char *p, uint64_t *v, int n);

#endif
