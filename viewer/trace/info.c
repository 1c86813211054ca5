/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.json and exit-*.json: what the wrapper knows of a run. Any part may be missing or wrong.
 */
#include "trace_priv.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/jsondoc.h"
#include "run_end.h"

static int copy_text(char **out, const char *text)
{
	if (!text)
		return 0;
	free(*out);
	*out = strdup(text);
	return *out ? 0 : -ENOMEM;
}

static int take_command(struct view_run_info *r, const struct base_json *array)
{
	const struct base_json *n;
	size_t room = 0;
	int err;

	if (r->commands || !array || array->type != BASE_JSON_ARRAY)
		return 0;
	for (n = array->child; n; n = n->next) {
		if (n->type != BASE_JSON_STRING)
			continue;
		err = view_grow(&r->command, &room, r->commands, sizeof(*r->command));
		if (err)
			return err;
		r->command[r->commands] = NULL;
		err = copy_text(&r->command[r->commands], n->text);
		if (err)
			return err;
		r->commands++;
	}
	return 0;
}

static int add_label(struct view_run_info *r, const char *key, const char *value)
{
	char *k = strdup(key), *v = strdup(value);

	if (!k || !v) {
		free(k);
		free(v);
		return -ENOMEM;
	}
	r->label_key[r->labels] = k;
	r->label_value[r->labels++] = v;
	return 0;
}

static bool has_label(const struct view_run_info *r, const char *key)
{
	for (size_t i = 0; i < r->labels; i++)
		if (!strcmp(r->label_key[i], key))
			return true;
	return false;
}

/* Each is looked for among the others'. Of more it is not told who shares them. */
#define LABELS_COMPARED 1024

/* Of another run of the same job: what they do not share holds for none of them alone. */
static int agree_on_labels(struct view_run_info *r, const struct base_json *object)
{
	size_t count = r->labels + base_json_count(object);
	char **key = realloc(r->label_key, (count + 1) * sizeof(*key));
	bool many = count > LABELS_COMPARED;
	const struct base_json *n;
	int err = 0;

	r->label_key = key ? key : r->label_key;
	char **value = realloc(r->label_value, (count + 1) * sizeof(*value));
	r->label_value = value ? value : r->label_value;
	if (!key || !value)
		return -ENOMEM;
	for (size_t i = 0; i < r->labels && !err; i++) {
		const char *text = many ? NULL : base_json_get_text(object, r->label_key[i], NULL);

		if (!text || strcmp(text, r->label_value[i]) != 0)
			err = copy_text(&r->label_value[i], VIEW_SEVERAL);
	}
	for (n = object && !many ? object->child : NULL; n && !err; n = n->next)
		if (n->type == BASE_JSON_STRING && n->key && !has_label(r, n->key))
			err = add_label(r, n->key, VIEW_SEVERAL);
	return err;
}

static int take_labels(struct view_run_info *r, const struct base_json *object)
{
	const struct base_json *n;
	size_t count = base_json_count(object);

	if (r->labels || !object || object->type != BASE_JSON_OBJECT || !count)
		return 0;
	r->label_key = calloc(count, sizeof(*r->label_key));
	r->label_value = calloc(count, sizeof(*r->label_value));
	if (!r->label_key || !r->label_value)
		return -ENOMEM;
	for (n = object->child; n; n = n->next) {
		if (n->type == BASE_JSON_STRING && add_label(r, n->key, n->text))
			return -ENOMEM;
	}
	return 0;
}

/*
 * The same end, told by somebody else. Each dates the start by its own means, but no two processes
 * of one number live at a time.
 */
static bool same_exit(const struct view_exit *a, const struct view_exit *b)
{
	return a->pid == b->pid && a->start_ns < b->end_ns && b->start_ns < a->end_ns &&
	       !strcmp(a->host, b->host);
}

