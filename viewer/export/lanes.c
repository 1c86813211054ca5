/* SPDX-License-Identifier: Apache-2.0 */
#include "lanes.h"

#include <errno.h>
#include <stdlib.h>
#include "base/vec.h"

static void close_until(struct view_lane *l, int64_t start)
{
	while (l->depth && l->end[l->depth - 1] <= start)
		l->depth--;
}

static bool fits(const struct view_lane *l, int64_t start, int64_t end, bool nest)
{
	if (!l->depth)
		return true;
	/* One that began together with it and ends later must be the outer one. */
	return nest && l->depth < VIEW_LANE_DEPTH && end <= l->end[l->depth - 1] &&
	       start >= l->start;
}

static int open_slice(struct view_lane *l, int64_t start, int64_t end)
{
	if (!base_vec_more(l->end, l->depth, l->room))
		return -ENOMEM;
	l->end[l->depth++] = end;
	l->start = start;
	return 0;
}

static int add_lane(struct view_lanes *l)
{
	struct view_lane *more = reallocarray(l->lane, l->lanes + 1, sizeof(*more));

	if (!more)
		return -ENOMEM;
	l->lane = more;
	l->lane[l->lanes++] = (struct view_lane){ NULL, 0, 0, 0 };
	return 0;
}

int view_lanes_place(struct view_lanes *l, int64_t start, int64_t end, bool nest)
{
	uint32_t i;

	for (i = 0; i < l->lanes; i++) {
		close_until(&l->lane[i], start);
		if (fits(&l->lane[i], start, end, nest))
			break;
	}
	if (i == VIEW_LANES_MAX) {
		l->crossed++;
		return (int)i - 1;
	}
	if (i == l->lanes && add_lane(l))
		return -ENOMEM;
	return open_slice(&l->lane[i], start, end) ? -ENOMEM : (int)i;
}

void view_lanes_fini(struct view_lanes *l)
{
	uint32_t i;

	for (i = 0; i < l->lanes; i++)
		free(l->lane[i].end);
	free(l->lane);
	*l = (struct view_lanes){ NULL, 0, 0 };
}
