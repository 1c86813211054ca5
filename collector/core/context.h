/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every part of the collector shares: its loop, what it counts, the programs that it runs, and
 * whether it can store. One thread, but for jobs of the worker. The server (server.h) owns it;
 * parts borrow it.
 */
#ifndef COLL_CONTEXT_H
#define COLL_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>
#include "child.h"
#include "clock.h"
#include "counters.h"
#include "loop.h"
#include "worker.h"

#define COLL_DISK_HANGS_NS (30 * COLL_SECOND_NS)

struct coll_context {
	struct coll_loop loop;
	struct coll_worker worker; /* who waits for the disk */
	struct coll_counters count;
	struct coll_children children;
	int trouble; /* -errno of the last line on storing */
	int64_t trouble_logged_ns; /* when that was logged, 0: never */
	int64_t hangs_logged_ns; /* the same of a disk that does not answer */
	int64_t one_logged_ns; /* the same of what kept one stream alone */
	int64_t lost_ns; /* monotonic: when it was last found that traces are lost, 0: never */
};

/* 0 or -errno; fini is right in both cases. */
int coll_context_init(struct coll_context *c);
void coll_context_fini(struct coll_context *c);

/*
 * Something could not be stored in @path: counted, and logged once in a while. A stream that is
 * held by another collector, too long, no file or one too many is no trouble of all.
 */
void coll_context_trouble(struct coll_context *c, const char *path, int err);

/*
 * Each second: says once a minute that the disk has not answered for COLL_DISK_HANGS_NS, in which
 * nothing is acknowledged; whether that is so.
 */
void coll_context_tick(struct coll_context *c, int64_t now_ns);
bool coll_context_disk_hangs(const struct coll_context *c);

/* That was so a moment ago. */
bool coll_context_in_trouble(const struct coll_context *c);

/*
 * Traces are lost that the upstream had acknowledged; whether that was found within the last hour.
 */
void coll_context_lost(struct coll_context *c);
bool coll_context_has_lost(const struct coll_context *c);

#endif
