/* SPDX-License-Identifier: Apache-2.0 */
/* ClickHouse's TabSeparated, in place. A server may send anything. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "clickhouse_priv.h"
#include "rollup.h"

#define BILLION 1000000000LL
#define COLUMNS_MAX 40

/* Takes backslashes out of one cell, which ends at @end. */
static void unescape(char *text, const char *end)
{
	static const char from[] = "bfnrt0'\\", to[] = "\b\f\n\r\t?'\\";
	char *out = text;

	for (const char *p = text; p < end; p++) {
		const char *at = *p == '\\' && p + 1 < end ? strchr(from, p[1]) : NULL;
		if (at && *at)
			p++;
		*out++ = at && *at ? to[at - from] : *p;
	}
	*out = '\0';
}

static bool whole_number(const char *text, int64_t *v)
{
	char *end;

	errno = 0;
	*v = strtoll(text, &end, 10);
	return end > text && !*end && !errno;
}

/* A sum comes in two: whole billions and the rest. Neither can have overflowed on the way. */
static bool sum_of(const char *high, const char *low, int64_t *v)
{
	int64_t h, l;

	if (!whole_number(high, &h) || !whole_number(low, &l) || h < 0 || l < 0)
		return false;
	*v = 0;
	if (__builtin_mul_overflow(h, BILLION, v))
		*v = INT64_MAX;
	fleet_add(v, l);
	return true;
}

static bool fill(const char *columns, char *const *field, int fields, struct fleet_cell *cell)
{
	int at = 0;

	for (int i = 0; columns[i]; i++) {
		cell[i] = (struct fleet_cell){ 0 };
		if (at + (columns[i] == 's') >= fields)
			return false;
		if (columns[i] == 't')
			cell[i].text = field[at];
		else if (columns[i] == 'i' && !whole_number(field[at], &cell[i].i))
			return false;
		else if (columns[i] == 's' && !sum_of(field[at], field[at + 1], &cell[i].i))
			return false;
		at += 1 + (columns[i] == 's');
	}
	return at == fields;
}

/* Cuts the line at @text into fields; the text behind it, NULL at the end. */
static char *cut(char *text, char **field, int most, int *fields)
{
	*fields = 0;
	for (;;) {
		char *end = text + strcspn(text, "\t\n"), stop = *end;

		if (*fields < most)
			field[*fields] = text;
		(*fields)++;
		unescape(text, end);
		if (stop != '\t')
			return stop ? end + 1 : NULL;
		text = end + 1;
	}
}

int click_rows(char *text, const char *columns,
	       void (*on_row)(void *arg, const struct fleet_cell *cell), void *arg)
{
	struct fleet_cell cell[COLUMNS_MAX];
	char *field[2 * COLUMNS_MAX];
	int fields;

	while (text && *text) {
		text = cut(text, field, 2 * COLUMNS_MAX, &fields);
		if (!text || fields > 2 * COLUMNS_MAX || !fill(columns, field, fields, cell))
			return -EBADMSG; /* a row that does not end was cut off */
		on_row(arg, cell);
	}
	return 0;
}
