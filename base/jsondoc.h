/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A JSON document in memory: run.json, a summary. Numbers keep their text, so that nothing goes
 * through a double. For small, possibly hostile files; imports of traces stream instead.
 * Everything lives in the caller's arena. Any thread.
 */
#ifndef BASE_JSONDOC_H
#define BASE_JSONDOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "arena.h"

#define BASE_JSONDOC_BYTES_MAX ((size_t)64 << 20)

enum base_json_type {
	BASE_JSON_NULL,
	BASE_JSON_BOOL,
	BASE_JSON_NUMBER,
	BASE_JSON_STRING,
	BASE_JSON_ARRAY,
	BASE_JSON_OBJECT
};

struct base_json {
	enum base_json_type type;
	const char *key; /* in its object, else NULL */
	const char *text; /* NUMBER: its digits; STRING: decoded; BOOL: "true" or "false" */
	struct base_json *child, *next;
};

struct base_json_error {
	const char *why; /* static */
	size_t offset; /* of the byte that is wrong */
};

/* The document's root, or NULL and *err. */
struct base_json *base_json_parse(struct base_arena *a, const char *text, size_t len,
				  struct base_json_error *err);

/* Reads the whole file. 0 and *root; negative errno (-EFBIG, -EBADMSG with *err). */
int base_json_read(struct base_arena *a, const char *path, struct base_json **root,
		   struct base_json_error *err);

/* The member @key of an object; NULL if absent or @node (may be NULL) is no object. */
struct base_json *base_json_get(const struct base_json *node, const char *key);

/* Values with a default for what is absent, null, of another type or out of range. */
int64_t base_json_get_int(const struct base_json *node, const char *key, int64_t otherwise);
uint64_t base_json_get_uint(const struct base_json *node, const char *key, uint64_t otherwise);
bool base_json_get_bool(const struct base_json *node, const char *key, bool otherwise);
const char *base_json_get_text(const struct base_json *node, const char *key,
			       const char *otherwise);
bool base_json_to_int(const struct base_json *node, int64_t *v);
size_t base_json_count(const struct base_json *node); /* children */

/* Each child of an array or an object (may be NULL) in order, as @node. */
#define BASE_JSON_EACH(node, array)                                                \
	for (const struct base_json *node = (array) ? (array)->child : NULL; node; \
	     node = node->next)

#endif
