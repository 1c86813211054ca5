/* SPDX-License-Identifier: Apache-2.0 */
/* JUnit XML as Jenkins' and GitLab's readers take it: a suite, a case per judgement. */
#include "check_out.h"

#include <string.h>
#include "base/escape.h"

static void put_attribute(FILE *f, const char *name, const char *value)
{
	fprintf(f, " %s=\"", name);
	base_put(f, BASE_AS_XML, value ? value : "");
	fputc('"', f);
}

static void put_body(const struct check_result *r, const struct check_judgement *j, FILE *f)
{
	const char *path = check_out_path(r, j->file);

	base_put(f, BASE_AS_XML, j->message);
	if (path) {
		fputs("\n", f);
		base_put(f, BASE_AS_XML, path);
		fprintf(f, ":%u", j->line);
	}
}

/* Two cases of one name would be one to a reader: two budgets of a metric, a run named twice. */
static const char *case_name(const struct check_result *r, const struct check_judgement *j)
{
	size_t before = 0;

	for (const struct check_judgement *k = r->first; k != j; k = k->next)
		before += !strcmp(k->name, j->name) && !strcmp(k->run, j->run);
	return before ? base_arena_printf(r->mem, "%s (%s) %zu", j->name, j->run, before + 1)
		      : base_arena_printf(r->mem, "%s (%s)", j->name, j->run);
}

static void put_case(const struct check_result *r, const struct check_judgement *j, FILE *f)
{
	fputs("    <testcase classname=\"gpustarve\"", f);
	put_attribute(f, "name", case_name(r, j));
	fputs(" time=\"0\"", f);
	if (j->status == CHECK_PASS) {
		fputs(">\n      <system-out>", f);
		put_body(r, j, f);
		fputs("</system-out>\n    </testcase>\n", f);
	} else if (j->status == CHECK_WARN) {
		fputs(">\n      <system-err>", f);
		put_body(r, j, f);
		fputs("</system-err>\n    </testcase>\n", f);
	} else {
		fputs(">\n      <failure", f);
		put_attribute(f, "message", j->message);
		put_attribute(f, "type", check_status_names[j->status]);
		fputc('>', f);
		put_body(r, j, f);
		fputs("</failure>\n    </testcase>\n", f);
	}
}

void check_out_junit(const struct check_result *r, FILE *f)
{
	fprintf(f,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<testsuites tests=\"%zu\" failures=\"%zu\" errors=\"0\" time=\"0\">\n"
		"  <testsuite name=\"gpustarve check\" tests=\"%zu\" failures=\"%zu\" "
		"errors=\"0\" skipped=\"0\" time=\"0\">\n",
		r->count, r->failed, r->count, r->failed);
	for (const struct check_judgement *j = r->first; j; j = j->next)
		put_case(r, j, f);
	fputs("  </testsuite>\n</testsuites>\n", f);
}
