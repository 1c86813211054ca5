/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of a command as a table: a row says how an option is written, where its value goes,
 * what --help says of it and what a shell may complete it with. Parsing, --help and the completions
 * (completion/) come from it; the manual is compared with it. One thread: getopt has globals.
 */
#ifndef BASE_OPTIONS_H
#define BASE_OPTIONS_H

#include <getopt.h> /* optind */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum base_opt_kind {
	BASE_OPT_TAKE, /* take() gets the value */
	BASE_OPT_TEXT, /* a const char * points to it */
	BASE_OPT_FLAG, /* a bool becomes true */
	BASE_OPT_VALUE, /* an int becomes @value */
	BASE_OPT_HELP, /* --help is printed, and that is all */
	BASE_OPT_VERSION, /* as --help: which version @print is, a program */
};

struct base_opt {
	const char *name; /* "output"; NULL ends the table */
	char letter; /* 'o'; 0: it has none */
	const char *argument; /* "FILE", as --help calls its value; NULL: it takes none */
	const char *help; /* lines of --help, without the last newline; NULL: not shown there */
	enum base_opt_kind kind;
	size_t at; /* TEXT, FLAG, VALUE: where the member is in what is filled in */
	/* TAKE: @value is NULL without an argument. False: it will not do, which has been said. */
	bool (*take)(void *into, char *value);
	/* TEXT: the same of a value, which is kept; NULL: any is */
	bool (*good)(const char *value);
	int value;
	const char *print;
	/* What a shell completes the value with: words, or one of those below; NULL: nothing. */
	const char *words;
	const char *(*word)(size_t i); /* the words where a table has them; NULL behind the last */
	const char *(*what)(size_t i); /* and what is said of each; NULL: nothing */
	bool repeats; /* may be given several times */
	void (*more)(FILE *f); /* --help: lines below it */
};

#define BASE_WORDS_FILE "@file"
#define BASE_WORDS_FOLDER "@folder"
#define BASE_WORDS_LIST "@list" /* word(), several of them between commas */

/* Rows are written { "name", 'n', "ARGUMENT", "help", BASE_TEXT(struct opts, member) }. */
#define BASE_TEXT(type, member) .kind = BASE_OPT_TEXT, .at = offsetof(type, member)
#define BASE_FLAG(type, member) .kind = BASE_OPT_FLAG, .at = offsetof(type, member)
#define BASE_VALUE(type, member, v) \
	.kind = BASE_OPT_VALUE, .at = offsetof(type, member), .value = (v)
#define BASE_HELP "help", 'h', .kind = BASE_OPT_HELP

struct base_options {
	const char *command; /* "report" */
	const char *usage; /* --help before the options */
	int column; /* where it tells what they do */
	const struct base_opt *opt;
	const char *tail; /* and behind them; NULL: nothing */
	void (*more)(FILE *f); /* between the two; NULL: nothing */
	bool wraps; /* the first word that is no option ends them: a command of its own begins */
	/* Says what is wrong with the command line; NULL: getopt does, in its own words. */
	void (*error)(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
};

#define BASE_OPTIONS_MAX 64

/*
 * Fills in *into, a struct of the command's, in the order of the command line. 1: operands are
 * argv[optind] and on; 0: help was shown; -1: it cannot be done, which has been said.
 */
int base_options_parse(const struct base_options *o, int argc, char **argv, void *into);

void base_options_help(const struct base_options *o, FILE *f);

#endif
