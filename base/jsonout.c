/* SPDX-License-Identifier: Apache-2.0 */
/* Commas and indentation; nothing else. */
#include "jsonout.h"

#include <inttypes.h>
#include "escape.h"
#include "units.h"

static void new_line(struct base_jsonout *j)
{
	fputc('\n', j->f);
	for (int i = 0; i < j->depth; i++)
		fputs("  ", j->f);
}

/* What stands before a value: comma, line break, key. */
static void lead(struct base_jsonout *j, const char *key)
{
	if (j->depth) {
		if (j->filled[j->depth])
			fputs(j->flat ? ", " : ",", j->f);
		j->filled[j->depth] = true;
		if (!j->flat)
			new_line(j);
	}
	if (key) {
		base_put_quoted(j->f, BASE_AS_JSON, key);
		fputs(": ", j->f);
	}
}

static void open_container(struct base_jsonout *j, const char *key, char opener, bool flat)
{
	lead(j, key);
	fputc(opener, j->f);
	if (j->depth + 1 < BASE_JSON_DEPTH)
		j->depth++;
	j->filled[j->depth] = false;
	j->closer[j->depth] = opener == '{' ? '}' : ']';
	if (flat && !j->flat)
		j->flat = j->depth;
}

void base_json_object(struct base_jsonout *j, const char *key)
{
	open_container(j, key, '{', false);
}

void base_json_array(struct base_jsonout *j, const char *key)
{
	open_container(j, key, '[', false);
}

void base_json_flat_object(struct base_jsonout *j, const char *key)
{
	open_container(j, key, '{', true);
}

void base_json_flat_array(struct base_jsonout *j, const char *key)
{
	open_container(j, key, '[', true);
}

void base_json_end(struct base_jsonout *j)
{
	bool filled = j->filled[j->depth], flat = j->flat;
	char closer = j->closer[j->depth];

	if (j->flat == j->depth)
		j->flat = 0;
	j->depth--;
	if (filled && !flat)
		new_line(j);
	fputc(closer, j->f);
	if (!j->depth)
		fputc('\n', j->f);
}

void base_json_int(struct base_jsonout *j, const char *key, int64_t v)
{
	lead(j, key);
	fprintf(j->f, "%" PRId64, v);
}

void base_json_wide(struct base_jsonout *j, const char *key, base_wide v)
{
	base_unit digits;

	base_json_number(j, key, base_wide_text(digits, v));
}

void base_json_uint(struct base_jsonout *j, const char *key, uint64_t v)
{
	lead(j, key);
	fprintf(j->f, "%" PRIu64, v);
}

void base_json_bool(struct base_jsonout *j, const char *key, bool v)
{
	lead(j, key);
	fputs(v ? "true" : "false", j->f);
}

void base_json_null(struct base_jsonout *j, const char *key)
{
	lead(j, key);
	fputs("null", j->f);
}

void base_json_string(struct base_jsonout *j, const char *key, const char *text)
{
	if (!text) {
		base_json_null(j, key);
		return;
	}
	lead(j, key);
	base_put_quoted(j->f, BASE_AS_JSON, text);
}

void base_json_number(struct base_jsonout *j, const char *key, const char *digits)
{
	lead(j, key);
	fputs(digits, j->f);
}

void base_json_usd(struct base_jsonout *j, const char *key, base_wide nano_usd, bool known)
{
	base_unit digits;

	if (known)
		base_json_number(j, key, base_dollars_exact(digits, nano_usd));
	else
		base_json_null(j, key);
}

void base_json_percent(struct base_jsonout *j, const char *key, int64_t ppm)
{
	base_unit digits;

	base_json_number(j, key, base_percent_exact(digits, ppm));
}
