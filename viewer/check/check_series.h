/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps of a run, kept so that two runs can be compared: each step's time up to the start of
 * the next (what is paid for it, whatever lies between two step ranges) and how long of it the GPUs
 * were idle under a loader wait. Of many steps, 2^k neighbours are kept as one sum, so that memory
 * and the baseline file stay small and yet every step counts.
 *
 * Of a run of several ranks one process stands for all: of those with most steps the lowest rank,
 * for in data-parallel training all take the same steps. Caller-owned; one thread at a time.
 */
#ifndef CHECK_SERIES_H
#define CHECK_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "analysis/ledger.h"

#define CHECK_ITEMS_RAW 65536 /* per process while a run is read */
#define CHECK_ITEMS_KEPT 4096 /* of the process that stands for the run, afterwards */
#define CHECK_QUANTILES 11

/* In permille: 10 50 100 250 500 750 900 950 990 999 1000. */
extern const unsigned int check_permille[CHECK_QUANTILES];

struct check_item { /* of check_series.width neighbouring steps */
	int64_t ns; /* from start to start */
	int64_t exposed_ns; /* of it; at most ns */
};

struct check_series {
	struct check_item *item; /* in order of time */
	size_t count;
	uint64_t width; /* steps in each item */
	uint64_t steps; /* seen, warm-up included */
	uint64_t warmup; /* dropped in front */
	uint64_t rest; /* dropped at the end, for they filled no item */
	int64_t quantile_ns[CHECK_QUANTILES]; /* of single steps without the warm-up; -1: none */
};

struct check_collect; /* private: one series per process, while the engine runs */

/* @warmup: steps to drop in front, -1: as many as look like it. NULL: no memory. */
struct check_collect *check_collect_new(int64_t warmup);

/* ana_options.on_step; @arg is the collect. Runs out of memory quietly: see check_collect_end. */
void check_collect_step(void *arg, const struct ana_step *s);

/* Takes the series that stands for the run out of @c. 0, -ENODATA (no steps) or -ENOMEM. */
int check_collect_end(struct check_collect *c, const struct ana_result *r, struct check_series *s);
void check_collect_free(struct check_collect *c); /* NULL is fine */

/*
 * Leaves what lies within the first @steps, warm-up included; of items of several steps those that
 * end there. Quantiles stay those of all.
 */
void check_series_cut(struct check_series *s, uint64_t steps);

void check_series_fini(struct check_series *s);

/*
 * How many steps in front are warm-up: up to the last one that takes over twice the median, within
 * the first tenth and the first 100; at least the first. Pure; exported for its test.
 */
size_t check_warmup(const struct check_item *item, size_t count);

#endif
