/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GitLab's code quality report: an array of issues. A fingerprint stays the same while the same
 * thing is wrong at the same place, whatever the number is.
 */
#include "check_out.h"

#include <string.h>
#include "base/hash.h"
#include "base/jsonout.h"

static uint64_t hash(uint64_t h, const char *text)
{
	return base_hash(base_hash_text(h, text ? text : ""), "\xff", 1);
}

static bool same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/*
 * Of the same thing at the same place the second has another one: GitLab shows each of them once.
 */
static const char *fingerprint(const struct check_result *r, const struct check_judgement *j,
			       const char *path)
{
	uint64_t h = hash(hash(hash(BASE_HASH, j->name), path), j->function);

	for (const struct check_judgement *k = r->first; k != j; k = k->next)
		if (k->status != CHECK_PASS && same(k->name, j->name) && same(k->file, j->file) &&
		    same(k->function, j->function))
			h = hash(h, "again");

	return base_arena_printf(r->mem, "gpustarve-%016llx", (unsigned long long)h);
}

static void put_issue(struct base_jsonout *o, const struct check_result *r,
		      const struct check_judgement *j)
{
	const char *path = check_out_path(r, j->file);

	path = path ? path : "gpustarve"; /* GitLab wants a path; nothing of that name is linked */
	base_json_object(o, NULL);
	base_json_string(o, "type", "issue");
	base_json_string(o, "description", j->message);
	base_json_string(o, "check_name", base_arena_printf(r->mem, "gpustarve.%s", j->name));
	base_json_string(o, "fingerprint", fingerprint(r, j, path));
	base_json_string(o, "severity", j->status == CHECK_WARN ? "minor" : "major");
	base_json_object(o, "location");
	base_json_string(o, "path", path);
	base_json_object(o, "lines");
	base_json_uint(o, "begin", j->line ? j->line : 1);
	base_json_end(o);
	base_json_end(o);
	base_json_end(o);
}

void check_out_gitlab(const struct check_result *r, FILE *f)
{
	struct base_jsonout o = { .f = f };

	base_json_array(&o, NULL);
	for (const struct check_judgement *j = r->first; j; j = j->next)
		if (j->status != CHECK_PASS)
			put_issue(&o, r, j);
	base_json_end(&o);
}
