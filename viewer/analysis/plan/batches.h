/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a loader's batches say of a rhythm (period.h) that takes several of them. It is the step
 * where they are alike, as those are that gather gradients. Where the names of the work change from
 * batch to batch it only tells when the names come again. All over symbols: @symbol[0..n), each
 * from 0 to @symbols - 1. Pure.
 *
 * @batches: the waits for a batch meanwhile. Each iterator may have one more than it gave, for that
 * which tells that there are no more: half of them gave a batch, at the least.
 */
#ifndef ANALYSIS_BATCHES_H
#define ANALYSIS_BATCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* So many rounds cannot be the batches, nor twice or more of them. */
static inline bool ana_batches_are_more(uint64_t batches, size_t rounds)
{
	return batches >= 16 && batches / 4 >= rounds;
}

/*
 * Whether less than half of the work is of a kind that came three or four batches before, too. 1, 0
 * or -ENOMEM.
 */
int ana_batches_differ(const uint32_t *symbol, size_t n, uint32_t symbols, uint64_t batches);

/*
 * *at: the first of the kind that comes once a batch, evenly; -1: there is none. 0 or -ENOMEM.
 */
int ana_batches_anchor(const uint32_t *symbol, size_t n, uint32_t symbols, uint64_t batches,
		       long *at);

#endif
