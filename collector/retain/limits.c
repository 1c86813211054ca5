/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One table of limits, read from words.
 */
#include "limits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "core/files.h"
#include "core/log.h"
#include "core/quantity.h"

enum kind {
	COUNT,
	SIZE,
	SPAN,
};

static const struct {
	const char *name;
	enum kind kind;
	uint64_t value;
	const char *what;
} table[COLL_LIMIT_COUNT] = {
#define COLL_LIMIT_ROW(constant, name, kind, value, what) { name, kind, value, what },
	COLL_LIMITS(COLL_LIMIT_ROW)
#undef COLL_LIMIT_ROW
};

const char *coll_limit_name(enum coll_limit which)
{
	return table[which].name;
}

const char *coll_limit_what(enum coll_limit which)
{
	return table[which].what;
}

void coll_limits_init(struct coll_limits *l)
{
	memset(l, 0, sizeof(*l));
	for (int i = 0; i < COLL_LIMIT_COUNT; i++)
		l->value[i] = table[i].value;
}

static int set_number(struct coll_limits *l, int i, const char *value, const char **why)
{
	uint64_t v = 0;
	int64_t ns;
	bool good;

	switch (table[i].kind) {
	case SIZE:
		*why = "not a size such as 200G";
		good = coll_size_of(value, &v);
		break;
	case SPAN:
		*why = "not a time such as 60s";
		good = coll_span_of(value, &ns);
		v = good ? (uint64_t)ns : 0;
		break;
	default:
		*why = "not a number from 0 up";
		good = coll_count_of(value, &v);
		break;
	}
	if (good)
		l->value[i] = v;
	return good ? 0 : -EINVAL;
}

int coll_limits_set(struct coll_limits *l, const char *name, const char *value, const char **why)
{
	for (int i = 0; i < COLL_LIMIT_COUNT; i++)
		if (!strcmp(name, table[i].name))
			return set_number(l, i, value, why);
	if (!strcmp(name, "keep")) {
		*why = "not a time such as 30d, nor `forever`";
		return coll_keep_rules_for_all(&l->keep, value);
	}
	if (!strcmp(name, "keep-label")) {
		*why = "not of the form KEY=VALUE:30d, or one rule too many";
		return coll_keep_rules_add(&l->keep, value);
	}
	*why = "there is no limit of that name";
	return -EINVAL;
}

int coll_limits_set_pair(struct coll_limits *l, const char *pair, const char **why)
{
	const char *equals = strchr(pair, '=');
	char name[32];

	*why = "not of the form NAME=VALUE";
	if (!equals || (size_t)(equals - pair) >= sizeof(name))
		return -EINVAL;
	memcpy(name, pair, (size_t)(equals - pair));
	name[equals - pair] = '\0';
	return coll_limits_set(l, name, equals + 1, why);
}

/* @line ends with a 0 byte and may be changed. */
static int parse_line(struct coll_limits *l, char *line, const char **why)
{
	char *comment = strchr(line, '#'), *save, *name, *value;

	if (comment)
		*comment = '\0';
	name = strtok_r(line, " \t\r", &save);
	if (!name)
		return 0;
	value = strtok_r(NULL, " \t\r", &save);
	*why = "not of the form NAME VALUE";
	if (!value || strtok_r(NULL, " \t\r", &save))
		return -EINVAL;
	return coll_limits_set(l, name, value, why);
}

int coll_limits_parse(struct coll_limits *l, const char *text, size_t len, unsigned int *line,
		      const char **why)
{
	char *copy = malloc(len + 1), *at, *end;
	int err = 0;

	*line = 0;
	*why = "no memory";
	if (!copy)
		return -ENOMEM;
	memcpy(copy, text, len);
	copy[len] = '\0';
	if (memchr(copy, '\0', len)) {
		*why = "it holds a 0 byte";
		err = -EINVAL;
	}
	for (at = copy; !err && at; at = end ? end + 1 : NULL) {
		end = strchr(at, '\n');
		if (end)
			*end = '\0';
		++*line;
		err = parse_line(l, at, why);
	}
	free(copy);
	return err;
}

int coll_limits_load(struct coll_limits *l, const struct coll_limits *base, const char *path)
{
	struct coll_limits fresh = *base;
	const char *why;
	unsigned int line;
	size_t len;
	uint8_t *text;
	int err = coll_file_read_linked(path, COLL_LIMITS_FILE_MAX, &text, &len);

	if (err) {
		coll_log("cannot read limits from %s: %s", path, strerror(-err));
		return err;
	}
	err = coll_limits_parse(&fresh, (const char *)text, len, &line, &why);
	free(text);
	if (err)
		coll_log("%s, line %u: %s; see gpustarve-collector(1)", path, line, why);
	else
		*l = fresh;
	return err;
}
