/* SPDX-License-Identifier: Apache-2.0 */
#include "wrap.h"

#include <stdbool.h>
#include <string.h>
#include "base/escape.h"
#include "base/utf8.h"

void view_put_tame_part(FILE *f, const char *text, size_t len)
{
	base_put_part(f, BASE_AS_TERMINAL, text, len);
}

void view_put_tame(FILE *f, const char *text)
{
	view_put_tame_part(f, text, strlen(text));
}

/* Bytes of the colour sequence that begins here, or 0. */
static size_t colour(const char *text, size_t len)
{
	size_t n = 2;

	if (len < 3 || text[0] != '\033' || text[1] != '[')
		return 0;
	while (n < len && ((text[n] >= '0' && text[n] <= '9') || text[n] == ';'))
		n++;
	return n < len && text[n] == 'm' ? n + 1 : 0;
}

int view_line_columns(const char *text, size_t len)
{
	int columns = 0;

	for (size_t i = 0; i < len;) {
		size_t k = colour(text + i, len - i);
		if (!k) {
			k = base_utf8_length(text + i, len - i);
			columns += base_utf8_width(text + i, k);
		}
		i += k ? k : 1;
	}
	return columns;
}

/* Of text that goes through view_put_tame_part: a control is a question mark. */
static int tame_columns(const char *text, size_t len)
{
	int columns = 0;

	for (size_t i = 0; i < len;) {
		size_t n = base_utf8_length(text + i, len - i);
		columns += base_utf8_width(text + i, n);
		i += n ? n : 1;
	}
	return columns;
}

/* Bytes of @text that fit into @room columns, at least one character. */
static size_t fitting(const char *text, size_t len, int room)
{
	size_t i = 0;

	while (i < len) {
		size_t n = base_utf8_length(text + i, len - i);
		room -= base_utf8_width(text + i, n);
		if (room < 0 && i)
			break;
		i += n ? n : 1;
	}
	return i;
}

void view_wrap_in(FILE *f, int columns, bool cut, int at, int hang, const char *text)
{
	bool first = true;

	while (*text) {
		size_t len = strcspn(text, " ");
		int width = tame_columns(text, len);
		if (!first && at + 1 + width > columns) {
			fprintf(f, "\n%*s", hang, "");
			at = hang;
		} else if (!first) {
			fputc(' ', f);
			at++;
		}
		while (cut && at + width > columns) {
			size_t part = fitting(text, len, columns - at);
			view_put_tame_part(f, text, part);
			fprintf(f, "\n%*s", hang, "");
			at = hang;
			text += part;
			len -= part;
			width = tame_columns(text, len);
		}
		view_put_tame_part(f, text, len);
		at += width;
		first = false;
		text += len;
		text += strspn(text, " ");
	}
	fputc('\n', f);
}

void view_wrap(FILE *f, int at, int hang, const char *text)
{
	view_wrap_in(f, VIEW_COLUMNS, false, at, hang, text);
}
