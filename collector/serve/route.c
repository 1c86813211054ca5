/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths against patterns, segment by segment.
 */
#include "route.h"

#include <string.h>

static bool name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c && strchr("._-+=@", c));
}

/* Takes one segment as a name. Where it ends; NULL: it is none. */
static const char *match_name(const char *path, char *out)
{
	size_t len = 0;

	while (len < COLL_ROUTE_PARAM_BYTES - 1 && name_char(path[len]))
		len++;
	if (!len || path[0] == '.' || (path[len] && path[len] != '/'))
		return NULL;
	memcpy(out, path, len);
	out[len] = '\0';
	return path + len;
}

bool coll_route_matches(const char *pattern, const char *path,
			char param[COLL_ROUTE_PARAMS][COLL_ROUTE_PARAM_BYTES])
{
	size_t n = 0;

	while (*pattern) {
		if (*pattern != '*') {
			if (*pattern++ != *path++)
				return false;
			continue;
		}
		path = n < COLL_ROUTE_PARAMS ? match_name(path, param[n++]) : NULL;
		if (!path)
			return false;
		pattern++;
	}
	return !*path;
}

static bool same_method(const struct coll_route *r, const char *method)
{
	return !strcmp(r->method, method) || (!strcmp(r->method, "GET") && !strcmp(method, "HEAD"));
}

void coll_route_find(struct coll_route_match *m, const struct coll_route *const *table,
		     const char *method, const char *path)
{
	const struct coll_route *const *r;

	memset(m, 0, sizeof(*m));
	if (strnlen(path, COLL_ROUTE_PATH_MAX + 1) > COLL_ROUTE_PATH_MAX)
		return;
	for (r = table; *r; r++) {
		if (!coll_route_matches((*r)->pattern, path, m->param))
			continue;
		if (same_method(*r, method)) {
			m->route = *r;
			return;
		}
		m->allow = (*r)->method;
	}
}
