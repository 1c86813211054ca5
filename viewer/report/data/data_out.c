/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commas, and text cut to what fits.
 */
#include "data_out.h"

#include <string.h>
#include "base/escape.h"

#define ELLIPSIS "\xe2\x80\xa6"
#define ELLIPSIS_BYTES 3u

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

/* How long text is when written; stops looking beyond @most. */
static size_t written(const char *text, size_t len, size_t most)
{
	size_t sum = 0, took;
	char c[BASE_ESCAPED_MAX];

	for (; len && sum <= most; text += took, len -= took)
		sum += base_escape(c, BASE_AS_JSON_PAGE, text, len, &took);
	return sum;
}

static void put(struct data_out *o, const char *text, size_t len, size_t room)
{
	char c[BASE_ESCAPED_MAX];
	size_t took;

	while (len) {
		size_t n = base_escape(c, BASE_AS_JSON_PAGE, text, len, &took);

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
	char c[BASE_ESCAPED_MAX];

	/* No character is written shorter than it is. */
	while (skip && skip < len && ((unsigned char)text[skip] & 0xc0) == 0x80)
		skip++;
	text += skip;
	len -= skip;
	left = written(text, len, SIZE_MAX);
	for (; left > VIEW_DATA_TEXT_MAX - ELLIPSIS_BYTES; text += took, len -= took)
		left -= base_escape(c, BASE_AS_JSON_PAGE, text, len, &took);
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
