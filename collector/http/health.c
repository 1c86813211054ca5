/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GET /healthz: whether the collector serves. Says nothing that an unknown asker should not know.
 */
#include "http.h"
#include "routes.h"

static void health_end(struct coll_http_request *r)
{
	coll_http_text(r, 200, "ok\n");
}

const struct coll_route coll_route_health = {
	.method = "GET",
	.pattern = "/healthz",
	.end = health_end,
};
