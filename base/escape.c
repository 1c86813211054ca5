/* SPDX-License-Identifier: Apache-2.0 */
#include "escape.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include "utf8.h"

enum act {
	KEEP,
	MARK, /* what stands for no character here */
	SLASH, /* a backslash before it */
	HEX, /* \u001b */
	PERCENT, /* %1B */
	ENTITY, /* &lt; */
	TWICE,
	SPACE,
};

/* Controls are 0 to 0x1f and 0x7f; tab, line feed and carriage return among them. */
#define CONTROLS(act) [1 ... 8] = act, [11 ... 12] = act, [14 ... 31] = act, [0] = act, [127] = act
#define BLANKS(act) ['\t'] = act, ['\n'] = act, ['\r'] = act

static const uint8_t ascii[BASE_ESCAPES][128] = {
	[BASE_AS_JSON] = { CONTROLS(HEX), BLANKS(HEX), ['"'] = SLASH, ['\\'] = SLASH },
	[BASE_AS_JSON_PAGE] = { CONTROLS(HEX), BLANKS(HEX), ['"'] = SLASH, ['\\'] = SLASH,
				['<'] = HEX, ['>'] = HEX, ['&'] = HEX },
	[BASE_AS_JSON_ANYWHERE] = { CONTROLS(HEX), BLANKS(HEX), ['"'] = HEX, ['\\'] = HEX,
				    ['<'] = HEX, ['>'] = HEX, ['&'] = HEX, ['\''] = HEX },
	[BASE_AS_HTML] = { CONTROLS(MARK), BLANKS(MARK), ['&'] = ENTITY, ['<'] = ENTITY,
			   ['>'] = ENTITY, ['"'] = ENTITY, ['\''] = ENTITY },
	[BASE_AS_XML] = { CONTROLS(MARK), ['&'] = ENTITY, ['<'] = ENTITY, ['>'] = ENTITY,
			  ['"'] = ENTITY },
	/* clang-format off */
	[BASE_AS_MARKDOWN] = { CONTROLS(MARK), BLANKS(SPACE), ['<'] = ENTITY, ['&'] = ENTITY,
			       ['\\'] = SLASH, ['`'] = SLASH, ['*'] = SLASH, ['_'] = SLASH,
			       ['{'] = SLASH, ['}'] = SLASH, ['['] = SLASH, [']'] = SLASH,
			       ['('] = SLASH, [')'] = SLASH, ['#'] = SLASH, ['+'] = SLASH,
			       ['!'] = SLASH, ['|'] = SLASH, ['~'] = SLASH, ['>'] = SLASH,
			       ['@'] = SLASH },
	/* clang-format on */
	[BASE_AS_GITHUB] = { CONTROLS(MARK), ['%'] = PERCENT, ['\r'] = PERCENT, ['\n'] = PERCENT },
	[BASE_AS_GITHUB_PROPERTY] = { CONTROLS(MARK), ['%'] = PERCENT, ['\r'] = PERCENT,
				      ['\n'] = PERCENT, [':'] = PERCENT, [','] = PERCENT },
	[BASE_AS_LABEL] = { CONTROLS(MARK), BLANKS(MARK), ['"'] = SLASH, ['\\'] = SLASH },
	[BASE_AS_CSV] = { ['"'] = TWICE },
	[BASE_AS_TERMINAL] = { CONTROLS(MARK), BLANKS(MARK) },
};

