/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GET /v1/clock: when the question came and when it was answered, by this machine's clock. With its
 * own two readings the asker knows how far apart the clocks are, to half of what the way took.
 */
#include <inttypes.h>
#include <stdio.h>
#include "core/clock.h"
#include "epoch_header.h"
#include "http.h"
#include "routes.h"

static void clock_end(struct coll_http_request *r)
{
	char text[128];
	int n = snprintf(text, sizeof(text),
			 "{\"received_ns\":%" PRId64 ",\"answered_ns\":%" PRId64 "}\n",
			 r->received_ns, coll_clock_ns(CLOCK_REALTIME));

	if (!coll_http_say_epoch(r))
		return;
	coll_http_answer(r, 200, "application/json", text, (size_t)n);
}

const struct coll_route coll_route_clock = {
	.method = "GET",
	.pattern = "/v1/clock",
	.scope = COLL_SCOPE_WRITE,
	.end = clock_end,
};
