/* SPDX-License-Identifier: Apache-2.0 */
/*
 * completions FILE: the file of a shell with what stands in it between the two marks made anew of
 * the commands' tables of options, on standard output; `completions --write FILE...` in its place.
 * test_completion compares. What a shell does with it is written by hand around it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/files.h"
#include "cmd/commands.h"
#include "options.h"

#define BEGIN "# ---- of the tables of options, by completions.c ----\n"
#define END "# ---- end of the tables ----\n"

typedef void each(FILE *f, const struct base_options *o);

static void each_table(FILE *f, each *put)
{
	for (const struct view_command *c = view_commands; c->name; c++)
		put(f, c->options);
	put(f, &coll_options_table);
}

/* The @i-th word that the value may be, into a buffer of the next call's; NULL: no more. */
static const char *word_of(const struct base_opt *o, size_t i)
{
	static char word[64];
	const char *p = o->words;

	if (o->word)
		return o->word(i);
	if (!p || *p == '@')
		return NULL;
	for (; i && *p; i--) {
		p += strcspn(p, " ");
		p += strspn(p, " ");
	}
	snprintf(word, sizeof(word), "%.*s", (int)strcspn(p, " "), p);
	return *word ? word : NULL;
}

static bool is_list(const struct base_opt *o)
{
	return o->words && !strcmp(o->words, BASE_WORDS_LIST);
}

/*
 * ---- bash -------------------------------------------------------------------------------------
 */

static void bash_names(FILE *f, const struct base_options *o)
{
	const char *space = "";

	fprintf(f, "\t[%s]='", o->command);
	for (const struct base_opt *row = o->opt; row->name; row++) {
		if (row->kind == BASE_OPT_HELP)
			continue;
		if (row->letter)
			fprintf(f, "%s-%c --%s", space, row->letter, row->name);
		else
			fprintf(f, "%s--%s", space, row->name);
		space = " ";
	}
	fputs("'\n", f);
}

static void bash_value(FILE *f, const struct base_opt *o)
{
	const char *word;

	if (!word_of(o, 0)) {
		fputs(o->words ? o->words : "@none", f);
		return;
	}
	fputs(is_list(o) ? "'@list" : "'", f);
	for (size_t i = 0; (word = word_of(o, i)); i++)
		fprintf(f, "%s%s", i || is_list(o) ? " " : "", word);
	fputc('\'', f);
}

static void bash_values(FILE *f, const struct base_options *o)
{
	for (const struct base_opt *row = o->opt; row->name; row++) {
		if (!row->argument)
			continue;
		if (row->letter) {
			fprintf(f, "\t[%s -%c]=", o->command, row->letter);
			bash_value(f, row);
			fputc('\n', f);
		}
		fprintf(f, "\t[%s --%s]=", o->command, row->name);
		bash_value(f, row);
		fputc('\n', f);
	}
}

static void put_bash(FILE *f)
{
	fputs("_gpustarve_commands='", f);
	for (const struct view_command *c = view_commands; c->name; c++)
		fprintf(f, "%s%s", c == view_commands ? "" : " ", c->name);
	fputs("'\n\ndeclare -A _gpustarve_options=(\n", f);
	each_table(f, bash_names);
	fputs(")\n\n# Of \"command option\": the words that its value may be, or what kind of file. An option\n"
	      "# that is not here takes no value.\n"
	      "declare -A _gpustarve_values=(\n",
	      f);
	each_table(f, bash_values);
	fputs(")\n", f);
}

/*
 * ---- zsh --------------------------------------------------------------------------------------
 */

/* Inside single quotes; what of @special would end it gets a backslash. */
static void put_quoted(FILE *f, const char *text, size_t len, const char *special)
{
	for (; len; len--, text++) {
		if (strchr(special, *text))
			fputc('\\', f);
		if (*text == '\'')
			fputs("'\\'", f);
		fputc(*text == '\n' ? ' ' : *text, f);
	}
}

/* The beginning of what --help says, as far as it stands alone. */
static void zsh_what(FILE *f, const struct base_opt *o)
{
	static const char *const ends[] = { ";", ", such as", ", such\n" };
	const char *text = o->kind == BASE_OPT_HELP	 ? "show what the command takes"
			   : o->kind == BASE_OPT_VERSION ? "show the version"
			   : o->help			 ? o->help
							 : o->name;
	size_t len = strlen(text);

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		const char *end = strstr(text, ends[i]);

		if (end && (size_t)(end - text) < len)
			len = (size_t)(end - text);
	}
	fputc('[', f);
	put_quoted(f, text, len, "[]\\");
	fputc(']', f);
}

