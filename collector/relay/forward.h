/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of forwarding share: upstream.c chooses what to send next and sends it,
 * side_files.h and frames_answer.h know what is in a request and what its answer means, backoff.h
 * when to try again. For these alone; others see upstream.h. One thread.
 */
#ifndef COLL_FORWARD_H
#define COLL_FORWARD_H

#include "backoff.h"
#include "batch.h"
#include "behind.h"
#include "clock_offset.h"
#include "core/context.h"
#include "gone.h"
#include "link.h"
#include "node_name.h"
#include "outbox.h"
#include "store/held.h"
#include "unsent_runs.h"
#include "upstream_options.h"

struct coll_upstream {
	struct coll_context *context;
	const struct coll_upstream_options *opts;
	struct coll_link *link;
	struct coll_backoff backoff;
	struct coll_outbox box;
	bool told_full; /* that it is */
	struct coll_unsent_runs unsent;
	struct coll_batch batch; /* under way */
	struct coll_clock_offset clock;
	char node[COLL_NODE_BYTES];

	struct { /* the side file that is under way */
		struct coll_out_run *run;
		struct coll_out_file *file;
		int64_t mtime_ns; /* as it was seen before it was read: */
		uint64_t size; /* whatever came since shows at the next look */
		uint8_t *bytes;
		size_t len;
		char path[1024];
		char condition[COLL_SIDE_TAG_BYTES + 32], digest[128]; /* headers */
		const char *headers[3];
	} side;

	struct { /* the question about what the centre holds that is under way, see check.h */
		struct wire_buf body;
		struct {
			struct coll_out_run *run;
			struct coll_out_file *file;
		} item[COLL_HELD_LINES];
		size_t count;
	} check;

	struct coll_gone gone;
	struct coll_behind behind;

	char epoch[sizeof(COLL_EPOCH_HEADER) + 64]; /* header: the store that is meant */
	const char *epoch_headers[2];

	struct { /* how the centre wants frames, see gather.h */
		int64_t every_ns;
		uint64_t bytes; /* so much of one stream goes before; 0: as they come */
		int64_t began_ns; /* monotonic: when all was sent last, or that began; 0: never */
		uint64_t left; /* bytes that are still to go of what waited then */
		bool urgent; /* the end of a process or run waits for its frames to be there */
		bool off; /* we end */
	} gather;

	bool held_too; /* nothing else is left to send: runs that are held back may go now, ... */
	bool frames_first; /* ... their frames or their side files first, in turn */
	int64_t refused_logged_ns; /* monotonic: when a refused frame was last logged; 0: never */
};

/* Whether what was held may go now. */
static inline bool coll_forward_may(const struct coll_upstream *u, const struct coll_out_hold *h)
{
	return u->held_too || !coll_out_is_held(h);
}

#endif
