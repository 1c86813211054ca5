/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes whose connection ended before they did: a pidfd each, to write down when they end. A
 * killed process closes its socket a moment before it is gone, and one that only lost its
 * connection lives on. One thread.
 */
#ifndef COLL_PROCESS_WATCH_H
#define COLL_PROCESS_WATCH_H

#include "retain/run_index.h"
#include "store/store.h"

struct coll_context;
struct coll_process_watch;

struct coll_process_watches {
	struct coll_context *context; /* borrowed */
	struct coll_run_index *index; /* the same; NULL: none */
	struct coll_process_watch *first;
	size_t count;
};

/*
 * Watches @pidfd (taken, -1 not allowed) on behalf of a stream whose run directory and identity
 * are copied. On an error nothing is watched and @pidfd is closed.
 */
void coll_process_watch_add(struct coll_process_watches *all, int pidfd,
			    const struct coll_stream *s);

/* Notes the end of the stream's process, if it is known who that is. */
void coll_process_watch_write_end(struct coll_process_watches *all, const struct coll_stream *s,
				  int64_t end_ns);

/* Ends all watches; processes that ended by now are noted. */
void coll_process_watch_fini(struct coll_process_watches *all);

#endif