static void zsh_words(FILE *f, const struct base_opt *o)
{
	const char *word;

	fputs(is_list(o) ? " _gpustarve_list" : o->what ? "((" : "(", f);
	for (size_t i = 0; (word = word_of(o, i)); i++) {
		fprintf(f, "%s%s", i || is_list(o) ? " " : "", word);
		if (o->what) {
			fputs("\\:", f);
			put_quoted(f, o->what(i), strlen(o->what(i)), " ();:\\\"'`$&|<>");
		}
	}
	fputs(is_list(o) ? "" : o->what ? "))" : ")", f);
}

static void zsh_row(FILE *f, const struct base_opt *o)
{
	fputs(" \\\n\t\t\t", f);
	fputc('\'', f);
	if (o->kind == BASE_OPT_HELP)
		fputs("(- *)", f);
	else if (o->letter)
		fprintf(f, "(-%c --%s)", o->letter, o->name);
	if (o->letter || o->kind == BASE_OPT_HELP)
		fprintf(f, "'{-%c,--%s}'", o->letter ? o->letter : 'h', o->name);
	else
		fprintf(f, "%s--%s", o->repeats ? "*" : "", o->name);
	zsh_what(f, o);
	if (o->argument) {
		fputc(':', f);
		put_quoted(f, o->argument, strlen(o->argument), ":\\");
		fputc(':', f);
		if (word_of(o, 0))
			zsh_words(f, o);
		else if (o->words)
			fputs(!strcmp(o->words, BASE_WORDS_FOLDER) ? "_files -/" : "_files", f);
	}
	fputc('\'', f);
}

static void zsh_case(FILE *f, const struct base_options *o)
{
	fprintf(f, "\t%s)\n\t\t_arguments $how", o->command);
	for (const struct base_opt *row = o->opt; row->name; row++)
		zsh_row(f, row);
	fputs(" \\\n\t\t\t$operands\n\t\t;;\n", f);
}

static void put_zsh(FILE *f)
{
	fputs("typeset -ga _gpustarve_commands=(\n", f);
	for (const struct view_command *c = view_commands; c->name; c++) {
		fprintf(f, "\t'%s:", c->name);
		put_quoted(f, c->help, strlen(c->help), ":\\");
		fputs("'\n", f);
	}
	fputs(")\n\n_gpustarve_arguments() { # COMMAND; how, operands: of whoever calls\n\tcase $1 in\n",
	      f);
	each_table(f, zsh_case);
	fputs("\tesac\n}\n", f);
}

/*
 * ---- files ------------------------------------------------------------------------------------
 */

/* Its marks must be there, in order. */
static int make(FILE *f, const char *text)
{
	const char *begin = strstr(text, BEGIN), *end = begin ? strstr(begin, END) : NULL;

	if (!end)
		return -EINVAL;
	fwrite(text, 1, (size_t)(begin - text) + strlen(BEGIN), f);
	if (!strncmp(text, "#compdef", 8))
		put_zsh(f);
	else
		put_bash(f);
	fputs(end, f);
	return 0;
}

static int take(const char *path, bool in_place)
{
	char *text, *made = NULL;
	size_t len, made_len;
	int err = base_file_read(path, &text, &len);
	FILE *f;

	if (err)
		return err;
	f = open_memstream(&made, &made_len);
	err = f ? make(f, text) : -ENOMEM;
	if (f && fclose(f) && !err)
		err = -ENOMEM;
	if (!err && in_place)
		err = base_file_write(path, made, made_len);
	else if (!err)
		fwrite(made, 1, made_len, stdout);
	free(made);
	free(text);
	return err;
}

int main(int argc, char **argv)
{
	bool in_place = argc > 1 && !strcmp(argv[1], "--write");

	for (int i = 1 + in_place; i < argc; i++) {
		int err = take(argv[i], in_place);

		if (err) {
			fprintf(stderr, "completions: %s: %s\n", argv[i], strerror(-err));
			return 1;
		}
	}
	return 0;
}
