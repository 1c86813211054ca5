/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows the streams of a run directory while they grow, and feeds what they say of themselves to
 * the model of live/run.h, with the ends of processes that a collector saw. Reads headers and small
 * frames only, from where it stopped the time before; gets over damage. Every byte is hostile. One
 * thread.
 */
#ifndef VIEW_RUN_TAIL_H
#define VIEW_RUN_TAIL_H

#include "live/frame.h"

#define VIEW_TAIL_FILES 8192u

struct view_tail {
	const char *dir; /* the caller's */
	struct live_run run;
	struct live_reader *reader;
	struct view_tail_file {
		char *name;
		uint64_t at; /* everything before it has been looked at */
	} * file;
	size_t files, room;
	uint8_t *frame; /* room for one */
};

/* 0 or -ENOMEM. @dir must stay; it need not be there yet. */
int view_tail_init(struct view_tail *t, const char *dir);
void view_tail_fini(struct view_tail *t); /* of a zeroed one: nothing */

/*
 * Looks at what was added. Of what lay there at first some pulses are passed over: a long run is
 * known after its first, its last and some in between. Returns how many frames were taken.
 */
size_t view_tail_look(struct view_tail *t);

/* What time it is, for the model. */
struct live_when view_tail_now(void);

#endif
