/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table. The first that matches a path and a method answers.
 */
#include "routes.h"

const struct coll_route *const coll_routes[] = {
	&coll_route_health, &coll_route_clock, &coll_route_frames, &coll_route_file, NULL,
};
