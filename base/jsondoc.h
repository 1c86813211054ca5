/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A JSON document in memory: run.json, a summary. Numbers keep their text, so that nothing goes
 * through a double. For small, possibly hostile files; imports of traces stream instead.
 * Everything lives in the caller's arena. Any thread.
 */
#ifndef VIEW_JSONDOC_H
#define VIEW_JSONDOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "arena.h"

#define VIEW_JSONDOC_BYTES_MAX ((size_t)64 << 20)

enum view_json_type {
	VIEW_JSON_NULL,
	VIEW_JSON_BOOL,
	VIEW_JSON_NUMBER,
	VIEW_JSON_STRING,
	VIEW_JSON_ARRAY,
	VIEW_JSON_OBJECT
};

struct view_json {
	enum view_json_type type;
	const char *key; /* in its object, else NULL */
	const char *text; /* NUMBER: its digits; STRING: decoded; BOOL: "true" or "false" */
	struct view_json *child, *next;
};

struct view_json_error {
	const char *why; /* static */
	size_t offset; /* of the byte that is wrong */
};

/* The document's root, or NULL and *err. */
struct view_json *view_json_parse(struct view_arena *a, const char *text, size_t len,
				  struct view_json_error *err);

/* Reads the whole file. 0 and *root; negative errno (-EFBIG, -EBADMSG with *err). */
int view_json_read(struct view_arena *a, const char *path, struct view_json **root,
		   struct view_json_error *err);

/* The member @key of an object; NULL if absent or @node (may be NULL) is no object. */
struct view_json *view_json_get(const struct view_json *node, const char *key);

/* Values with a default for what is absent, null, of another type or out of range. */
int64_t view_json_get_int(const struct view_json *node, const char *key, int64_t otherwise);
uint64_t view_json_get_uint(const struct view_json *node, const char *key, uint64_t otherwise);
bool view_json_get_bool(const struct view_json *node, const char *key, bool otherwise);
const char *view_json_get_text(const struct view_json *node, const char *key,
			       const char *otherwise);
bool view_json_to_int(const struct view_json *node, int64_t *v);
size_t view_json_count(const struct view_json *node); /* children */

#endif
