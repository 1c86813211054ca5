/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files, hosts and peers that threads were blocked on while GPUs waited for input: for how
 * long, and how fast they gave, where that is known. At most ANA_TARGETS_MAX are kept; of more the
 * half with less time is forgotten. One thread.
 */
#ifndef ANALYSIS_TARGETS_H
#define ANALYSIS_TARGETS_H

#include "analysis/ledger.h"
#include "frames.h"

#define ANA_TARGETS_MAX 1024u
#define ANA_TARGETS_TOLD 10u

struct ana_targets {
	struct ana_targets_row {
		struct ana_target target; /* its texts are owned */
		uint64_t hash;
	} * row;
	size_t count, room;
};

void ana_target_fini(struct ana_target *t);
void ana_targets_fini(struct ana_targets *t);

/* Adds to the target of that name what @more has; its texts are ignored. 0 or -ENOMEM. */
int ana_targets_add(struct ana_targets *t, struct ana_text name, struct ana_text fs,
		    const struct ana_target *more);

/* Adds those of another part of the run. 0 or -ENOMEM. */
int ana_targets_merge(struct ana_targets *to, const struct ana_targets *from);

/*
 * The slowest ones, at most ANA_TARGETS_TOLD, most time first; they are now the caller's. 0 or
 * -ENOMEM.
 */
int ana_targets_finish(struct ana_targets *t, struct ana_target **out, size_t *count);

struct ana_archive; /* archive.h */
void ana_targets_archive(struct ana_targets *t, struct ana_archive *a);

#endif
