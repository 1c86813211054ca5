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
#include "look.h"

#define PROF_CREW_OWN 16u
#define PROF_CREW_SEEN 64u
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

struct prof_seen { /* a Python thread at the last muster */
	pid_t tid;
	uint64_t cpu_ns;
};

struct prof_crew {
	struct prof_target *self;
	struct prof_member member[PROF_CREW_OWN]; /* submitters first */
	size_t members, submitters;
	struct prof_seen seen[PROF_CREW_SEEN];
	size_t seens;
	int64_t muster_ns;
	struct prof_children children;
	struct prof_worker worker[PROF_CREW_WORKERS];
	size_t workers, turn; /* turn: whose it is to be looked at next */
};

/* 0 or -ENOMEM. */
int prof_crew_init(struct prof_crew *c);

/* Who submits now. Allocates nothing. */
void prof_crew_submitters(struct prof_crew *c);

/*
 * Who else is at work in this process: walks the stacks of Python threads, once in a while. Under
 * the gate. @look: to work with.
 */
void prof_crew_muster(struct prof_crew *c, int64_t now_ns, struct prof_look *look);

/* Which workers there are that do not look at themselves: opens and closes targets, at most a few at a time. Not under the gate. */
void prof_crew_workers(struct prof_crew *c, int64_t now_ns);

/* The next worker in turn; NULL: there are none. */
struct prof_worker *prof_crew_next(struct prof_crew *c);

#endif
