/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the loaders of one process tell of themselves: their settings, and sums over the steps in
 * the life of their batches. Iterators with the same settings count as one loader, whatever they go
 * over: one is often made anew, for each epoch or each part of the data. One thread.
 */
#ifndef ANALYSIS_LOADERS_H
#define ANALYSIS_LOADERS_H

#include "analysis/ledger.h"
#include "analysis/time/span.h"
#include "analysis/time/durations.h"
#include "passes.h"
#include "taking.h"
#include "wire/evidence.h"
#include "wire/strtab.h"

#define ANA_LOADERS_APART_MAX 1024u /* where they are told apart; of more none is known */
#define ANA_BATCH_UNKNOWN UINT64_MAX /* wire_batch.batch: nobody knows which */

struct ana_loader { /* all iterators of the same settings */
	struct ana_loader_facts facts; /* its texts are owned */
	char *settings;
	struct ana_durations fetches;
	int64_t first_ns, last_ns;
	uint32_t over; /* what the first one goes over (wire/evidence.h); 0: not told */
};

struct ana_loaders {
	const struct wire_strtab *table; /* borrowed */
	bool apart; /* those that go over different things are told apart; not to be merged */
	struct ana_loader *loader;
	uint32_t count, room;
	uint32_t *of; /* iterator number to loader, UINT32_MAX: not known */
	uint32_t ofs;
	struct ana_passes passes;
	struct ana_taking taking;
};

void ana_loaders_init(struct ana_loaders *l, const struct wire_strtab *table);
void ana_loaders_fini(struct ana_loaders *l);

/* One row. 0 or -ENOMEM. */
int ana_loaders_add(struct ana_loaders *l, const struct wire_batch *b);

/* Of the iterator with this number, NULL: not known. */
const struct ana_loader_facts *ana_loaders_get(const struct ana_loaders *l, uint32_t iterator);

/*
 * Adds the loaders of another process; finish makes facts of the sums, most time in next() first.
 */
int ana_loaders_merge(struct ana_loaders *to, const struct ana_loaders *from);
/* For merging alone. Read into zeroed ones; fini in any case. */
struct ana_archive; /* archive.h */
void ana_loaders_archive(struct ana_loaders *l, struct ana_archive *a);
/* The same, and what more is asked for where rows are still added. */
void ana_loaders_archive_open(struct ana_loaders *l, struct ana_archive *a);

int ana_loaders_finish(struct ana_loaders *l, struct ana_loader_facts **out, size_t *count);

#endif
