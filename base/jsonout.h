/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes one JSON document, canonically: keys in the order they are given, two spaces per level,
 * integers as integers, dollars and percentages as decimals that never were a double, strings as
 * valid UTF-8 whatever went in. Caller-owned; zero-initialise with the stream set. Errors of the
 * stream are the caller's to check (ferror).
 */
#ifndef VIEW_JSONOUT_H
#define VIEW_JSONOUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define VIEW_JSON_DEPTH 32

struct view_jsonout {
	FILE *f;
	int depth;
	int flat; /* depth at which a container on one line began, 0: none */
	bool filled[VIEW_JSON_DEPTH];
	char closer[VIEW_JSON_DEPTH];
};

/* @key is NULL inside arrays and at the top. */
void view_json_object(struct view_jsonout *j, const char *key);
void view_json_array(struct view_jsonout *j, const char *key);
void view_json_flat_object(struct view_jsonout *j, const char *key); /* on one line */
void view_json_flat_array(struct view_jsonout *j, const char *key);
void view_json_end(struct view_jsonout *j); /* closes the innermost; the outermost adds a newline */

void view_json_int(struct view_jsonout *j, const char *key, int64_t v);
void view_json_uint(struct view_jsonout *j, const char *key, uint64_t v);
void view_json_bool(struct view_jsonout *j, const char *key, bool v);
void view_json_null(struct view_jsonout *j, const char *key);
void view_json_string(struct view_jsonout *j, const char *key, const char *text); /* NULL: null */
void view_json_number(struct view_jsonout *j, const char *key, const char *digits); /* as it is */
void view_json_usd(struct view_jsonout *j, const char *key, int64_t nano_usd, bool known);
void view_json_percent(struct view_jsonout *j, const char *key, int64_t ppm);

#endif
