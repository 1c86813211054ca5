/* SPDX-License-Identifier: Apache-2.0 */
/* A table for $GITHUB_STEP_SUMMARY or a comment; GitHub refuses summaries over 1 MiB. */
#include "out.h"

#include <string.h>

#define ROWS_MAX 500 /* of at most 2 KB */
#define CELL_MAX 1500 /* characters */

static const char *const mark[] = { "pass", "warning", "**failed**", "**not comparable**" };

/* Markdown and the HTML that it lets through: every character that could begin markup is escaped. */
static void put_cell(FILE *f, const char *text)
{
	uint32_t c;

	for (int n = 0; (c = check_next(&text)) && n < CELL_MAX; n++) {
		if (c < 0x20)
			fputc(' ', f);
		else if (c == '<')
			fputs("&lt;", f);
		else if (c == '&')
			fputs("&amp;", f);
		else if (c < 0x80 && strchr("\\`*_{}[]()#+!|~>@", (int)c))
			fprintf(f, "\\%c", (int)c);
		else
			check_put(f, c);
	}
}

static void put_row(const struct check_result *r, const struct check_judgement *j, FILE *f)
{
	const char *path = check_out_path(r, j->file);

	fprintf(f, "| %s | ", mark[j->status]);
	put_cell(f, j->name);
	fputs(" | ", f);
	put_cell(f, j->message);
	fputs(" | ", f);
	if (path) {
		put_cell(f, path);
		fprintf(f, ":%u", j->line);
	}
	fputs(" |\n", f);
}

void check_out_markdown(const struct check_result *r, FILE *f)
{
	size_t rows = 0;

	fprintf(f,
		"### gpustarve check: %s\n\n"
		"| | what | result | where |\n|---|---|---|---|\n",
		mark[r->worst]);
	for (const struct check_judgement *j = r->first; j && rows < ROWS_MAX; j = j->next, rows++)
		put_row(r, j, f);
	if (r->count > rows)
		fprintf(f, "\nand %zu more\n", r->count - rows);
}
