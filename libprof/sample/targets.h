/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whom the sampler looks at: the submitting threads, the loader's pin thread, other Python threads
 * that are at work, and the main threads of workers. Sampler thread only.
 */
#ifndef PROF_CREW_H
#define PROF_CREW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "children.h"
#include "thread_sample.h"

#define PROF_CREW_OWN 16u
#define PROF_CREW_SEEN 1024u /* a power of two */
#define PROF_CREW_WORKERS 128u

struct prof_member {
	pid_t tid;
	uint8_t role; /* enum wire_role */
	int64_t native_ns; /* when its native stack was read last */
};

struct prof_worker {
	pid_t pid;
	struct prof_target *target;
	int64_t settled_ns;
};

struct prof_seen { /* a Python thread at its last muster; may be overwritten by another's */
	pid_t tid;
	uint8_t walks; /* of its stack, so far */
	bool pins; /* it is a loader's pin thread */
	uint64_t cpu_ns;
	int64_t t_ns;
};

struct prof_crew {
	struct prof_target *self;
	struct prof_member member[PROF_CREW_OWN]; /* submitters first */
	size_t members, submitters;
	struct prof_seen seen[PROF_CREW_SEEN]; /* by thread id */
	size_t muster_at; /* in the list of threads: where the next muster goes on */
	struct prof_children children;
	struct prof_worker worker[PROF_CREW_WORKERS];
	size_t workers, turn; /* turn: whose it is to be looked at next */
};

/* 0 or -ENOMEM. */
int prof_crew_init(struct prof_crew *c);

/* Who submits now. Allocates nothing. */
void prof_crew_submitters(struct prof_crew *c);

/*
 * Who else is at work in this process: some of the Python threads, others the next time. Walks the
 * stacks of those that have run, and of each a few times only. Under the gate. @look: to work with.
 */
void prof_crew_muster(struct prof_crew *c, int64_t now_ns, struct prof_look *look);

/* Which workers there are that do not look at themselves: opens and closes targets, at most a few at a time. Not under the gate. */
void prof_crew_workers(struct prof_crew *c, int64_t now_ns);

/* The next worker in turn; NULL: there are none. */
struct prof_worker *prof_crew_next(struct prof_crew *c);

#endif
