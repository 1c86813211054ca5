/* SPDX-License-Identifier: Apache-2.0 */
/* Every route there is. Each is defined in the file that handles it. */
#ifndef COLL_ROUTES_H
#define COLL_ROUTES_H

#include "route.h"

extern const struct coll_route coll_route_health; /* health.c: GET /healthz */
extern const struct coll_route coll_route_clock; /* clock.c: GET /v1/clock */
extern const struct coll_route coll_route_frames; /* frames.c: POST /v1/frames */
extern const struct coll_route coll_route_gateway_frames; /* gateway_frames.c: POST /v1/frames */
extern const struct coll_route coll_route_file; /* run_files.c: PUT /v1/runs/ID/files/NAME */
extern const struct coll_route coll_route_held; /* held.c: POST /v1/held */
extern const struct coll_route coll_route_metrics; /* metrics.c: GET /metrics */
extern const struct coll_route coll_route_runs; /* run_list.c: GET /v1/runs */
extern const struct coll_route coll_route_list; /* run_list.c: GET /runs */
extern const struct coll_route coll_route_summary; /* pages.c: GET /v1/runs/ID/summary */
extern const struct coll_route coll_route_report; /* pages.c: GET /runs/ID */
extern const struct coll_route coll_route_fleet; /* pages.c: GET / */
extern const struct coll_route coll_route_live_list; /* live.c: GET /v1/live */
extern const struct coll_route coll_route_live; /* live.c: GET /v1/runs/ID/live */
extern const struct coll_route coll_route_admission; /* admission.c: POST /admission */

#endif
