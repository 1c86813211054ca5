/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pass over all runs that removes those that are too old, and those that the quotas have no
 * room for, oldest first. A run is never removed while a stream of it is open, nor within ten
 * minutes of its last write, nor before the upstream has all of it where it is forwarded; and,
 * where digests are wanted, not for its age before its digest was handed over, and for a quota then
 * only when no run may go whose digest was, or failed too often.
 *
 * A job is kept as a run is, while it goes on in any case; and its runs until its digest was handed
 * over, too. What goes all the same is marked in the job (job_dirs.h).
 *
 * With an index it looks at what may have changed, and at what it is about to remove, alone: what
 * else is to be asked of a run's files (its labels) is told, and not asked again.
 *
 * It runs in a process of its own, for removing a large directory takes long. It reports in lines,
 * of which the collector reads all but `removed` and `kept`:
 *
 *	keep TEAM RUN WRITTEN RULES FOR	so long it is to be kept, by its labels; all in nanoseconds
 *					but the number of the rules
 *	changed TEAM RUN		it is not what the index has
 *	clock SECONDS			so far it has jumped (sweep_clock.h): nothing is removed; else 0
 *	removed TEAM RUN BYTES: WHY
 *	kept TEAM RUN: WHY
 *	digest TEAM RUN			it is to be made
 *	job TEAM JOB BYTES WRITTEN	the same of a job, with its runs' traces and their last
 *					write, in nanoseconds
 *	unbilled RUNS			removed without digest (unbilled.h)
 *	parked RUNS			it failed too often (digest_tries.h)
 *	team TEAM BYTES RUNS
 *	waiting RUNS BYTES		they are to go, and are not forwarded yet
 *	total BYTES RUNS REMOVED_BYTES REMOVED_RUNS
 *
 * TEAM is `-` where BASE itself is meant.
 */
#ifndef COLL_SWEEP_H
#define COLL_SWEEP_H

#include <stdbool.h>
#include <stdint.h>
#include "limits.h"
#include "remove_run.h"

#define COLL_SWEEP_EVERY_S 600 /* of a collector that serves */
#define COLL_SWEEP_YOUNG_S 600 /* since its last write: somebody may still be at it */

struct coll_run_index;
struct coll_use;

struct coll_sweep {
	const char *base;
	const struct coll_limits *limits;
	bool dry; /* say what would go, remove nothing */
	uint64_t need; /* bytes that the quota must have room for */
	const struct coll_use *uses; /* list; what each team's quota must have room for */
	bool digests; /* name runs without digest, and keep them longer */
	struct coll_run_index *index; /* NULL: all files are looked at */
	unsigned int rules; /* the number of these limits, for the index; not 0 with one */
	bool tidy; /* look for what earlier sweeps have left, and for marks that are too old */
	coll_run_dispensable *dispensable; /* see remove_run.h */
};

/* Lines go to descriptor @out. 0; 1: something could not be read or removed, told on stderr. */
int coll_sweep(const struct coll_sweep *s, int out);

#endif
