/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one thread besides the loop: jobs that have to wait for a disk, one after another in the
 * order in which they were handed over, so that the loop need not wait. A job is its owner's, to
 * stay until done was called. What work touches nobody else changes meanwhile: work runs in the
 * thread, all else here in the loop's. The thread is there from the first job on; where it cannot
 * be had, jobs are done in the loop.
 */
#ifndef COLL_WORKER_H
#define COLL_WORKER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "loop.h"

struct coll_job {
	void (*work)(struct coll_job *job); /* in the thread */
	void (*done)(struct coll_job *job); /* in the loop */
	struct coll_job *next;
};

struct coll_jobs {
	struct coll_job *first, **last;
};

struct coll_worker {
	struct coll_loop *loop; /* borrowed */
	struct coll_source source; /* an eventfd: jobs are done */
	pthread_t thread;
	bool started;
	size_t out; /* jobs handed over of which done was not called yet */
	int64_t since_ns; /* monotonic: when the one that works now began, or earlier */

	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t changed;
	struct coll_jobs waiting, over;
	bool ending;
};

/* 0 or -errno; fini is right in both cases. */
int coll_worker_init(struct coll_worker *w, struct coll_loop *loop);

/* After coll_worker_drain. */
void coll_worker_fini(struct coll_worker *w);

/* From now on the job is on its way; done is called in a turn of the loop, never from here. */
void coll_worker_hand(struct coll_worker *w, struct coll_job *job);

/* For how long nothing that is on its way has come to its end; 0: nothing is. */
int64_t coll_worker_waits_ns(const struct coll_worker *w, int64_t now_ns);

/* Waits until no job is on its way, and calls done of each. done may hand over more. */
void coll_worker_drain(struct coll_worker *w);

#endif
