/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Foreign text as JSON, CSV and valid UTF-8.
 */
#include "out.h"
#include "base/utf8.h"

#define REPLACEMENT "\xef\xbf\xbd"

/* Bytes from @p that may stand in a JSON string as they are. */
static size_t plain(const char *p, size_t len)
{
	size_t n = 0;

	while (n < len && (unsigned char)p[n] >= 0x20 && (unsigned char)p[n] < 0x7f &&
	       p[n] != '"' && p[n] != '\\')
		n++;
	return n;
}

void view_out_json(struct view_out *o, const char *text, size_t len)
{
	view_out_char(o, '"');
	while (len) {
		size_t n = plain(text, len);

		view_out_put(o, text, n);
		text += n;
		len -= n;
		if (!len)
			break;
		n = base_utf8_length(text, len);
		if (!n)
			view_out_text(o, REPLACEMENT);
		else if (*text == '"' || *text == '\\')
			view_out_printf(o, "\\%c", *text);
		else if (n == 1)
			view_out_printf(o, "\\u%04x", (unsigned char)*text);
		else
			view_out_put(o, text, n);
		text += n ? n : 1;
		len -= n ? n : 1;
	}
	view_out_char(o, '"');
}

/* Spreadsheets run what begins like this. A lone number is harmless, and more use unquoted. */
static bool like_a_formula(const char *text)
{
	return *text && strchr("=+-@\t\r", *text) && text[strspn(text, "+-0123456789.")];
}

static bool needs_quotes(const char *text)
{
	return text[strcspn(text, ",\"\r\n\t;")] || *text == ' ' || *text == '#';
}

void view_out_csv(struct view_out *o, const char *text)
{
	bool formula = like_a_formula(text), quotes = formula || needs_quotes(text);
	size_t len = strlen(text), n;

	if (quotes)
		view_out_char(o, '"');
	if (formula)
		view_out_char(o, '\'');
	for (; len; text += n, len -= n) {
		n = base_utf8_length(text, len);
		if (*text == '"')
			view_out_char(o, '"');
		if (n)
			view_out_put(o, text, n);
		else
			view_out_text(o, REPLACEMENT);
		n = n ? n : 1;
	}
	if (quotes)
		view_out_char(o, '"');
}

size_t view_text_valid(char *out, size_t room, const char *text, size_t len)
{
	size_t at = 0, n;

	for (; len; text += n, len -= n) {
		const char *p = text;
		size_t add;

		n = base_utf8_length(text, len);
		add = n;
		if (!n || !*text) { /* a NUL ends text elsewhere */
			p = REPLACEMENT;
			add = sizeof(REPLACEMENT) - 1;
			n = 1;
		}
		if (at + add + 1 > room)
			break;
		memcpy(out + at, p, add);
		at += add;
	}
	out[at] = '\0';
	return at;
}
