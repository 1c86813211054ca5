/* SPDX-License-Identifier: Apache-2.0 */
/* A table for $GITHUB_STEP_SUMMARY or a comment; GitHub refuses summaries over 1 MiB. */
#include "check_out.h"

#include <string.h>
#include "base/escape.h"

#define ROWS_MAX 500 /* of at most 2 KB */
#define CELL_MAX 1500 /* characters */

static const char *const mark[] = { "pass", "warning", "**failed**", "**not comparable**" };

static void put_cell(FILE *f, const char *text)
{
	size_t left = strlen(text), took, bytes;
	char c[BASE_ESCAPED_MAX];

	for (int n = 0; left && n < CELL_MAX; n++, text += took, left -= took) {
		bytes = base_escape(c, BASE_AS_MARKDOWN, text, left, &took);
		fwrite(c, 1, bytes, f);
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
