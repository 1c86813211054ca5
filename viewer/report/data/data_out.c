/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commas and escapes.
 */
#include "data_out.h"

#include <string.h>
#include "base/utf8.h"
#include "data.h"

#define ELLIPSIS "\xe2\x80\xa6"
#define ELLIPSIS_BYTES 3u
#define ESCAPED_MAX 8u

/* A block has a hundred thousand numbers: no locks, no formats. Only this thread has the stream. */
static void lead(struct data_out *o, const char *key)
{
	if (o->comma)
		fputc_unlocked(',', o->f);
	o->comma = true;
	if (key)
		fprintf(o->f, "\"%s\":", key);
}

static void put_number(struct data_out *o, uint64_t v, bool negative)
{
	char digits[21], *p = digits + sizeof(digits);

	do
		*--p = (char)('0' + v % 10);
	while (v /= 10);
	if (negative)
		*--p = '-';
	fwrite_unlocked(p, 1, (size_t)(digits + sizeof(digits) - p), o->f);
}

void data_open(struct data_out *o, const char *key, char bracket)
{
	lead(o, key);
	fputc(bracket, o->f);
	o->comma = false;
}

void data_close(struct data_out *o, char bracket)
{
	fputc(bracket, o->f);
	o->comma = true;
}

void data_int(struct data_out *o, const char *key, int64_t v)
{
	lead(o, key);
	put_number(o, v < 0 ? -(uint64_t)v : (uint64_t)v, v < 0);
}

void data_uint(struct data_out *o, const char *key, uint64_t v)
{
	lead(o, key);
	put_number(o, v, false);
}

void data_bool(struct data_out *o, const char *key, bool v)
{
	lead(o, key);
	fputs(v ? "true" : "false", o->f);
}

void data_null(struct data_out *o, const char *key)
{
	lead(o, key);
	fputs("null", o->f);
}

static uint32_t code_of(const unsigned char *p, size_t n)
{
	uint32_t code = n == 1 ? p[0] : p[0] & (0x7fu >> n);

	for (size_t i = 1; i < n; i++)
		code = code << 6 | (p[i] & 0x3fu);
	return code;
}

/* Overrides, isolates and marks of the writing direction. */
static bool turns(uint32_t c)
{
	return c == 0x200e || c == 0x200f || c == 0x61c || (c >= 0x202a && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069);
}

/* One character as it is written; returns its bytes, *took those of the text. */
static size_t escape(char out[ESCAPED_MAX], const char *text, size_t len, size_t *took)
{
	size_t n = base_utf8_length(text, len);
	uint32_t c = n ? code_of((const unsigned char *)text, n) : 0xfffd;

	*took = n ? n : 1;
	if (!n || turns(c))
		return (size_t)snprintf(out, ESCAPED_MAX, "\\ufffd");
	if (c == '"' || c == '\\')
		return (size_t)snprintf(out, ESCAPED_MAX, "\\%c", (int)c);
	if (c < 0x20 || (c >= 0x7f && c < 0xa0) || c == '<' || c == '>' || c == '&' ||
	    c == 0x2028 || c == 0x2029)
		return (size_t)snprintf(out, ESCAPED_MAX, "\\u%04x", (unsigned int)c);
	memcpy(out, text, n);
	return n;
}

/* How long text is when written; stops looking beyond @most. */
static size_t written(const char *text, size_t len, size_t most)
{
	size_t sum = 0, took;
	char c[ESCAPED_MAX];

	for (; len && sum <= most; text += took, len -= took)
		sum += escape(c, text, len, &took);
	return sum;
}

static void put(struct data_out *o, const char *text, size_t len, size_t room)
{
	char c[ESCAPED_MAX];
	size_t took;

	while (len) {
		size_t n = escape(c, text, len, &took);

		if (n > room)
			break;
		fwrite(c, 1, n, o->f);
		room -= n;
		text += took;
		len -= took;
	}
}

/* The end of what is too long, in whole characters. */
static void put_tail(struct data_out *o, const char *text, size_t len)
{
	size_t skip = len > VIEW_DATA_TEXT_MAX ? len - VIEW_DATA_TEXT_MAX : 0, left, took;
	char c[ESCAPED_MAX];

	/* No character is written shorter than it is. */
	while (skip && skip < len && ((unsigned char)text[skip] & 0xc0) == 0x80)
		skip++;
	text += skip;
	len -= skip;
	left = written(text, len, SIZE_MAX);
	for (; left > VIEW_DATA_TEXT_MAX - ELLIPSIS_BYTES; text += took, len -= took)
		left -= escape(c, text, len, &took);
	fputs(ELLIPSIS, o->f);
	put(o, text, len, VIEW_DATA_TEXT_MAX);
}

void data_text(struct data_out *o, const char *key, const char *text, bool tail)
{
	size_t len = text ? strlen(text) : 0;

	if (!text) {
		data_null(o, key);
		return;
	}
	lead(o, key);
	fputc('"', o->f);
	if (written(text, len, VIEW_DATA_TEXT_MAX) <= VIEW_DATA_TEXT_MAX) {
		put(o, text, len, VIEW_DATA_TEXT_MAX);
	} else if (tail) {
		put_tail(o, text, len);
	} else {
		put(o, text, len, VIEW_DATA_TEXT_MAX - ELLIPSIS_BYTES);
		fputs(ELLIPSIS, o->f);
	}
	fputc('"', o->f);
}
