/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GET /healthz: whether the collector serves and stores, and has lost nothing lately. Says nothing
 * that an unknown asker should not know.
 */
#include "core/context.h"
#include "gateway/gateway.h"
#include "http.h"
#include "routes.h"

static void health_end(struct coll_http_request *r)
{
	if (coll_context_in_trouble(r->parts->context) ||
	    (r->parts->gateway && coll_gateway_in_trouble(r->parts->gateway)))
		coll_http_text(r, 503, "cannot store\n");
	else if (coll_context_disk_hangs(r->parts->context))
		coll_http_text(r, 503, "the disk does not answer\n");
	else if (coll_context_has_lost(r->parts->context))
		coll_http_text(r, 503, "traces are lost\n");
	else
		coll_http_text(r, 200, "ok\n");
}

const struct coll_route coll_route_health = {
	.method = "GET",
	.pattern = "/healthz",
	.end = health_end,
};
