/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a loader's batches say of a rhythm (period.h) that takes several of them. It is the step
 * where they are alike, as those are that gather gradients. Where the names of the work change from
 * batch to batch it only tells when the names come again. And of one that comes several times in
 * each: where all kernels have one name it tells nothing, else it may be a layer, or a token of
 * many. All over symbols: @symbol[0..n), each from 0 to @symbols - 1. Pure.
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

#define ANA_BATCHES_FEW 4u /* operations: no step of a model is so short, but one graph may be */

/*
 * So many rounds of @period operations each are more than one in a batch: half as many again, of
 * rounds of few operations, four times as many of others.
 */
static inline bool ana_batches_are_fewer(uint64_t batches, size_t rounds, size_t period)
{
	const uint64_t least = period <= ANA_BATCHES_FEW ? batches + batches / 2 : 4 * batches;

	return batches >= 16 && rounds >= least;
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
