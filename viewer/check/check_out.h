/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gate's outputs, one file each. All show the same judgements. Untrusted strings are escaped
 * for where they stand; limits of the readers (GitHub: ten annotations of a kind, 1 MiB of summary)
 * are kept by leaving judgements out at the end and saying how many.
 */
#ifndef CHECK_OUT_H
#define CHECK_OUT_H

#include <stdio.h>
#include "result.h"

struct check_format {
	const char *name;
	const char *what; /* for --help */
	void (*write)(const struct check_result *r, FILE *f);
};
extern const struct check_format check_formats[]; /* ends with a NULL name */

/* The one of that name (@len bytes of it); NULL: none, said on stderr after @option. */
const struct check_format *check_out_format(const char *option, const char *name, size_t len);

/* Writes the result to a file, which is replaced as a whole; NULL or "-": to standard output. 0 or
 * negative errno, said on stderr. */
int check_out_write(const struct check_result *r, const struct check_format *format,
		    const char *path);

void check_out_text(const struct check_result *r, FILE *f);
void check_out_json(const struct check_result *r, FILE *f); /* gpustarve.check/1 */
void check_out_junit(const struct check_result *r, FILE *f);
void check_out_github(const struct check_result *r, FILE *f); /* workflow commands */
void check_out_gitlab(const struct check_result *r, FILE *f); /* code quality */
void check_out_markdown(const struct check_result *r, FILE *f); /* a step summary, a comment */

/*
 * A file's path as the repository knows it: relative where it lies below the working directory,
 * else its last component. NULL without a file.
 */
const char *check_out_path(const struct check_result *r, const char *file);

#endif
