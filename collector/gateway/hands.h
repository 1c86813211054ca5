/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that wait for the object store, so that the loop need not: workers (core/worker.h), of
 * which the one with the least to do gets a job. One thread, the loop's.
 */
#ifndef COLL_HANDS_H
#define COLL_HANDS_H

#include "core/worker.h"

#define COLL_HANDS 16

struct coll_hands {
	struct coll_worker worker[COLL_HANDS];
	size_t ready; /* of them */
};

/* 0 or -errno; fini is right in both cases. */
int coll_hands_init(struct coll_hands *h, struct coll_loop *loop);

/* After coll_hands_out was 0. */
void coll_hands_fini(struct coll_hands *h);

void coll_hands_give(struct coll_hands *h, struct coll_job *job);

/* The same; jobs of one @key are done in their order. */
void coll_hands_give_keyed(struct coll_hands *h, struct coll_job *job, uint64_t key);

/* Jobs that are not done. */
size_t coll_hands_out(const struct coll_hands *h);

#endif
