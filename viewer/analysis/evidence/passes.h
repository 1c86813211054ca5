/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many batches and samples the loaders of one process gave to it: a batch counts when next()
 * returned it, with the samples that whoever made it counted. What was made and never taken, and
 * calls that ended without a batch, count nothing. Rows come in any order. One thread.
 *
 * Of a loader that was in use before the record began, the batches up to the first one that is told
 * of count, too; where no row tells of them, they were full ones: a later one came.
 */
#ifndef ANALYSIS_PASSES_H
#define ANALYSIS_PASSES_H

#include <stdbool.h>
#include <stddef.h>
#include "analysis/ledger.h"
#include "wire/evidence.h"

#define ANA_PASSES_WAITING 512u /* batches of which one side is known; of more the oldest go */

struct ana_pass { /* of an iterator */
	uint64_t first; /* index of the first batch that is told of; UINT64_MAX: none yet */
	uint64_t batches;
};

struct ana_pass_batch {
	uint64_t batch;
	uint32_t loader, samples; /* samples 0: it was taken, and its making is not told yet */
};

struct ana_passes {
	struct ana_pass *pass; /* by the iterator's number */
	uint32_t passes;
	struct ana_pass_batch *waiting; /* a ring of ANA_PASSES_WAITING, made when it is needed */
	uint32_t head, count; /* the oldest; how many */
};

void ana_passes_fini(struct ana_passes *g);

/* A FETCH or TAKE row of iterator b->loader, whose loader is @f. 0 or -ENOMEM. */
int ana_passes_add(struct ana_passes *g, struct ana_loader_facts *f, const struct wire_batch *b);

void ana_loader_given_add(struct ana_loader_given *to, const struct ana_loader_given *from);

/* Samples that were given, exactly. False: not known. */
bool ana_loader_samples(const struct ana_loader_facts *f, uint64_t *samples);

/*
 * How often each trainer went over the loader, as a reduced fraction: passes that came to their
 * end, and of those that did not as many batches as they had. False: not known.
 */
bool ana_loader_epochs(const struct ana_loader_facts *f, uint64_t *num, uint64_t *den);

/* Whether several loaders gave batches, or one that went over several data sets. */
bool ana_loaders_differ(const struct ana_result *r);

struct ana_archive; /* archive.h */
void ana_loader_given_archive(struct ana_loader_given *g, struct ana_archive *a);
void ana_passes_archive(struct ana_passes *g, struct ana_archive *a);

#endif
