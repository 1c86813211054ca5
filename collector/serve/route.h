/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of what the HTTP servers answer: one struct coll_route per method and pattern, defined
 * beside its handler and named in routes.c.
 *
 * A pattern is a path; a segment `*` takes any one segment of the characters that names of runs and
 * files are made of (A-Z a-z 0-9 . _ - + = @, no leading dot, at most 251). A request's path is
 * matched as it came: nothing is unescaped, so that no `%` ever matches, and what a `*` took is
 * safe to be looked up as the name of a directory entry.
 */
#ifndef COLL_ROUTE_H
#define COLL_ROUTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "tokens.h"

#define COLL_ROUTE_PARAMS 2
#define COLL_ROUTE_PARAM_BYTES 252
#define COLL_ROUTE_PATH_MAX 1024

struct coll_http_request;

struct coll_route {
	const char *method; /* "GET" answers HEAD, too */
	const char *pattern;
	unsigned int scope; /* enum coll_scope that a token must have; 0: anybody may ask */
	uint64_t body_max; /* a longer body is refused with 413; 0: none is taken */

	/* See http.h, the life of a request. All but end may be NULL. */
	void (*begin)(struct coll_http_request *r);
	void (*body)(struct coll_http_request *r, const uint8_t *bytes, size_t len);
	void (*end)(struct coll_http_request *r);
	void (*gone)(struct coll_http_request *r);
};

struct coll_route_match {
	const struct coll_route *route; /* NULL: none */
	const char *allow; /* route NULL: a method that the path has; NULL: the path is unknown */
	char param[COLL_ROUTE_PARAMS][COLL_ROUTE_PARAM_BYTES];
};

/* Finds @path (without its query) for @method in a table of routes.c. */
void coll_route_find(struct coll_route_match *m, const struct coll_route *const *table,
		     const char *method, const char *path);

/* Whether @path is of @pattern; fills @param. */
bool coll_route_matches(const char *pattern, const char *path,
			char param[COLL_ROUTE_PARAMS][COLL_ROUTE_PARAM_BYTES]);

/* Of routes.c; the last entry is NULL. */
extern const struct coll_route *const coll_routes[]; /* of --listen */
extern const struct coll_route *const coll_routes_admission[]; /* of --admission */
extern const struct coll_route *const coll_routes_gateway[]; /* of --listen with --gateway */

#endif
