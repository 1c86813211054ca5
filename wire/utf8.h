/* SPDX-License-Identifier: Apache-2.0 */
/* A code point as UTF-8. Any thread. */
#ifndef WIRE_UTF8_H
#define WIRE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WIRE_UTF8_MOST 4 /* bytes of one */
#define WIRE_UTF8_REPLACEMENT 0xfffdu /* stands for what is none */

static inline bool wire_utf8_is_code(uint32_t code)
{
	return code < 0xd800 || (code >= 0xe000 && code <= 0x10ffff);
}

/* How many bytes it has. What is no code point becomes WIRE_UTF8_REPLACEMENT. */
static inline size_t wire_utf8_put(char *out, uint32_t code)
{
	static const uint8_t mark[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
	size_t n, i;

	if (!wire_utf8_is_code(code))
		code = WIRE_UTF8_REPLACEMENT;
	n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
	for (i = n - 1; i; i--, code >>= 6)
		out[i] = (char)(0x80 | (code & 0x3f));
	out[0] = (char)(mark[n] | code);
	return n;
}

#endif