/* Who knows the status saw the end itself: that one replaces the other. True: @e is not needed. */
static bool settle_exit(struct view_run_info *r, struct view_exit *e)
{
	size_t i;

	for (i = 0; i < r->exits; i++) {
		struct view_exit *have = &r->exit[i];

		if (have->has_status == e->has_status || !same_exit(have, e))
			continue;
		if (e->has_status) {
			struct view_exit swap = *have;

			*have = *e;
			*e = swap;
		}
		return true;
	}
	return false;
}

static int take_exits(struct view_run_info *r, const struct base_json *array, uint32_t part)
{
	const struct base_json *n;
	size_t room = r->exits;
	int err;

	if (!array || array->type != BASE_JSON_ARRAY)
		return 0;
	for (n = array->child; n; n = n->next) {
		struct view_exit e = {
			.part = part,
			.pid = base_json_get_int(n, "pid", 0),
			.start_ns = base_json_get_int(n, "start_ns", 0),
			.end_ns = base_json_get_int(n, "end_ns", 0),
		};
		int64_t status = base_json_get_int(n, "status", INT64_MIN);

		if (e.pid <= 0 || e.end_ns <= 0)
			continue;
		e.has_status = status >= INT_MIN && status <= INT_MAX;
		e.status = e.has_status ? (int)status : 0;
		err = view_grow(&r->exit, &room, r->exits, sizeof(*r->exit));
		if (!err)
			err = copy_text(&e.host, base_json_get_text(n, "host", ""));
		if (err)
			return err;
		if (settle_exit(r, &e))
			free(e.host);
		else
			r->exit[r->exits++] = e;
	}
	return 0;
}

static void take_job(struct view_trace *t, const struct base_json *root)
{
	struct trace_priv *p = t->priv;
	struct view_run_info *r = &t->run;
	struct view_job_identity id;

	view_job_from_json(&id, base_json_get(root, "slurm"));
	view_job_keep(&id, &p->arena);
	view_job_add(&r->job, &id);
	if (!r->user)
		r->user = base_arena_text(&p->arena, base_json_get_text(root, "user", NULL));
}

static int take_document(struct view_run_info *r, const struct base_json *root, uint32_t part)
{
	int err = 0;

	if (!r->id)
		err = copy_text(&r->id, base_json_get_text(root, "id", NULL));
	if (!err)
		err = take_command(r, base_json_get(root, "command"));
	if (!err && !r->labelled)
		err = take_labels(r, base_json_get(root, "labels"));
	if (!err)
		err = take_exits(r, base_json_get(root, "exits"), part);
	if (!r->start_unix_ns)
		r->start_unix_ns = base_json_get_int(root, "start_unix_ns", 0);
	if (!r->wall_ns)
		r->wall_ns = base_json_get_int(root, "wall_ns", 0);
	return err;
}

/* Of each run of a job once: other wrappers of a run were told the same. */
static void take_units(struct view_run_info *r, const struct base_json *object)
{
	const struct base_json *n;
	struct view_unit u;
	char text[2 * VIEW_UNIT_NAME];

	for (n = object ? object->child : NULL; n; n = n->next) {
		int64_t count;

		if (!n->key || !base_json_to_int(n, &count))
			continue;
		snprintf(text, sizeof(text), "%.*s=%" PRId64, VIEW_UNIT_NAME, n->key, count);
		if (view_unit_parse(text, strlen(text), &u))
			view_unit_add(r->unit, &r->units, &u);
	}
}

/* Of run.json, which says of its own run what a job's sums up. */
static void take_part(struct view_trace *t, struct view_run_part *part,
		      const struct base_json *root)
{
	struct trace_priv *p = t->priv;
	int64_t status = base_json_get_int(root, "exit_status", INT64_MIN);

	part->id = base_arena_text(&p->arena, base_json_get_text(root, "id", NULL));
	part->start_unix_ns = base_json_get_int(root, "start_unix_ns", 0);
	part->wall_ns = base_json_get_int(root, "wall_ns", 0);
	part->first_status = status >= INT_MIN && status <= INT_MAX ? (int)status : 0;
}

