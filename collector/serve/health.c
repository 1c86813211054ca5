/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GET /healthz: whether the collector serves and stores, and has lost nothing lately. Says nothing
 * that an unknown asker should not know.
 */
#include <inttypes.h>
#include "core/clock.h"
#include "core/context.h"
#include "gateway/gateway.h"
#include "http.h"
#include "routes.h"

static bool store_is_silent(struct coll_http_request *r)
{
	int64_t ns = r->parts->gateway ? coll_store_watch_silent_ns(&r->parts->gateway->watch) : 0;

	if (ns)
		coll_http_text(r, 503, "the object store has not answered for %" PRId64 " s\n",
			       ns / COLL_SECOND_NS);
	return ns;
}

static void health_end(struct coll_http_request *r)
{
	if (store_is_silent(r))
		return;
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
