/* SPDX-License-Identifier: Apache-2.0 */
/*
 * POST /admission of --admission: whether a pod may come in. It always may (kube/review.h);
 * where it cannot be looked at, the refusal here makes Kubernetes let it in as it is
 * (failurePolicy: Ignore).
 *
 * Nobody shows a token, for an API server has none: what all reviews together may take of memory
 * is bounded, and nothing but the answer is made of them.
 */
#include <stdint.h>
#include <stdlib.h>
#include "daemon.h"
#include "kube/review.h"
#include "routes.h"
#include "wire/buf.h"

#define HELD_MAX (16u << 20) /* bytes of reviews that are not whole yet, of all who ask */

static void admission_begin(struct coll_http_request *r)
{
	r->own = calloc(1, sizeof(struct wire_buf));
	if (!r->own)
		coll_http_text(r, 503, "out of memory\n");
}

static void admission_body(struct coll_http_request *r, const uint8_t *bytes, size_t len)
{
	struct wire_buf *b = r->own;

	if (r->http->reviews_held + len > HELD_MAX || wire_buf_append(b, bytes, len))
		coll_http_text(r, 503, "too many pods at once\n");
	else
		r->http->reviews_held += len;
}

static void admission_end(struct coll_http_request *r)
{
	struct wire_buf *b = r->own;
	enum coll_review what;
	char *answer;
	size_t len;

	if (coll_review_answer(&answer, &len, &what, (const char *)b->data, b->len,
			       r->http->opts->inject)) {
		coll_http_text(r, 503, "out of memory\n");
		return;
	}
	r->count->admission_reviews++;
	r->count->admission_injected += what == COLL_REVIEW_INJECTED;
	r->count->admission_bad += what == COLL_REVIEW_BAD;
	coll_http_answer_taking(r, 200, "application/json", answer, len);
}

static void admission_gone(struct coll_http_request *r)
{
	struct wire_buf *b = r->own;

	if (b) {
		r->http->reviews_held -= b->len;
		wire_buf_fini(b);
	}
	free(b);
}

const struct coll_route coll_route_admission = {
	.method = "POST",
	.pattern = "/admission",
	.body_max = COLL_REVIEW_BYTES_MAX,
	.begin = admission_begin,
	.body = admission_body,
	.end = admission_end,
	.gone = admission_gone,
};
