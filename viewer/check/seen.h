/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What looking at the loader of a replay told (replay/look.py): the time in which its batch was
 * awaited, by class and line. Read from files that a process of the user's wrote: as hostile.
 */
#ifndef CHECK_SEEN_H
#define CHECK_SEEN_H

#include "check_run.h"

#define CHECK_SEEN_MAX 512 /* hotspots; time at other lines counts, without the line */
#define CHECK_SEEN_LEAST_NS 100000000 /* some ten looks; of less nothing is said */

struct check_seen {
	struct check_hotspot hotspot[CHECK_SEEN_MAX]; /* in no order; file NULL: no line is known */
	size_t hotspots;
	int64_t all_ns; /* looked at, in sum */
};

/*
 * Adds up the files `seen.@trainer.*` of the folder @dir, whose descriptor stays the caller's.
 * Strings go into @mem. 0 or negative errno; a damaged line is left out.
 */
int check_seen_read(int dir, const char *trainer, struct base_arena *mem, struct check_seen *s);

/*
 * Shares the waits of @run (its starved_ns, which stand as input.unknown) out to what was seen, as
 * if all @waited_ns of the command were as what was looked at; what was not looked at stays
 * unknown. Fills @run's classes and hotspots.
 */
void check_seen_share(struct check_seen *s, int64_t waited_ns, struct check_run *run);

#endif
