/* SPDX-License-Identifier: Apache-2.0 */
/* Every route there is. Each is defined in the file that handles it. */
#ifndef COLL_ROUTES_H
#define COLL_ROUTES_H

#include "route.h"

extern const struct coll_route coll_route_health; /* health.c: GET /healthz */
extern const struct coll_route coll_route_clock; /* clock.c: GET /v1/clock */
extern const struct coll_route coll_route_frames; /* frames.c: POST /v1/frames */
extern const struct coll_route coll_route_file; /* files.c: PUT /v1/runs/ID/files/NAME */

#endif
