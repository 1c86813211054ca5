/* SPDX-License-Identifier: Apache-2.0 */
#include "alloc.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define TIME_MAX (INT64_C(1) << 61)
#define LONGEST (INT64_C(1) << 56) /* two years, the longest that sums are kept exact for */
#define RESTARTS_MAX 1000000 /* a name of a file says it in at most so many */

static void put_gpu(struct base_jsonout *j, const struct view_alloc_gpu *g)
{
	base_json_flat_object(j, NULL);
	if (g->index >= 0)
		base_json_int(j, "index", g->index);
	else
		base_json_null(j, "index");
	base_json_string(j, "uuid", g->uuid);
	base_json_string(j, "name", g->name);
	if (g->mig_profile) {
		base_json_string(j, "mig_profile", g->mig_profile);
		base_json_uint(j, "mig_slices", g->mig_slices);
		base_json_uint(j, "mig_slices_total", g->mig_slices_total);
	}
	base_json_end(j);
}

void view_alloc_write(const struct view_alloc *a, FILE *f)
{
	struct base_jsonout j = { .f = f };
	struct view_job_identity id = a->id;

	base_json_object(&j, NULL);
	base_json_string(&j, "schema", VIEW_ALLOC_SCHEMA);
	for (int i = 0; i < VIEW_JOB_NUMBERS; i++)
		view_job_put_number(&j, &id, (enum view_job_number)i);
	for (int i = 0; i < VIEW_JOB_TEXTS; i++)
		if (i != VIEW_JOB_STEP)
			view_job_put_text(&j, &id, (enum view_job_text)i);
	base_json_string(&j, "node", a->node);
	base_json_string(&j, "host", a->host);
	base_json_array(&j, "gpus");
	for (size_t i = 0; i < a->gpus; i++)
		put_gpu(&j, &a->gpu[i]);
	base_json_end(&j);
	base_json_int(&j, "start_unix_ns", a->start_ns);
	if (a->ended)
		base_json_int(&j, "end_unix_ns", a->end_ns);
	else
		base_json_null(&j, "end_unix_ns");
	base_json_end(&j);
}

bool view_alloc_is_uuid(const char *text)
{
	static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
	size_t i;

	if (!text || (strncmp(text, "GPU-", 4) != 0 && strncmp(text, "MIG-", 4) != 0))
		return false;
	text += 4;
	for (i = 0; form[i]; i++) {
		if (form[i] == '-' ? text[i] != '-'
				   : !text[i] || !strchr("0123456789abcdefABCDEF", text[i]))
			return false;
	}
	return !text[i];
}

static void read_gpu(struct view_alloc_gpu *g, const struct base_json *n)
{
	const char *uuid = base_json_get_text(n, "uuid", NULL);
	int64_t index = base_json_get_int(n, "index", -1);
	uint64_t slices = base_json_get_uint(n, "mig_slices", 0);
	uint64_t total = base_json_get_uint(n, "mig_slices_total", 0);

	g->index = index < 0 || index > VIEW_JOB_NUMBER_MAX ? -1 : index;
	g->uuid = view_alloc_is_uuid(uuid) ? uuid : NULL;
	g->name = base_json_get_text(n, "name", NULL);
	g->mig_profile = base_json_get_text(n, "mig_profile", NULL);
	if (slices && slices <= total && total <= 64) {
		g->mig_slices = (uint32_t)slices;
		g->mig_slices_total = (uint32_t)total;
	}
}

static const char *read_gpus(struct view_alloc *a, struct base_arena *mem,
			     const struct base_json *gpus)
{
	size_t count = base_json_count(gpus);

	if (!gpus || gpus->type != BASE_JSON_ARRAY)
		return "it names no GPUs";
	if (count > VIEW_ALLOC_GPUS_MAX)
		return "it names more GPUs than a node can have";
	a->gpu = base_arena_array(mem, count, sizeof(*a->gpu));
	for (const struct base_json *n = gpus->child; n; n = n->next)
		if (n->type == BASE_JSON_OBJECT)
			read_gpu(&a->gpu[a->gpus++], n);
	return NULL;
}

static const char *read_times(struct view_alloc *a, const struct base_json *root)
{
	const struct base_json *end = base_json_get(root, "end_unix_ns");

	a->start_ns = base_json_get_int(root, "start_unix_ns", -1);
	if (a->start_ns <= 0 || a->start_ns > TIME_MAX)
		return "it does not say when it began";
	a->ended = end && end->type != BASE_JSON_NULL;
	if (!a->ended)
		return NULL;
	a->end_ns = base_json_get_int(root, "end_unix_ns", -1);
	return a->end_ns < a->start_ns || a->end_ns - a->start_ns > LONGEST
		       ? "its end is not after its start"
		       : NULL;
}

