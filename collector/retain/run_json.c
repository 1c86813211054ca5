/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bounded file, as yajl's tree.
 */
#include "run_json.h"

#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_tree.h>
#include "core/files.h"

#define NESTED_MAX 64

/* yajl's tree is built and freed by calls that nest as its text does: bound that first. */
static bool nests_too_deep(const char *text)
{
	int depth = 0;
	bool quoted = false;

	for (; *text; text++) {
		if (quoted && *text == '\\' && text[1])
			text++;
		else if (*text == '"')
			quoted = !quoted;
		else if (!quoted && (*text == '[' || *text == '{') && ++depth > NESTED_MAX)
			return true;
		else if (!quoted && (*text == ']' || *text == '}'))
			depth--;
	}
	return false;
}

void coll_run_json_parse(struct coll_run_json *l, const char *text)
{
	char why[256];

	l->root = nests_too_deep(text) ? NULL : yajl_tree_parse(text, why, sizeof(why));
}

void coll_run_json_read(struct coll_run_json *l, int run_fd)
{
	uint8_t *text;
	size_t len;

	l->root = NULL;
	if (coll_file_read_at(run_fd, "run.json", COLL_RUN_JSON_MAX, &text, &len))
		return;
	if (strlen((const char *)text) == len)
		coll_run_json_parse(l, (const char *)text);
	free(text);
}

void coll_run_json_fini(struct coll_run_json *l)
{
	yajl_tree_free(l->root);
	l->root = NULL;
}

static yajl_val labels_of(const struct coll_run_json *l)
{
	static const char *path[] = { "labels", NULL };

	return l->root ? yajl_tree_get(l->root, path, yajl_t_object) : NULL;
}

size_t coll_run_json_labels(const struct coll_run_json *l)
{
	yajl_val v = labels_of(l);

	return v ? v->u.object.len : 0;
}

bool coll_run_json_label(const struct coll_run_json *l, size_t i, const char **key,
			 const char **value)
{
	yajl_val v = labels_of(l);

	if (!v || i >= v->u.object.len)
		return false;
	*key = v->u.object.keys[i];
	*value = YAJL_GET_STRING(v->u.object.values[i]);
	return *value != NULL;
}

bool coll_run_json_has_label(const struct coll_run_json *l, const char *key, const char *value)
{
	const char *k, *v;

	for (size_t i = 0; i < coll_run_json_labels(l); i++)
		if (coll_run_json_label(l, i, &k, &v) && !strcmp(k, key) && !strcmp(v, value))
			return true;
	return false;
}

bool coll_run_json_number(const struct coll_run_json *l, const char *member, int64_t *out)
{
	const char *path[] = { member, NULL };
	yajl_val v = l->root ? yajl_tree_get(l->root, path, yajl_t_number) : NULL;

	if (!v || !YAJL_IS_INTEGER(v))
		return false;
	*out = YAJL_GET_INTEGER(v);
	return true;
}
