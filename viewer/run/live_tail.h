/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows the streams of a run while they grow: the last Pulse and Hello of each. Reads headers
 * only, from where it stopped the time before. One thread.
 */
#ifndef VIEW_LIVE_TAIL_H
#define VIEW_LIVE_TAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VIEW_TAIL_STREAMS 64

struct view_tail_device {
	char name[96], host[64];
	uint64_t busy_ns;
};

struct view_tail_stream {
	char path[4400];
	uint64_t at; /* everything before it has been looked at */
	int64_t first_ns, t_ns; /* of its first and last pulse */
	uint64_t loader_wait_ns;
	struct view_tail_device device[16];
	size_t devices; /* those it uses */
};

struct view_tail {
	const char *dir; /* the caller's */
	struct view_tail_stream stream[VIEW_TAIL_STREAMS];
	size_t streams;
};

/* Looks at what was added. True if some stream has had a pulse. */
bool view_tail_look(struct view_tail *t);

#endif
