/* SPDX-License-Identifier: Apache-2.0 */
/* What a team's runs take on disk, as of the last sweep (sweep.h) and what was appended since. */
#ifndef COLL_DISK_USE_H
#define COLL_DISK_USE_H

#include <stdint.h>

#define COLL_USE_TEAM_BYTES 256

struct coll_use {
	char team[COLL_USE_TEAM_BYTES]; /* "": runs of no team */
	uint64_t bytes, runs;
	uint64_t found_bytes, found_runs; /* by a sweep that has not told all its sums yet */
	uint64_t appended; /* since the sweep that runs, or ran last, began */
	uint64_t need; /* what was refused since the last sweep began, the largest */
	struct coll_use *next;
};

#endif
