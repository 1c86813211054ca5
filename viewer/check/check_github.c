/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workflow commands: ::error file=F,line=L,title=T::message. GitHub shows ten annotations of a kind
 * per step, so the last one of too many says how many there are.
 */
#include "check_out.h"

#include <inttypes.h>
#include "base/escape.h"

#define KIND_MAX 10

static void put(const struct check_result *r, const struct check_judgement *j, const char *command,
		FILE *f)
{
	const char *path = check_out_path(r, j->file);

	fprintf(f, "::%s ", command);
	if (path) {
		fputs("file=", f);
		base_put(f, BASE_AS_GITHUB_PROPERTY, path);
		if (j->line)
			fprintf(f, ",line=%" PRIu32, j->line);
		fputc(',', f);
	}
	fputs("title=", f);
	base_put(f, BASE_AS_GITHUB_PROPERTY, base_arena_printf(r->mem, "gpustarve: %s", j->name));
	fputs("::", f);
	base_put(f, BASE_AS_GITHUB, j->message);
	fputc('\n', f);
}

static void put_kind(const struct check_result *r, bool warnings, FILE *f)
{
	const char *command = warnings ? "warning" : "error";
	size_t all = warnings ? r->warned : r->failed, shown = 0;

	for (const struct check_judgement *j = r->first; j; j = j->next) {
		if (j->status == CHECK_PASS || (j->status == CHECK_WARN) != warnings)
			continue;
		if (all > KIND_MAX && shown == KIND_MAX - 1) {
			fprintf(f, "::%s title=gpustarve::and %zu more; see the text output\n",
				command, all - shown);
			return;
		}
		put(r, j, command, f);
		shown++;
	}
}

static void put_notice(const struct check_result *r, FILE *f)
{
	for (const struct check_judgement *j = r->first; j; j = j->next)
		if (j->status == CHECK_PASS) {
			put(r, j, "notice", f);
			return;
		}
}

void check_out_github(const struct check_result *r, FILE *f)
{
	put_kind(r, false, f);
	put_kind(r, true, f);
	if (r->worst == CHECK_PASS)
		put_notice(r, f);
}