static const struct {
	uint8_t c1; /* U+0080 to U+009F */
	uint8_t line; /* U+2028 and U+2029, which end a line of JavaScript */
	uint8_t turn; /* what turns the writing direction */
	uint8_t none; /* U+FFFE and U+FFFF, which XML does not know */
	const char *mark;
} wide[BASE_ESCAPES] = {
	[BASE_AS_JSON] = { .mark = "\\ufffd" },
	[BASE_AS_JSON_PAGE] = { .c1 = HEX, .line = HEX, .turn = MARK, .mark = "\\ufffd" },
	[BASE_AS_JSON_ANYWHERE] = { .c1 = HEX, .line = HEX, .mark = BASE_UTF8_MARK },
	[BASE_AS_HTML] = { .c1 = MARK, .line = MARK, .turn = MARK, .mark = BASE_UTF8_MARK },
	[BASE_AS_XML] = { .c1 = MARK, .turn = MARK, .none = MARK, .mark = BASE_UTF8_MARK },
	[BASE_AS_MARKDOWN] = { .c1 = MARK, .turn = MARK, .none = MARK, .mark = BASE_UTF8_MARK },
	[BASE_AS_GITHUB] = { .c1 = MARK, .turn = MARK, .none = MARK, .mark = BASE_UTF8_MARK },
	[BASE_AS_GITHUB_PROPERTY] = { .c1 = MARK,
				      .turn = MARK,
				      .none = MARK,
				      .mark = BASE_UTF8_MARK },
	[BASE_AS_LABEL] = { .c1 = MARK, .line = MARK, .mark = BASE_UTF8_MARK },
	[BASE_AS_CSV] = { .mark = BASE_UTF8_MARK },
	[BASE_AS_TERMINAL] = { .c1 = MARK, .turn = MARK, .mark = "?" },
};

static enum act act_on(enum base_escape how, uint32_t c)
{
	if (c < 128)
		return ascii[how][c];
	if (base_utf8_is_control(c))
		return wide[how].c1;
	if (c == 0x2028 || c == 0x2029)
		return wide[how].line;
	if (base_utf8_turns(c))
		return wide[how].turn;
	return c == 0xfffe || c == 0xffff ? wide[how].none : KEEP;
}

static const char *entity(uint32_t c)
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
	default:
		return "&#39;";
	}
}

size_t base_escape(char out[BASE_ESCAPED_MAX], enum base_escape how, const char *text, size_t len,
		   size_t *took)
{
	size_t n = base_utf8_length(text, len);
	uint32_t c = base_utf8_code(text, n);

	*took = n ? n : 1;
	switch (n ? act_on(how, c) : MARK) {
	case KEEP:
		memcpy(out, text, n);
		return n;
	case MARK:
		return (size_t)snprintf(out, BASE_ESCAPED_MAX, "%s", wide[how].mark);
	case SLASH:
		return (size_t)snprintf(out, BASE_ESCAPED_MAX, "\\%c", (int)c);
	case HEX:
		return (size_t)snprintf(out, BASE_ESCAPED_MAX, "\\u%04x", (unsigned int)c & 0xffff);
	case PERCENT:
		return (size_t)snprintf(out, BASE_ESCAPED_MAX, "%%%02X", (unsigned int)c & 0xff);
	case ENTITY:
		return (size_t)snprintf(out, BASE_ESCAPED_MAX, "%s", entity(c));
	case TWICE:
		return (size_t)snprintf(out, BASE_ESCAPED_MAX, "%c%c", (int)c, (int)c);
	default:
		*out = ' ';
		return 1;
	}
}

size_t base_escape_plain(enum base_escape how, const char *text, size_t len)
{
	size_t n = 0;

	while (n < len && (unsigned char)text[n] < 128 &&
	       ascii[how][(unsigned char)text[n]] == KEEP)
		n++;
	return n;
}

size_t base_escape_text(char *out, size_t room, enum base_escape how, const char *text)
{
	size_t at = 0, left = strlen(text), took, n;
	char c[BASE_ESCAPED_MAX];

	for (; left; text += took, left -= took, at += n) {
		n = base_escape(c, how, text, left, &took);
		if (at + n >= room)
			break;
		memcpy(out + at, c, n);
	}
	out[at] = '\0';
	return at;
}

void base_put_part(FILE *f, enum base_escape how, const char *text, size_t len)
{
	char c[BASE_ESCAPED_MAX];

	while (len) {
		size_t n = base_escape_plain(how, text, len);

		fwrite(text, 1, n, f);
		text += n;
		len -= n;
		if (!len)
			break;
		fwrite(c, 1, base_escape(c, how, text, len, &n), f);
		text += n;
		len -= n;
	}
}

void base_put(FILE *f, enum base_escape how, const char *text)
{
	base_put_part(f, how, text, strlen(text));
}

void base_put_quoted(FILE *f, enum base_escape how, const char *text)
{
	fputc('"', f);
	base_put(f, how, text);
	fputc('"', f);
}
