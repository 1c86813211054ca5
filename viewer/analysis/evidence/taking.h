/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the trainer takes for a batch that is made: from the end of its making, or from the call of
 * next() where that came later, to the call's return. It lies between a step's batch and its work
 * on the GPU however long either takes, so that no wait for the loader is left in it. Rows come in
 * any order. One thread.
 */
#ifndef ANALYSIS_TAKING_H
#define ANALYSIS_TAKING_H

#include "analysis/ledger.h"
#include "wire/evidence.h"

#define ANA_TAKING_WAITING 512u /* batches of which one side is known; of more the oldest go */

struct ana_taking_batch {
	uint64_t batch;
	int64_t start_ns, end_ns; /* of the side that is known */
	uint32_t loader;
	uint32_t made; /* that side is its making, not its taking */
};

struct ana_taking {
	struct ana_taking_batch *waiting; /* a ring of ANA_TAKING_WAITING, made when it is needed */
	uint32_t head, count; /* the oldest; how many */
};

/*
 * A FETCH or TAKE row of iterator b->loader, whose loader is @f: counts in f->handed and
 * f->hand_ns. 0 or -ENOMEM.
 */
int ana_taking_add(struct ana_taking *t, struct ana_loader_facts *f, const struct wire_batch *b);

/* On average, rounded up. -1: not known. */
int64_t ana_loader_hand_ns(const struct ana_loader_facts *f);

void ana_taking_fini(struct ana_taking *t);

struct ana_archive; /* archive.h */
void ana_taking_archive(struct ana_taking *t, struct ana_archive *a);

#endif
