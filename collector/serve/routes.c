/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables. The first that matches a path and a method answers.
 */
#include "routes.h"

const struct coll_route *const coll_routes[] = {
	&coll_route_health,  &coll_route_clock,
	&coll_route_frames,  &coll_route_file,
	&coll_route_held,    &coll_route_metrics,
	&coll_route_runs,    &coll_route_list,
	&coll_route_summary, &coll_route_report,
	&coll_route_fleet,   &coll_route_live_list,
	&coll_route_live,    NULL,
};

const struct coll_route *const coll_routes_admission[] = {
	&coll_route_health,
	&coll_route_admission,
	NULL,
};

const struct coll_route *const coll_routes_gateway[] = {
	&coll_route_health,  &coll_route_clock,	    &coll_route_gateway_frames, &coll_route_file,
	&coll_route_metrics, &coll_route_live_list, &coll_route_live,		NULL,
};
