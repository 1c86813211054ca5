/* SPDX-License-Identifier: Apache-2.0 */
#include "check_out.h"

#include <inttypes.h>
#include <string.h>
#include "core/wrap.h"

static const char *const word[] = { "pass", "warn", "FAIL", "not comparable" };

void check_out_text(const struct check_result *r, FILE *f)
{
	const char *run = NULL;
	char head[32];

	for (const struct check_judgement *j = r->first; j; j = j->next) {
		if (!run || strcmp(j->run ? j->run : "", run)) {
			run = j->run ? j->run : "";
			fputs("run ", f);
			view_put_tame(f, run[0] ? run : "(none)");
			fputc('\n', f);
		}
		bool said = !strncmp(j->message, word[j->status], strlen(word[j->status]));
		int at = snprintf(head, sizeof(head), "  %s%s", said ? "" : word[j->status],
				  said ? "" : ": ");
		fputs(head, f);
		view_wrap(f, at, 6, j->message);
		if (j->file) {
			fputs("      ", f);
			view_put_tame(f, check_out_path(r, j->file));
			fprintf(f, ":%" PRIu32, j->line);
			fputc('\n', f);
		}
	}
	fprintf(f, "gpustarve check: %s (%zu judgement%s, %zu failed, %zu warning%s)\n",
		word[r->worst], r->count, r->count == 1 ? "" : "s", r->failed, r->warned,
		r->warned == 1 ? "" : "s");
}
