/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include "html_priv.h"
#include "base/utf8.h"

/* Directional overrides and isolates (U+202A to U+202E, U+2066 to U+2069), C1 controls. */
static int is_trick(const char *p, size_t n)
{
	const unsigned char *u = (const unsigned char *)p;

	if (n == 2)
		return u[0] == 0xc2 && u[1] < 0xa0;
	if (n != 3 || u[0] != 0xe2)
		return 0;
	return (u[1] == 0x80 && u[2] >= 0xaa && u[2] <= 0xae) ||
	       (u[1] == 0x81 && u[2] >= 0xa6 && u[2] <= 0xa9);
}

static const char *entity(char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return (unsigned char)c < 0x20 || c == 0x7f ? "\xef\xbf\xbd" : NULL;
	}
}

static void escape(FILE *f, const char *text, size_t len)
{
	for (size_t i = 0; i < len;) {
		size_t n = base_utf8_length(text + i, len - i);
		const char *instead = n == 1 ? entity(text[i]) : NULL;
		if (!n || is_trick(text + i, n))
			instead = "\xef\xbf\xbd";
		if (instead)
			fputs(instead, f);
		else
			fwrite(text + i, 1, n, f);
		i += n ? n : 1;
	}
}

void html_escape(FILE *f, const char *text)
{
	escape(f, text, strlen(text));
}

void html_escape_sentence(FILE *f, const char *text)
{
	size_t len = strlen(text);

	if (!len)
		return;
	if (text[0] >= 'a' && text[0] <= 'z')
		fputc(text[0] - 'a' + 'A', f);
	else
		escape(f, text, base_utf8_length(text, len) ? base_utf8_length(text, len) : 1);
	size_t first = base_utf8_length(text, len);
	first = first ? first : 1;
	escape(f, text + first, len - first);
	if (!strchr(".!?", text[len - 1]))
		fputc('.', f);
}
