/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.c - keeps the rows and writes them.
 */
#include "report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe.h"

#define MAX_QUESTIONS 128
#define MAX_FACTS 16
#define OPEN                                                              \
	"\"status\": \"not asked\", \"answer\": \"%s\", \"unit\": \"\", " \
	"\"figures\": {}, \"spread\": \"\""

static char *body[MAX_QUESTIONS]; /* NULL: open */
static struct {
	char name[24], value[600];
} facts[MAX_FACTS];
static char folder[4000], command[600];

/* ---- facts ---- */

const char *report_fact(const char *name)
{
	int i;

	for (i = 0; i < MAX_FACTS && *facts[i].name; i++)
		if (!strcmp(facts[i].name, name))
			return facts[i].value;
	return NULL;
}

static void keep_fact(const char *name, const char *value)
{
	int i;

	for (i = 0; i < MAX_FACTS; i++)
		if (!*facts[i].name || !strcmp(facts[i].name, name))
			break;
	if (i == MAX_FACTS)
		return;
	snprintf(facts[i].name, sizeof facts[i].name, "%s", name);
	snprintf(facts[i].value, sizeof facts[i].value, "%s", value);
}

static void versions(char *text, size_t size)
{
	static const char *const shown[] = { "gpu", "driver", "cuda", "cupti", "torch", "system" };
	size_t i, n = 0;

	*text = 0;
	for (i = 0; i < LENGTH(shown); i++) {
		const char *v = report_fact(shown[i]);

		if (v && n < size)
			n += (size_t)snprintf(text + n, size - n, "%s%s%s%s", n ? ", " : "",
					      i ? shown[i] : "", i ? " " : "", v);
	}
}

/* ---- the files ---- */

static int step_of(const char *part)
{
	size_t i;

	for (i = 0; i < part_count; i++)
		if (!strcmp(parts[i].name, part))
			return parts[i].step;
	return -1;
}

static void write_rows(FILE *f, const char *about)
{
	size_t i;

	for (i = 0; i < question_count; i++) {
		const struct question *q = &questions[i];

		fprintf(f, "{\"step\": %d, \"id\": \"%s\", \"question\": \"%s\", ",
			step_of(q->part), q->id, q->text);
		if (body[i])
			fputs(body[i], f);
		else
			fprintf(f, OPEN, "the probe ended before");
		fprintf(f, ", \"command\": \"%s\", \"versions\": \"%s\"}\n", command, about);
	}
}

/* The text of one member of a row; what was escaped comes back. */
static void member(const char *row, const char *name, char *text, size_t size)
{
	const char *at = row ? strstr(row, name) : NULL;
	size_t n = 0;

	*text = 0;
	if (!at)
		return;
	for (at += strlen(name); *at && *at != '"' && n + 2 < size; at++) {
		if (*at == '\\')
			at++;
		if (*at == '|')
			text[n++] = '\\';
		text[n++] = *at;
	}
	text[n] = 0;
}

static void write_table(FILE *f, const char *about, const char *ending)
{
	int answered, skipped, open;
	size_t i;

	report_count(&answered, &skipped, &open);
	fprintf(f, "# Probe: %d answered, %d skipped, %d not asked\n\n%s\n\nCommand: `%s`%s\n\n",
		answered, skipped, open, *about ? about : "nothing is known of the machine",
		command, ending);
	fprintf(f, "| step | asked | answer | unit | spread |\n|---|---|---|---|---|\n");
	for (i = 0; i < question_count; i++) {
		char answer[1200], unit[200], spread[400], status[24];

		member(body[i], "\"status\": \"", status, sizeof status);
		member(body[i], "\"answer\": \"", answer, sizeof answer);
		member(body[i], "\"unit\": \"", unit, sizeof unit);
		member(body[i], "\"spread\": \"", spread, sizeof spread);
		fprintf(f, "| %d | %s | %s%s%s | %s | %s |\n", step_of(questions[i].part),
			questions[i].text, strcmp(status, "answered") ? status : "",
			strcmp(status, "answered") && *status ? ": " : "",
			body[i] ? answer : "not asked: the probe ended before", unit, spread);
	}
}

static FILE *open_new(const char *name, char *path, char *final, size_t size)
{
	snprintf(final, size, "%s/%s", folder, name);
	snprintf(path, size, "%s/.%s.new", folder, name);
	return fopen(path, "w");
}

static void put_in_place(FILE *f, const char *path, const char *final)
{
	if (fclose(f) || rename(path, final))
		fprintf(stderr, "probe: %s: %s\n", final, strerror(errno));
}

void report_write(const char *ending)
{
	char about[2000], path[4100], final[4100];
	FILE *f;

	versions(about, sizeof about);
	f = open_new("probe.jsonl", path, final, sizeof path);
	if (f) {
		write_rows(f, about);
		put_in_place(f, path, final);
	}
	f = open_new("probe.md", path, final, sizeof path);
	if (f) {
		write_table(f, about, ending);
		put_in_place(f, path, final);
	}
}

/* ---- what comes in ---- */

int report_begin(const char *where, const char *called)
{
	char *c;

	if (question_count > MAX_QUESTIONS)
		return -E2BIG;
	snprintf(folder, sizeof folder, "%s", where);
	snprintf(command, sizeof command, "%s", called);
	for (c = command; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == '"' || *c == '\\')
			*c = '?';
	if (access(folder, W_OK))
		return -errno;
	report_write("");
	return 0;
}

static void keep(size_t i, const char *text)
{
	free(body[i]);
	body[i] = strdup(text);
}

void report_line(const char *part, char *line)
{
	char *tab = strchr(line, '\t');
	size_t i;

	if (!tab)
		return;
	*tab = 0;
	if (*line == '=') {
		keep_fact(line + 1, tab + 1);
		return;
	}
	for (i = 0; i < question_count; i++)
		if (!strcmp(questions[i].id, line) && !strcmp(questions[i].part, part)) {
			keep(i, tab + 1);
			report_write("");
			return;
		}
	fprintf(stderr, "probe: part %s answers what nobody asked: %s\n", part, line);
}

void report_close(const char *part, const char *why)
{
	char text[700];
	size_t i;

	snprintf(text, sizeof text, OPEN, why);
	for (i = 0; i < question_count; i++)
		if (!body[i] && !strcmp(questions[i].part, part))
			keep(i, text);
	report_write("");
}

void report_count(int *answered, int *skipped, int *open)
{
	size_t i;

	*answered = *skipped = *open = 0;
	for (i = 0; i < question_count; i++) {
		if (!body[i] || strstr(body[i], "\"status\": \"not asked\""))
			++*open;
		else if (strstr(body[i], "\"status\": \"skipped\""))
			++*skipped;
		else
			++*answered;
	}
}
