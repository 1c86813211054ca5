/* SPDX-License-Identifier: Apache-2.0 */
/* POST over HTTP(S), several at once, as base/http.h has it. One thread at a time. */
#ifndef FLEET_HTTP_H
#define FLEET_HTTP_H

#include <stddef.h>
#include "core/answer.h"

#define FLEET_HTTP_ANSWER_MAX ((size_t)1 << 36)
#define FLEET_HTTP_IN_MEMORY ((size_t)64 << 20) /* of each answer; more is on disk */

struct fleet_request {
	const char *url, *body; /* the caller's */
	size_t body_len;
	struct view_answer answer; /* to be freed */
	int status; /* of HTTP; 0: there was no answer */
	char why[256]; /* there was none, because */
	int failed; /* it could not be taken: negative errno of view_answer_add and _end */
	bool too_long; /* because it had more than FLEET_HTTP_ANSWER_MAX, or there is no room */
};

struct fleet_http_options {
	const char *user, *password; /* NULL: none */
	const char *ca; /* file of certificates to trust; NULL: the system's */
	long timeout_s;
};

/*
 * 0, each request with its outcome; -ENOMEM; -ENOSYS: libcurl does not start, or is too old for
 * what base/http.h keeps to.
 */
int fleet_http_post(const struct fleet_http_options *o, struct fleet_request *r, size_t n);

#endif
