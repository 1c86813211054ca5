/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs in our folder that were recorded without us: their processes found no collector and wrote
 * spool files. Looked for at the start and every COLL_UNSENT_EVERY_S; whoever writes one may live
 * or be dead, its file is followed as those beside known streams are, frame by frame (outbox.h).
 *
 * A run directory without a cursor that holds a spool file is given one, and is forwarded from then
 * on. But what lay there before the folder first had an upstream is nobody's to send:
 * BASE/.upstream-not names these runs, a line each, and is made once. A run that was begun at most
 * COLL_UNSENT_WITH_US_S before that was begun along with us, and is sent. Who does not want a run
 * to be sent adds a line (and removes its cursor). Without that file nothing is forwarded.
 *
 * The folders of jobs (retain/job_dirs.h) are taken up like these, for no stream tells of them, but
 * not while a run of theirs stays here: a centre would take its GPUs for unused.
 *
 * And runs that were forwarded and over, in which somebody has gone on since: some at a time. One
 * thread.
 */
#ifndef COLL_UNSENT_RUNS_H
#define COLL_UNSENT_RUNS_H

#include "outbox.h"

#define COLL_UNSENT_FILE ".upstream-not"
#define COLL_UNSENT_EVERY_S 5
#define COLL_UNSENT_WITH_US_S 60 /* realtime, by the last change of the run's directory */
#define COLL_UNSENT_DONE_EACH 64 /* so many runs that are done are looked at again each time */

/* Numbers that are made of a directory's name and of which one it is. Zero: empty. */
struct coll_unsent_set {
	uint64_t *at; /* 0: free */
	size_t count, room; /* room: a power of two, or 0 */
};

struct coll_unsent_runs {
	int64_t next_ns; /* monotonic */
	size_t looked; /* how many of the runs that are done had their turn */
	bool logged; /* that the list cannot be made or read */
	struct coll_unsent_set
		done; /* had a cursor when it was last looked, and are not asked again */
};

void coll_unsent_runs_fini(struct coll_unsent_runs *s);

/* If it is time. How many were taken up. */
size_t coll_unsent_runs_scan(struct coll_unsent_runs *s, struct coll_outbox *o, int64_t now_ns);

#endif
