/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Characters of strings that may be anything: what a trace, a file or a client brings. No overlong
 * forms, no surrogates, nothing beyond U+10FFFF. Any thread.
 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "wire/utf8.h" /* a code point as bytes: wire_utf8_put */

#define BASE_UTF8_MARK "\xef\xbf\xbd" /* U+FFFD, which stands for what is no character */

/* Bytes of the character at @p (1 to 4), or 0 if these @len bytes begin with none. */
size_t base_utf8_length(const char *p, size_t len);

/* The code point of a character of so many bytes, as base_utf8_length tells them. */
uint32_t base_utf8_code(const char *p, size_t n);

/* C0, DEL and C1, which act like escapes on some terminals. */
static inline bool base_utf8_is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0);
}

/*
 * Marks, embeddings, overrides and isolates of the writing direction: with them in it another text
 * is seen than is there, and all that follows it may be turned.
 */
static inline bool base_utf8_turns(uint32_t c)
{
	return c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069);
}

/*
 * Columns that the character of @n bytes at @p takes on a terminal: 0 (combining marks, joiners), 2
 * (ideographs, most emoji) or 1. Without any locale.
 */
int base_utf8_width(const char *p, size_t n);

/* Columns on a terminal, taking each character as one. */
size_t base_utf8_columns(const char *text);

#endif
