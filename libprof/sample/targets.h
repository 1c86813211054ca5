/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whom the sampler looks at: the submitting threads, the loader's pin thread, those who hold what
 * others wait for (givers.h), other Python threads that are at work, the main threads of workers,
 * and processes that write to who waits, with those of their threads that are at work. Where all
 * who submitted have ended, as a thread of its own per request does: the main thread, and the
 * Python threads that ran since, one of which starts the next. Sampler thread only.
 */
#ifndef PROF_TARGETS_H
#define PROF_TARGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "children.h"
#include "givers.h"
#include "nativelink.h"
#include "thread_sample.h"

#define PROF_TARGETS_OWN 16u
#define PROF_TARGETS_SCANNED 1024u /* a power of two */
#define PROF_TARGETS_WORKERS 128u
#define PROF_TARGETS_STRANGERS 32u /* processes that are no workers */
#define PROF_TARGETS_TASKS 16u /* threads of one that are told apart */

struct prof_target_thread {
	pid_t tid;
	uint8_t role; /* enum wire_role */
	int64_t native_ns; /* when its native stack was read last */
};

struct prof_target_task { /* a thread of another process */
	pid_t tid;
	bool works; /* it ran since it was looked at last */
	uint64_t cpu_ns;
};

struct prof_target_worker {
	pid_t pid;
	struct prof_target *target;
	bool stranger; /* it is here for what it holds alone */
	int64_t settled_ns;
	int64_t made_ns; /* when it was last known to make what is awaited; 0: never */
	int64_t tasks_ns; /* when its threads were read */
	struct prof_target_task task[PROF_TARGETS_TASKS];
	uint32_t task_turn; /* of those that do not work: which is looked at next */
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
	/* all who were seen to submit have ended: whoever starts the next one is looked for */
	bool bereft;
	struct prof_scanned scanned[PROF_TARGETS_SCANNED]; /* by thread id */
	uint64_t scans;
	size_t scan_at; /* in the list of threads: where the next scan goes on */
	struct prof_children children;
	struct prof_target_worker worker[PROF_TARGETS_WORKERS];
	size_t workers, strangers;
	size_t turn, makers_turn, tasks_turn, settle_turn; /* whose it is to be looked at next */
	int64_t now_ns; /* of the last look for those who make */
	uint32_t where; /* those are looked for first */
	size_t maker_at; /* of this process's threads that make */
	struct prof_givers givers;
	struct prof_nativelink native;
};

/* 0 or -ENOMEM. */
int prof_targets_init(struct prof_targets *c);

/* Who submits now. Allocates nothing. */
void prof_targets_submitters(struct prof_targets *c);

/*
 * Who else is at work in this process: some of the Python threads, others the next time. Walks the
 * stacks of those that have run, and of each a few times only. Under the fork lock. @sample: to
 * work with.
 */
void prof_targets_scan(struct prof_targets *c, int64_t now_ns, struct prof_thread_sample *sample);

/*
 * Which workers there are that do not sample themselves: opens and closes targets, at most a few at
 * a time. Not under the fork lock.
 */
void prof_targets_workers(struct prof_targets *c, int64_t now_ns);

/*
 * Which hold what is awaited, of this process and of others: some are looked through at each call.
 * Under the fork lock.
 */
void prof_targets_makers(struct prof_targets *c, int64_t now_ns);

/* The next process in turn, one that makes or another one; NULL: there is none. */
struct prof_target_worker *prof_targets_next(struct prof_targets *c, bool makes);

/* How many of either kind there are. */
size_t prof_targets_count(const struct prof_targets *c, bool makes);

#endif
