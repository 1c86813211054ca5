/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a stop of a job would lose now: each of its runs is looked at once, as `top` does, and their
 * sums are taken. For scripts that preempt and cull.
 */
#ifndef TOP_STOP_H
#define TOP_STOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "cost/rates.h"
#include "live/run.h"

struct top_stop_options { /* as given on the command line; NULL: not given */
	const char *dir, *cluster; /* of jobs and runs that are named by their id */
	const char *token_file, *ca_file; /* of a collector's address */
	struct view_rate_options rates;
};

#define TOP_STOP_GPUS_MAX 512u /* of which it is looked whether several runs have them */

struct top_stop { /* sums over the runs that go on */
	size_t on, untold; /* runs; those of which it is not known what would be lost */
	size_t serving; /* runs whose trace is small, and inference as far as it goes */
	size_t untraced; /* runs that go on, and whose directory has no trace yet; none of @on */
	int64_t ns, most_ns, nano_usd; /* of all GPUs; of one; dollars */
	bool priced, unsaved, saving; /* unsaved: some run has no checkpoint */
	/* What some run wrote may be a checkpoint: the sums are the most that can be lost. */
	bool unsure;
	bool deleted; /* of the last such run that is a checkpoint that was deleted, ... */
	bool unmoved; /* ... or one that is to be renamed to its place, and was not */
	uint64_t unsure_bytes; /* by the last such run; 0: not known */
	int64_t unsure_for_ns; /* ago; -1: not known */
	uint64_t saved_bytes; /* of the last run's newest checkpoint; 0: not known */
	enum live_small small; /* of the last run whose newest is a small state; its bytes */
	uint64_t small_bytes;
	int64_t sure_ns, sure_most_ns, sure_nano_usd; /* the sums if no such counts */
	struct top_stop_gpu { /* what it was held counts once, the most of any run */
		char uuid[40];
		int64_t ns;
	} gpu[TOP_STOP_GPUS_MAX];
	size_t gpus;
	char grade; /* of the worst run whose trace is small; 0: none */
};

/*
 * Of a scheduler's job, a run's id or directory, or a collector's address of a run. False: it
 * cannot be looked at, which was said.
 */
bool top_stop_look(struct top_stop *f, const char *id, const struct top_stop_options *o);

#endif
