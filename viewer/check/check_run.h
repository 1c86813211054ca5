/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the gate keeps of a run: enough to hold it against budgets and against another run, small
 * enough for a repository. Made from a summary and its steps, or read from a baseline file.
 * Strings live in the arena that was given. Plain data; one thread at a time.
 */
#ifndef CHECK_RUN_H
#define CHECK_RUN_H

#include "check_series.h"
#include "summary/summary.h"

#define CHECK_HOTSPOTS_MAX 20

struct check_hotspot { /* a finding */
	enum ana_class class;
	const char *file, *function; /* NULL: not known */
	uint32_t line; /* 0: not known */
	int64_t ns; /* of GPU time */
};

struct check_outcome { /* what it brought forth: num / den of a unit */
	const char *unit;
	int64_t num, den;
	enum view_outcome_bound bound; /* of so many */
	enum view_outcome_source source; /* of a baseline file: not known, VIEW_OUTCOME_LOADER */
};

#define CHECK_PARTLY "kernels were not recorded for a part of the run (excluded.unobserved)"

struct check_run {
	const char *id;
	const char *hardware; /* "8x NVIDIA H100 80GB HBM3", sorted, with every MIG profile */
	const char *dataset; /* label `dataset`, else the data set's class; NULL: not known */
	const char *price; /* "$6.88 per GPU-hour (aws ..., on-demand, 2026-11-09)"; NULL: none */
	int64_t nano_usd_per_hour; /* of all its GPUs; -1: not known */
	int64_t gpus, ranks;
	int64_t workers, batch_size; /* -1: not known */
	int64_t cores; /* that the job could use; 0: not known */
	enum ana_window window;
	uint32_t rules; /* that gave the classes */
	enum facts_run_kind kind; /* unknown of one from a baseline file */
	bool simulated, complete;
	int exit_status; /* 0: it ended well, or it is not known how; of a baseline file, too */
	bool partly; /* kernels were not recorded for a part of it: nothing is known per step */
	int64_t gpu_ns, starved_ns, wasted_ns;
	int64_t classes[ANA_CLASSES]; /* sum to gpu_ns */
	int64_t total_nano_usd, wasted_nano_usd, starved_nano_usd; /* 0 without a price */
	uint64_t steps; /* as summary.json counts them */
	struct check_outcome outcome[VIEW_OUTCOMES_MAX];
	size_t outcomes;
	int64_t batches; /* that its one loader gave; -1: not known, or of several */
	int64_t step_median_ns, step_p95_ns; /* -1: not known */
	int64_t step_fed_median_ns; /* of steps less their waits for the loader; -1 */
	struct check_hotspot hotspot[CHECK_HOTSPOTS_MAX]; /* most time first */
	size_t hotspots;
	struct check_series series; /* owned; empty if there are no steps */
};

/* Fills all but the series, which is taken over if given. */
void check_run_make(struct check_run *run, struct base_arena *mem, const struct view_summary *s,
		    struct check_series *series);
void check_run_fini(struct check_run *run);

/* How many samples a step is of, or else batches. */
struct view_step_work check_run_work(const struct check_run *run, bool batches);

/* NULL, or why the two must not be compared, as "different GPUs (2x A100 and 1x H100)". */
const char *check_run_differ(struct base_arena *mem, const struct check_run *old,
			     const struct check_run *new);

#endif
