/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GET /healthz: whether the collector serves and stores. Says nothing that an unknown asker should
 * not know.
 */
#include "core/clock.h"
#include "http.h"
#include "server.h"
#include "routes.h"

#define TROUBLE_NS (60 * COLL_SECOND_NS) /* it is said again so often while it lasts */

static void health_end(struct coll_http_request *r)
{
	const struct coll_server *sv = r->server;

	if (sv->trouble_said_ns && coll_now_ns() - sv->trouble_said_ns < TROUBLE_NS)
		coll_http_text(r, 503, "cannot store\n");
	else
		coll_http_text(r, 200, "ok\n");
}

const struct coll_route coll_route_health = {
	.method = "GET",
	.pattern = "/healthz",
	.end = health_end,
};
