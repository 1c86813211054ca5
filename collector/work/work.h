/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker: runs that have ended in an object store (--work), and jobs of a scheduler that gave
 * their GPUs back, are taken up one at a time, fetched into a folder (a job with its runs),
 * analysed there by children as those of a collector's own store are (`gpustarve digest`, and
 * `report` where pages are asked for: confined, with limits on time and memory), and what comes of
 * it goes into the store of digests and beside the run. Any number of workers share a bucket;
 * claim.h says how, and why nothing that is right rests on it.
 *
 * What fails by a run's own fault is remembered there, and tried again by any worker; after
 * `work-tries` it is put aside with the reason. Trouble of either store is no fault of the run.
 *
 * Calls of the object store are made by two threads of ours, one of which does nothing but
 * refresh the lease; all else is the loop's.
 */
#ifndef COLL_WORK_H
#define COLL_WORK_H

#include <stdbool.h>
#include <stdint.h>
#include "core/context.h"
#include "retain/digests.h"
#include "retain/limits.h"

struct coll_work;

struct coll_work_options { /* of the command line, which owns the texts */
	const char *url; /* "s3://BUCKET/PREFIX"; NULL: no worker */
	bool once; /* until nothing is left that can be taken up */
	bool reports; /* pages and summaries, too */
	bool dry_run; /* say what there is */
	const char *again; /* "TEAM/RUN": forget what was tried */
};

/*
 * *w is NULL without --work. @base: a folder of this is made for what is being analysed. 0 or
 * -errno, which is logged.
 */
int coll_work_open(struct coll_work **w, const struct coll_work_options *o,
		   const struct coll_digest_to *to, const char *base,
		   const struct coll_limits *limits, struct coll_context *context);

/* Children are ended, and the lease is given back. @w may be NULL, here and below. */
void coll_work_close(struct coll_work *w);

/* To be called about once a second. */
void coll_work_tick(struct coll_work *w, int64_t now_ns);

/* --once, and nothing is left; *failed: the store could not be asked. */
bool coll_work_over(const struct coll_work *w, bool *failed);

/* As of the last scan: runs that wait, and runs that are put aside. */
uint64_t coll_work_waiting(const struct coll_work *w);
uint64_t coll_work_dead(const struct coll_work *w);

#endif
