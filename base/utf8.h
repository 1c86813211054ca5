/* SPDX-License-Identifier: Apache-2.0 */
/* Which bytes are whole UTF-8 characters. Strings of a trace may be anything. Any thread. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the character at @p (1 to 4), or 0 if these @len bytes begin with none. */
size_t base_utf8_length(const char *p, size_t len);

/*
 * Columns that the character of @n bytes at @p takes on a terminal: 0 (combining marks, joiners), 2
 * (ideographs, most emoji) or 1. Without any locale.
 */
int base_utf8_width(const char *p, size_t n);

/* Columns on a terminal, taking each character as one. */
size_t base_utf8_columns(const char *text);

#endif
