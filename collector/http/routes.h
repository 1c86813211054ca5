/* SPDX-License-Identifier: Apache-2.0 */
/* Every route there is. Each is defined in the file that handles it. */
#ifndef COLL_ROUTES_H
#define COLL_ROUTES_H

#include "route.h"

extern const struct coll_route coll_route_health; /* health.c: GET /healthz */

#endif
