/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the index of runs (run_index.h) right, in steps that are bounded in time and in what they
 * look at: first the runs of which something is known to have changed, then the walk goes on. The
 * first walk goes as fast as it may; the next ones begin COLL_WALK_EVERY_S after each other at the
 * earliest and take COLL_WALK_RUNS runs a step, so a store of 100,000 runs is seen once an hour.
 */
#ifndef COLL_RUN_WALK_H
#define COLL_RUN_WALK_H

#include "run_index.h"

#define COLL_WALK_EVERY_S 600
#define COLL_WALK_RUNS 32 /* a step; a second */
#define COLL_WALK_STALE 256
#define COLL_WALK_NAMES_MAX 4096
#define COLL_WALK_FIRST_RUNS 4096 /* the same of the first walk */

/* To be called about once a second. */
void coll_run_walk_tick(struct coll_run_index *x, int64_t now_ns);

#endif
