/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One signed request and its answer, tried again while that may help. Any thread, with a line each:
 * a line is a connection that is kept, and belongs to one thread at a time. Private to objects.
 *
 * Stores that vanish: 10 s to connect, 30 s at fewer than 200 bytes a second; then that try has
 * failed, and 60 s after the first there is no other. Redirects are not followed: a signature is for
 * one host.
 */
#ifndef OBJECTS_REQUEST_H
#define OBJECTS_REQUEST_H

#include <stdbool.h>
#include <stdint.h>
#include "account.h"
#include "trouble.h"
#include "wire/buf.h"

struct objects_line;

struct objects_request {
	const char *method; /* GET, HEAD, PUT, DELETE */
	const char *url; /* with its query, encoded and sorted; no blank line ends */
	const char *const *headers; /* NULL behind the last; NULL: none but the usual */
	const void *body;
	size_t len;
	/* An answer of success goes here; others, and where this is NULL, into struct objects_answer. */
	uint8_t *to;
	size_t room;
};

struct objects_answer { /* zero-initialise it; wire_buf_fini(&text) */
	long status; /* 0: none came */
	size_t len; /* that went to the request's buffer */
	uint64_t whole; /* HEAD: Content-Length */
	char region[64]; /* where the bucket is, if the store says so */
	int64_t now_s; /* Date, Unix seconds; 0: it does not say */
	struct wire_buf text;
	unsigned int tries;
	uint64_t bytes; /* that came, of all tries */
};

/* NULL: no memory, or a libcurl that cannot keep to it. */
struct objects_line *objects_line_new(const struct objects_account *a);
void objects_line_free(struct objects_line *l);

/*
 * 0 for an answer that is no trouble of the way or of the store's: a success, or a refusal such as
 * 404, which trying again would not change. -ETIMEDOUT: troubled to the end, *t says how; -EIO: an
 * answer too long; -ENOMEM.
 */
int objects_request(struct objects_line *l, const struct objects_request *r,
		    struct objects_answer *answer, struct objects_trouble *t);

#endif
