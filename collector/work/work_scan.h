/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What there is to do in an object store, from lists alone: teams, their runs, the marks of
 * these. A list of a folder names a thousand runs, and one of their marks some hundreds. What
 * bounds memory is COLL_WORK_SCAN_RUNS of a team: of more, another part each time. Calls block;
 * one thread at a time.
 */
#ifndef COLL_WORK_SCAN_H
#define COLL_WORK_SCAN_H

#include <stdatomic.h>
#include <stdbool.h>
#include "candidates.h"
#include "claim.h"

#define COLL_WORK_SCAN_RUNS 65536u

struct coll_work_told { /* of a run */
	struct coll_work_place place;
	bool digest, dead, busy, left; /* left: a lease that has run out */
	int64_t settled_s; /* how old its newest digest or dead mark is; -1: none */
};

struct coll_work_scan {
	struct objects *store;
	struct coll_work_rules rules;
	int64_t ahead_s; /* of the last claim */
	struct coll_work_candidates *found; /* borrowed */
	const atomic_bool *stop;
	/* Instead of found: called for each run; may be NULL. */
	void (*tell)(void *arg, const struct coll_work_told *t);
	void *arg;
	/* made by the scan */
	uint64_t teams, runs, dead;
	bool empty; /* nothing lies there: no run, and no mark of one that was */
};

/* What is said of an empty one; %s: its URL. */
#define COLL_WORK_EMPTY "nothing lies below %s, no run and no mark of one; is the prefix right?"

/* 0 or negative errno, -ECANCELED once *stop is set. */
int coll_work_scan(struct coll_work_scan *s, struct objects_trouble *t);

#endif
