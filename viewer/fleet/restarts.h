/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs of one job under several ids (LEDGER 9): what each lost by itself becomes redone where a
 * later one began with a save of it or of one before, and unknown where there is a later one and
 * nothing tells what it began with.
 */
#ifndef FLEET_RESTARTS_H
#define FLEET_RESTARTS_H

#include "base/arena.h"
#include "digest.h"
#include "rollup.h"

struct fleet_restart {
	uint32_t job; /* runs of the same number are the same job's */
	bool within; /* the query; else it only tells what became of others */
	const char *run; /* id */
	const char *const *key; /* the caller's */
	int64_t start_ns, word_ns;
	base_wide held_ns, unpriced_ns;
	struct fleet_saves saves;
	const struct saves_chain *chain; /* NULL: not known */
};

/* Sorts them, and makes their saves those of the job. 0 or -ENOMEM. */
int fleet_restarts_join(struct fleet_restart *run, size_t runs);

#endif
