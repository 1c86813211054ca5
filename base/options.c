/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <string.h>
#include "spelling.h"
#include "version.h"

/*
 * ---- help -------------------------------------------------------------------------------------
 */

/* Each line of the text at the column; the first behind the @at characters that are there. */
static void put_lines(FILE *f, const char *text, int column, int at)
{
	if (at >= column) {
		fputc('\n', f);
		at = 0;
	}
	while (*text) {
		size_t len = strcspn(text, "\n");

		fprintf(f, "%*s%.*s\n", column - at, "", (int)len, text);
		text += len + (text[len] == '\n');
		at = 0;
	}
}

static void put_opt(FILE *f, const struct base_opt *o, int column)
{
	int at = o->letter ? fprintf(f, "  -%c, --%s", o->letter, o->name)
			   : fprintf(f, "  --%s", o->name);

	if (o->argument)
		at += fprintf(f, " %s", o->argument);
	if (o->help)
		put_lines(f, o->help, column, at);
	else
		fputc('\n', f);
	if (o->more)
		o->more(f);
}

void base_options_help(const struct base_options *o, FILE *f)
{
	fputs(o->usage, f);
	for (const struct base_opt *p = o->opt; p->name; p++)
		if (p->help || p->more)
			put_opt(f, p, o->column);
	if (o->more)
		o->more(f);
	if (o->tail)
		fputs(o->tail, f);
}

/*
 * ---- the command line -------------------------------------------------------------------------
 */

struct getopt_table {
	struct option longs[BASE_OPTIONS_MAX + 1];
	char shorts[2 * BASE_OPTIONS_MAX + 3];
};

/* A long option's value is its row's number from 256 up: no letter. */
static void fill(struct getopt_table *t, const struct base_options *o)
{
	char *p = t->shorts;
	int n = 0;

	if (o->wraps)
		*p++ = '+';
	if (o->error)
		*p++ = ':';
	for (const struct base_opt *row = o->opt; row->name && n < BASE_OPTIONS_MAX; row++, n++) {
		t->longs[n] =
			(struct option){ row->name, row->argument ? required_argument : no_argument,
					 NULL, 256 + n };
		if (!row->letter)
			continue;
		*p++ = row->letter;
		if (row->argument)
			*p++ = ':';
	}
	t->longs[n] = (struct option){ 0 };
	*p = '\0';
}

static const struct base_opt *row_of(const struct base_options *o, int c)
{
	const struct base_opt *row = o->opt;

	if (c >= 256)
		return &row[c - 256];
	while (row->letter != c)
		row++;
	return row;
}

/* The long option that @word, "--prise=2", may have been meant as; NULL: none. */
static const char *meant(const char *word, const struct base_options *o)
{
	size_t len = strcspn(word, "="), best = BASE_SPELLING_OTHER;
	const char *name = NULL;

	if (len <= 2 || strncmp(word, "--", 2) != 0)
		return NULL;
	for (const struct base_opt *row = o->opt; row->name; row++) {
		size_t far = base_spelling_distance(word + 2, len - 2, row->name);

		if (far < best) {
			best = far;
			name = row->name;
		}
	}
	return name;
}

static void say_wrong(const struct base_options *o, const char *command, int c, const char *word)
{
	const char *name = meant(word, o);

	if (c == ':')
		o->error("%s: %s needs a value; see gpustarve %s --help", command, word, command);
	else if (name)
		o->error("%s: unknown option %s; did you mean --%s? See gpustarve %s --help",
			 command, word, name, command);
	else
		o->error("%s: unknown option %s; see gpustarve %s --help", command, word, command);
}

/* 1: go on, 0: what it prints was all that was asked for, -1: it will not do. */
static int take(const struct base_options *o, const struct base_opt *row, void *into, char *value)
{
	switch (row->kind) {
	case BASE_OPT_TEXT:
		*(const char **)((char *)into + row->at) = value;
		return !row->good || row->good(value) ? 1 : -1;
	case BASE_OPT_FLAG:
		*(bool *)((char *)into + row->at) = true;
		return 1;
	case BASE_OPT_VALUE:
		*(int *)((char *)into + row->at) = row->value;
		return 1;
	case BASE_OPT_HELP:
		base_options_help(o, stdout);
		return 0;
	case BASE_OPT_VERSION:
		base_version_print(stdout, row->print);
		return 0;
	default:
		return row->take(into, value) ? 1 : -1;
	}
}

int base_options_parse(const struct base_options *o, int argc, char **argv, void *into)
{
	struct getopt_table t;
	int go = 1;

	fill(&t, o);
	opterr = !o->error;
	while (go == 1) {
		int at = optind ? optind : 1, c = getopt_long(argc, argv, t.shorts, t.longs, NULL);

		if (c == -1)
			break;
		if (c != '?' && c != ':') {
			const struct base_opt *row = row_of(o, c);

			go = take(o, row, into, row->argument ? optarg : NULL);
			continue;
		}
		if (o->error)
			say_wrong(o, argv[0], c,
				  at < argc ? argv[optind > at ? optind - 1 : at] : "");
		go = -1;
	}
	return go;
}
