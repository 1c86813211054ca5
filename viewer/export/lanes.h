/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slices of one track must nest; events need not. Each track has lanes, and a slice goes to the
 * first on which it nests or follows. Slices come in order of start. Caller-owned; zero-initialise.
 */
#ifndef EXPORT_LANES_H
#define EXPORT_LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VIEW_LANES_MAX 128u /* of a track; what fits on none of these goes on the last */
#define VIEW_LANE_DEPTH 64u

struct view_lane {
	int64_t *end; /* of open slices, the outermost first */
	int64_t start; /* of the innermost */
	uint32_t depth, room;
};

struct view_lanes {
	struct view_lane *lane;
	uint32_t lanes;
	uint64_t crossed; /* slices that fit nowhere */
};

/* The lane of a slice, or -ENOMEM. */
int view_lanes_place(struct view_lanes *l, int64_t start, int64_t end, bool nest);
void view_lanes_fini(struct view_lanes *l);

#endif
