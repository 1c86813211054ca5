/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes one JSON document, canonically: keys in the order they are given, two spaces per level,
 * integers as integers, dollars and percentages as decimals that never were a double, strings as
 * valid UTF-8 whatever went in. Caller-owned; zero-initialise with the stream set. Errors of the
 * stream are the caller's to check (ferror).
 */
#ifndef BASE_JSONOUT_H
#define BASE_JSONOUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "units.h"

#define BASE_JSON_DEPTH 32

struct base_jsonout {
	FILE *f;
	int depth;
	int flat; /* depth at which a container on one line began, 0: none */
	bool filled[BASE_JSON_DEPTH];
	char closer[BASE_JSON_DEPTH];
};

/* @key is NULL inside arrays and at the top. */
void base_json_object(struct base_jsonout *j, const char *key);
void base_json_array(struct base_jsonout *j, const char *key);
void base_json_flat_object(struct base_jsonout *j, const char *key); /* on one line */
void base_json_flat_array(struct base_jsonout *j, const char *key);
void base_json_end(struct base_jsonout *j); /* closes the innermost; the outermost adds a newline */

void base_json_int(struct base_jsonout *j, const char *key, int64_t v);
void base_json_wide(struct base_jsonout *j, const char *key, base_wide v);
void base_json_uint(struct base_jsonout *j, const char *key, uint64_t v);
void base_json_bool(struct base_jsonout *j, const char *key, bool v);
void base_json_null(struct base_jsonout *j, const char *key);
void base_json_string(struct base_jsonout *j, const char *key, const char *text); /* NULL: null */
void base_json_number(struct base_jsonout *j, const char *key, const char *digits); /* as it is */
void base_json_usd(struct base_jsonout *j, const char *key, base_wide nano_usd, bool known);
void base_json_percent(struct base_jsonout *j, const char *key, int64_t ppm);

#endif
