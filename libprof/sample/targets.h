/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whom the sampler looks at: the submitting threads, the loader's pin thread, other Python threads
 * that are at work, and the main threads of workers. Sampler thread only.
 */
#ifndef PROF_TARGETS_H
#define PROF_TARGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "children.h"
#include "thread_sample.h"

#define PROF_TARGETS_OWN 16u
#define PROF_TARGETS_SCANNED 1024u /* a power of two */
#define PROF_TARGETS_WORKERS 128u

struct prof_target_thread {
	pid_t tid;
	uint8_t role; /* enum wire_role */
	int64_t native_ns; /* when its native stack was read last */
};

struct prof_target_worker {
	pid_t pid;
	struct prof_target *target;
	int64_t settled_ns;
};

struct prof_scanned { /* a Python thread at the last scan; may be overwritten by another's */
	pid_t tid;
	uint8_t walks; /* of its stack, so far */
	bool pins; /* it is a loader's pin thread */
	uint64_t cpu_ns;
	int64_t t_ns;
};

struct prof_targets {
	struct prof_target *self;
	struct prof_target_thread thread[PROF_TARGETS_OWN]; /* submitters first */
	size_t threads, submitters;
	struct prof_scanned scanned[PROF_TARGETS_SCANNED]; /* by thread id */
	size_t scan_at; /* in the list of threads: where the next scan goes on */
	struct prof_children children;
	struct prof_target_worker worker[PROF_TARGETS_WORKERS];
	size_t workers, turn; /* turn: whose it is to be looked at next */
};

/* 0 or -ENOMEM. */
int prof_targets_init(struct prof_targets *c);

/* Who submits now. Allocates nothing. */
void prof_targets_submitters(struct prof_targets *c);

/*
 * Who else is at work in this process: some of the Python threads, others the next time. Walks the
 * stacks of those that have run, and of each a few times only. Under the fork lock. @sample: to work with.
 */
void prof_targets_scan(struct prof_targets *c, int64_t now_ns, struct prof_thread_sample *sample);

/*
 * Which workers there are that do not sample themselves: opens and closes targets, at most a few at a
 * time. Not under the fork lock.
 */
void prof_targets_workers(struct prof_targets *c, int64_t now_ns);

/* The next worker in turn; NULL: there are none. */
struct prof_target_worker *prof_targets_next_worker(struct prof_targets *c);

#endif
