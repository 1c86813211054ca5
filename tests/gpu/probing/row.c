/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row.c - an answer as one line: "id TAB body", the body being members of a JSON object.
 */
#include "row.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int out = STDOUT_FILENO;

void row_to(int fd)
{
	out = fd;
}

/* Text between quotation marks, escaped; what does not fit is cut. */
static void quoted(char *to, size_t size, const char *text)
{
	size_t n = 0;

	to[n++] = '"';
	for (; *text && n + 8 < size; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			to[n++] = '\\';
		to[n++] = c < 0x20 || c == 0x7f ? ' ' : (char)c;
	}
	to[n++] = '"';
	to[n] = 0;
}

static void send_line(const char *line)
{
	size_t n = strlen(line), done = 0;

	while (done < n) {
		ssize_t k = write(out, line + done, n - done);

		if (k <= 0)
			return;
		done += (size_t)k;
	}
}

void row_begin(struct row *row, const char *id, const char *unit)
{
	memset(row, 0, sizeof *row);
	row->id = id;
	row->unit = unit;
}

void row_answer(struct row *row, const char *format, ...)
{
	size_t n = strlen(row->answer);
	va_list args;

	va_start(args, format);
	vsnprintf(row->answer + n, sizeof row->answer - n, format, args);
	va_end(args);
}

void row_spread(struct row *row, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(row->spread, sizeof row->spread, format, args);
	va_end(args);
}

void row_figure(struct row *row, const char *name, int64_t value)
{
	size_t n = strlen(row->figures);

	if (value == FIG_UNKNOWN || n + strlen(name) + 32 > sizeof row->figures)
		return;
	snprintf(row->figures + n, sizeof row->figures - n, "%s\"%s\": %lld", n ? ", " : "", name,
		 (long long)value);
}

void row_figures(struct row *row, const char *name, const struct spread *s)
{
	char full[80];

	row_figure(row, name, s->median);
	snprintf(full, sizeof full, "%s_p25", name);
	row_figure(row, full, s->p25);
	snprintf(full, sizeof full, "%s_p75", name);
	row_figure(row, full, s->p75);
	snprintf(full, sizeof full, "%s_n", name);
	row_figure(row, full, (int64_t)s->n);
	if (s->n)
		row_spread(row, "%lld .. %lld (quartiles of %zu)", (long long)s->p25,
			   (long long)s->p75, s->n);
}

void row_send(const struct row *row)
{
	char answer[1100], spread[400], unit[200], line[4000];

	quoted(answer, sizeof answer, row->answer);
	quoted(spread, sizeof spread, row->spread);
	quoted(unit, sizeof unit, row->unit ? row->unit : "");
	snprintf(line, sizeof line,
		 "%s\t\"status\": \"answered\", \"answer\": %s, \"unit\": %s, "
		 "\"figures\": {%s}, \"spread\": %s\n",
		 row->id, answer, unit, row->figures, spread);
	send_line(line);
}

void row_skip(const char *id, const char *format, ...)
{
	char why[512], text[1100], line[1400];
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof why, format, args);
	va_end(args);
	quoted(text, sizeof text, why);
	snprintf(line, sizeof line,
		 "%s\t\"status\": \"skipped\", \"answer\": %s, \"unit\": \"\", "
		 "\"figures\": {}, \"spread\": \"\"\n",
		 id, text);
	send_line(line);
}

void row_fact(const char *name, const char *format, ...)
{
	char value[600], line[800], *c;
	va_list args;

	va_start(args, format);
	vsnprintf(value, sizeof value, format, args);
	va_end(args);
	for (c = value; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == '"' || *c == '\\')
			*c = ' ';
	snprintf(line, sizeof line, "=%s\t%s\n", name, value);
	send_line(line);
}
