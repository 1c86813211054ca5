/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Foreign text as JSON, CSV, labels and valid UTF-8.
 */
#include "export_out.h"
#include "base/csv.h"
#include "base/escape.h"
#include "base/utf8.h"

static void put(struct view_out *o, enum base_escape how, const char *text, size_t len)
{
	char c[BASE_ESCAPED_MAX];

	while (len) {
		size_t n = base_escape_plain(how, text, len);

		view_out_put(o, text, n);
		text += n;
		len -= n;
		if (!len)
			break;
		view_out_put(o, c, base_escape(c, how, text, len, &n));
		text += n;
		len -= n;
	}
}

void view_out_json(struct view_out *o, const char *text, size_t len)
{
	view_out_char(o, '"');
	put(o, BASE_AS_JSON, text, len);
	view_out_char(o, '"');
}

void view_out_label(struct view_out *o, const char *text)
{
	view_out_char(o, '"');
	put(o, BASE_AS_LABEL, text, strlen(text));
	view_out_char(o, '"');
}

void view_out_csv(struct view_out *o, const char *text)
{
	const char *lead = base_csv_lead(text);

	view_out_text(o, lead);
	put(o, BASE_AS_CSV, text, strlen(text));
	if (*lead)
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
			p = BASE_UTF8_MARK;
			add = sizeof(BASE_UTF8_MARK) - 1;
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
