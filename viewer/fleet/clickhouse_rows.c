/* SPDX-License-Identifier: Apache-2.0 */
/* ClickHouse's TabSeparated, in place. A server may send anything. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "clickhouse_priv.h"
#include "rollup.h"

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

static bool whole_number(const char *text, base_wide *v)
{
	char *end;

	if (!text)
		return false;
	errno = 0;
	*v = strtoll(text, &end, 10);
	return end > text && !*end && !errno;
}

/* More than int64 holds, and no more than can be shown. */
static bool sum_of(const char *text, base_wide *v)
{
	if (!text || !*text)
		return false;
	for (*v = 0; *text >= '0' && *text <= '9'; text++) {
		*v = *v * 10 + (*text - '0');
		if (*v > BASE_WIDE_MAX)
			return false;
	}
	return !*text;
}

static bool fill(const char *columns, char *const *field, int fields, struct fleet_cell *cell)
{
	for (int i = 0; columns[i]; i++) {
		cell[i] = (struct fleet_cell){ 0 };
		if (i >= fields || (columns[i] == 't' && !field[i]) ||
		    (columns[i] == 'i' && !whole_number(field[i], &cell[i].i)) ||
		    (columns[i] == 's' && !sum_of(field[i], &cell[i].i)))
			return false;
		if (columns[i] == 't' || columns[i] == 'n')
			cell[i].text = field[i];
	}
	return fields == (int)strlen(columns);
}

/*
 * Cuts the line at @text into fields, NULL where there is none; the text behind it, NULL at the
 * end.
 */
static char *cut(char *text, char **field, int most, int *fields)
{
	*fields = 0;
	for (;;) {
		char *end = text + strcspn(text, "\t\n"), stop = *end;
		bool none = end == text + 2 && !strncmp(text, "\\N", 2);

		if (*fields < most)
			field[*fields] = none ? NULL : text;
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
	struct fleet_cell cell[FLEET_COLUMNS_MAX];
	char *field[FLEET_COLUMNS_MAX];
	int fields;

	while (text && *text) {
		text = cut(text, field, FLEET_COLUMNS_MAX, &fields);
		if (!text || fields > FLEET_COLUMNS_MAX || !fill(columns, field, fields, cell))
			return -EBADMSG; /* a row that does not end was cut off */
		on_row(arg, cell);
	}
	return 0;
}

void click_on_number(void *arg, const struct fleet_cell *cell)
{
	*(int64_t *)arg = (int64_t)cell->i;
}
