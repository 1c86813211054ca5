/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Character by character.
 */
#include "text.h"

#include <stdint.h>
#include <string.h>

#define REPLACED 0xfffd

/* The next character of @*text, moved on; U+FFFD for a byte that begins none. */
static uint32_t next_char(const char **text)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *p = (const unsigned char *)*text;
	int len = *p < 0x80 ? 1 : *p >> 5 == 6 ? 2 : *p >> 4 == 14 ? 3 : *p >> 3 == 30 ? 4 : 0, i;
	uint32_t c = len == 1 ? *p : len ? *p & (0x7fu >> len) : REPLACED;

	for (i = 1; i < len && (p[i] & 0xc0) == 0x80; i++)
		c = c << 6 | (p[i] & 0x3fu);
	if (i < len || (len > 1 && c < least[len]) || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		len = 0;
	*text += len ? len : 1;
	return len ? c : REPLACED;
}

static void put_utf8(FILE *f, uint32_t c)
{
	if (c < 0x80) {
		putc((int)c, f);
		return;
	}
	if (c < 0x800) {
		putc((int)(0xc0 | c >> 6), f);
	} else {
		if (c < 0x10000) {
			putc((int)(0xe0 | c >> 12), f);
		} else {
			putc((int)(0xf0 | c >> 18), f);
			putc((int)(0x80 | (c >> 12 & 0x3f)), f);
		}
		putc((int)(0x80 | (c >> 6 & 0x3f)), f);
	}
	putc((int)(0x80 | (c & 0x3f)), f);
}

static int is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029;
}

/* Marks that turn the writing direction, and leave it turned. */
static int is_turning(uint32_t c)
{
	return (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0x200e ||
	       c == 0x200f || c == 0x61c;
}

void coll_put_json(FILE *f, const char *text)
{
	putc('"', f);
	while (*text) {
		uint32_t c = next_char(&text);

		if (is_control(c) || (c < 0x80 && strchr("\"\\<>&'", (int)c)))
			fprintf(f, "\\u%04x", c);
		else
			put_utf8(f, c);
	}
	putc('"', f);
}

void coll_put_html(FILE *f, const char *text)
{
	while (*text) {
		uint32_t c = next_char(&text);

		if (is_control(c) || is_turning(c))
			put_utf8(f, REPLACED);
		else if (c < 0x80 && strchr("\"'<>&", (int)c))
			fprintf(f, "&#%u;", c);
		else
			put_utf8(f, c);
	}
}

void coll_put_label(FILE *f, const char *text)
{
	putc('"', f);
	while (*text) {
		uint32_t c = next_char(&text);

		if (c == '"' || c == '\\')
			fprintf(f, "\\%c", (int)c);
		else
			put_utf8(f, is_control(c) ? REPLACED : c);
	}
	putc('"', f);
}
