/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lease of a claim, refreshed while the run is fetched and analysed, by a thread that does
 * nothing else. What does not succeed is counted (work_troubles), and so is a lease that has run
 * out meanwhile (work_lost). Calls are the loop's.
 */
#ifndef COLL_WORK_WORK_KEEP_H
#define COLL_WORK_WORK_KEEP_H

#include <stdbool.h>
#include <stdint.h>
#include "claim.h"
#include "core/context.h"
#include "core/worker.h"
#include "retain/limits.h"

struct coll_work_keep {
	/* to be set first; borrowed */
	struct coll_work_claim *claim;
	const struct coll_limits *limits; /* how long a lease is good */
	struct coll_context *context;
	/* of ours */
	struct coll_worker worker;
	struct coll_job job;
	struct objects_trouble trouble;
	int err;
	bool busy; /* the job is on its way */
	int64_t kept_ns; /* monotonic: when it was refreshed last; 0: there is none */
};

/* 0 or -errno. */
int coll_work_keep_init(struct coll_work_keep *k);

/* After coll_work_keep_init, whatever it said: waits until no call is under way. */
void coll_work_keep_fini(struct coll_work_keep *k);

/* From now on there is one; there is none any more. */
void coll_work_keep_begin(struct coll_work_keep *k, int64_t now_ns);
void coll_work_keep_end(struct coll_work_keep *k);

/* To be called about once a second. */
void coll_work_keep_tick(struct coll_work_keep *k, int64_t now_ns);

#endif