static int read_document(struct view_trace *t, struct view_run_part *part, struct view_run_end *end,
			 const char *name)
{
	const char *dir = part->path;
	struct base_arena arena = { NULL };
	struct base_json_error bad = { NULL, 0 };
	struct base_json *root = NULL;
	char *path;
	int err;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		return -ENOMEM;
	err = base_json_read(&arena, path, &root, &bad);
	free(path);
	if (!err) {
		take_job(t, root);
		if (!strcmp(name, "run.json")) {
			take_part(t, part, root);
			take_units(&t->run, base_json_get(root, "units"));
			if (t->run.labelled)
				err = agree_on_labels(&t->run, base_json_get(root, "labels"));
			else
				err = take_labels(&t->run, base_json_get(root, "labels"));
			t->run.labelled = true;
		}
		if (!err)
			err = view_run_end_add(end, root);
		if (!err)
			err = take_document(&t->run, root, (uint32_t)(part - t->part));
	} else if (err != -ENOENT && err != -ENOMEM) {
		view_trace_note(t, "%s: cannot be used: %s (byte %zu)", name,
				bad.why ? bad.why : strerror(-err), bad.offset);
		err = 0;
	} else if (err == -ENOENT) {
		err = 0;
	}
	base_arena_fini(&arena);
	return err;
}

static bool is_exit_file(const char *name)
{
	size_t n = strlen(name);

	return !strncmp(name, "exit-", 5) && n > 10 && !strcmp(name + n - 5, ".json");
}

static void take_end(struct view_run_info *r, struct view_run_part *part, struct view_run_end *end)
{
	const struct view_run_ended ended = view_run_end_tell(end);

	part->has_exit_status = ended.known;
	part->exit_status = ended.status;
	part->over = ended.over;
	if (r->over)
		return;
	r->has_exit_status = part->has_exit_status;
	r->exit_status = part->exit_status;
	r->over = part->over;
}

static int read_exits(struct view_trace *t, struct view_run_part *part, struct view_run_end *end)
{
	DIR *dir = opendir(part->path);
	struct dirent *e;
	int err = 0;

	while (dir && !err && (e = readdir(dir)))
		if (is_exit_file(e->d_name))
			err = read_document(t, part, end, e->d_name);
	if (dir)
		closedir(dir);
	return err;
}

int view_trace_info(struct view_trace *t, struct view_run_part *part)
{
	struct view_run_end end = { 0 };
	int err = read_document(t, part, &end, "run.json");

	if (!err)
		err = view_counts_read(&t->run.counts, part->path);
	if (!err)
		err = read_exits(t, part, &end);
	take_end(&t->run, part, &end);
	view_run_end_fini(&end);
	return err;
}

static int64_t end_of(const struct view_run_part *p)
{
	int64_t end;

	return __builtin_add_overflow(p->start_unix_ns, p->wall_ns, &end) ? INT64_MAX : end;
}

/* Its runs, and what it was given, say when a job was; the run that ended last how it ended. */
void view_trace_sum_parts(struct view_trace *t)
{
	const struct view_run_part *last = NULL;
	struct view_run_info *r = &t->run;
	int64_t first = INT64_MAX, end = 0;

	for (size_t i = 0; i < t->parts; i++) {
		const struct view_run_part *p = &t->part[i];

		if (p->start_unix_ns <= 0)
			continue;
		if (!last || end_of(p) > end_of(last))
			last = p;
		first = p->start_unix_ns < first ? p->start_unix_ns : first;
		end = end_of(p) > end ? end_of(p) : end;
	}
	for (size_t i = 0; i < t->allocs; i++) {
		first = t->alloc[i].start_ns < first ? t->alloc[i].start_ns : first;
		end = t->alloc[i].end_ns > end ? t->alloc[i].end_ns : end;
	}
	r->start_unix_ns = first == INT64_MAX ? 0 : first;
	r->wall_ns = end > r->start_unix_ns ? end - r->start_unix_ns : 0;
	r->has_exit_status = last && last->has_exit_status;
	r->exit_status = r->has_exit_status ? last->exit_status : 0;
	r->over = last && last->over;
}