static const char *read_all(struct view_alloc *a, struct base_arena *mem,
			    const struct base_json *root)
{
	const char *why;

	if (strcmp(base_json_get_text(root, "schema", ""), VIEW_ALLOC_SCHEMA) != 0)
		return "it is not an allocation of this version";
	view_job_from_json(&a->id, root);
	a->id.text[VIEW_JOB_STEP] = NULL;
	if (!view_job_known(&a->id) || a->id.number[VIEW_JOB_RESTART] < 0)
		return "it does not say which job it is of";
	a->node = base_json_get_text(root, "node", NULL);
	a->host = base_json_get_text(root, "host", a->node);
	if (!a->host || !*a->host)
		return "it does not say which node it is of";
	if (!a->node || !*a->node)
		a->node = a->host;
	why = read_times(a, root);
	return why ? why : read_gpus(a, mem, base_json_get(root, "gpus"));
}

int view_alloc_parse(struct view_alloc *a, struct base_arena *mem, const char *text, size_t len,
		     const char **why)
{
	struct base_json_error bad = { NULL, 0 };
	struct base_json *root;

	*a = (struct view_alloc){ .id = VIEW_JOB_NONE };
	root = base_json_parse(mem, text, len, &bad);
	*why = root ? read_all(a, mem, root) : bad.why;
	return *why ? -EBADMSG : 0;
}

char *view_job_safe(struct base_arena *mem, const char *text)
{
	static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789._-+=@";
	char *out = base_arena_copy(mem, text, strnlen(text, 128));

	for (char *p = out; *p; p++)
		if (!strchr(good, *p))
			*p = '_';
	if (*out == '.')
		*out = '_';
	return out;
}

char *view_alloc_name(struct base_arena *mem, const char *node, int64_t restart)
{
	return base_arena_printf(mem, "alloc-%s-%" PRId64 ".json", view_job_safe(mem, node),
				 restart);
}

int64_t view_alloc_restart_of(const char *name)
{
	size_t len = strlen(name);
	const char *dash;
	char *end;

	if (strncmp(name, "alloc-", 6) != 0 || len < 13 || strcmp(name + len - 5, ".json") != 0)
		return -1;
	for (dash = name + len - 6; dash > name + 6 && *dash >= '0' && *dash <= '9'; dash--)
		;
	if (*dash != '-' || dash + 1 == name + len - 5 || name + len - 5 - dash > 8)
		return -1;
	long v = strtol(dash + 1, &end, 10);
	return end == name + len - 5 && v < RESTARTS_MAX ? v : -1;
}

char *view_job_folder_name(struct base_arena *mem, const struct view_job_identity *id)
{
	const char *cluster = id->text[VIEW_JOB_CLUSTER];

	return base_arena_printf(mem, "%s-%" PRId64 ".job",
				 view_job_safe(mem, cluster ? cluster : "cluster"),
				 id->number[VIEW_JOB_ID]);
}

const char *view_alloc_unrecorded_node(const char *name)
{
	static const char head[] = "unrecorded-";

	return strncmp(name, head, sizeof(head) - 1) ? NULL : name + sizeof(head) - 1;
}

char *view_job_title(struct base_arena *mem, const struct view_job_identity *id)
{
	const char *cluster = id->text[VIEW_JOB_CLUSTER];

	return base_arena_printf(mem, "slurm-%s-%" PRId64,
				 view_job_safe(mem, cluster ? cluster : "cluster"),
				 id->number[VIEW_JOB_ID]);
}

void view_alloc_keep(struct view_alloc *to, const struct view_alloc *from, struct base_arena *mem)
{
	*to = *from;
	view_job_keep(&to->id, mem);
	to->node = base_arena_text(mem, from->node);
	to->host = base_arena_text(mem, from->host);
	to->gpu = base_arena_array(mem, from->gpus, sizeof(*to->gpu));
	for (size_t i = 0; i < from->gpus; i++) {
		to->gpu[i] = from->gpu[i];
		to->gpu[i].uuid = base_arena_text(mem, from->gpu[i].uuid);
		to->gpu[i].name = base_arena_text(mem, from->gpu[i].name);
		to->gpu[i].mig_profile = base_arena_text(mem, from->gpu[i].mig_profile);
	}
}
