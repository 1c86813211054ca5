/* SPDX-License-Identifier: Apache-2.0 */
/* One pass, field by field; spaces around unquoted fields are dropped. */
#include "csv.h"

#include <stdbool.h>
#include <string.h>
#include "escape.h"

void base_csv_init(struct base_csv *c, const char *text, size_t len)
{
	*c = (struct base_csv){ .p = text, .end = text + len, .next_line = 1 };
	if (len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
		c->p += 3;
}

/* Where a quoted field ends: a field takes no more room than it has. */
static const char *end_of_quoted(const struct base_csv *c)
{
	const char *p = c->p + 1;

	for (; p < c->end; p++) {
		if (*p != '"')
			continue;
		if (p + 1 >= c->end || p[1] != '"')
			return p;
		p++;
	}
	return c->end;
}

static const char *quoted(struct base_csv *c, struct base_arena *a)
{
	char *text = base_arena_alloc(a, (size_t)(end_of_quoted(c) - c->p) + 1), *out = text;

	for (c->p++; c->p < c->end; c->p++) {
		if (*c->p == '\n')
			c->next_line++;
		if (*c->p == '"') {
			if (c->p + 1 >= c->end || c->p[1] != '"')
				break;
			c->p++;
		}
		*out++ = *c->p;
	}
	while (c->p < c->end && *c->p != ',' && *c->p != '\n')
		c->p++;
	return text;
}

static const char *plain(struct base_csv *c, struct base_arena *a)
{
	const char *from = c->p;

	while (c->p < c->end && *c->p != ',' && *c->p != '\n')
		c->p++;
	const char *to = c->p;
	while (from < to && (*from == ' ' || *from == '\t'))
		from++;
	while (to > from && (to[-1] == ' ' || to[-1] == '\t' || to[-1] == '\r'))
		to--;
	return base_arena_copy(a, from, (size_t)(to - from));
}

static int fields(struct base_csv *c, struct base_arena *a, const char *field[BASE_CSV_FIELDS])
{
	int n = 0;

	for (;;) {
		const char *text = c->p < c->end && *c->p == '"' ? quoted(c, a) : plain(c, a);
		if (n < BASE_CSV_FIELDS)
			field[n++] = text;
		if (c->p >= c->end || *c->p == '\n')
			break;
		c->p++;
	}
	if (c->p < c->end)
		c->p++;
	c->next_line++;
	return n;
}

int base_csv_row(struct base_csv *c, struct base_arena *a, const char *field[BASE_CSV_FIELDS])
{
	while (c->p < c->end) {
		c->line = c->next_line;
		if (*c->p == '#') {
			const char *nl = memchr(c->p, '\n', (size_t)(c->end - c->p));
			c->p = nl ? nl + 1 : c->end;
			c->next_line++;
			continue;
		}
		int n = fields(c, a, field);
		if (n > 1 || field[0][0])
			return n;
	}
	return 0;
}

static bool needs_quotes(const char *text)
{
	return text[strcspn(text, ",\"\r\n\t;")] || *text == ' ' || *text == '#';
}

const char *base_csv_lead(const char *text)
{
	if (*text && strchr("=+-@\t\r", *text))
		return "\"'";
	return needs_quotes(text) ? "\"" : "";
}

static void put(FILE *f, const char *lead, const char *text)
{
	fputs(lead, f);
	base_put(f, BASE_AS_CSV, text);
	if (*lead)
		fputc('"', f);
}

void base_csv_put(FILE *f, const char *text)
{
	put(f, needs_quotes(text) ? "\"" : "", text);
}

void base_csv_put_guarded(FILE *f, const char *text)
{
	put(f, base_csv_lead(text), text);
}
