/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many loader workers a training loop needs, by Little's law: batches in the making = rate x
 * time to make one. Pure arithmetic in integer nanoseconds; docs/CAUSES.md tells it in words. Every
 * step of it errs towards the faster run, so that the predicted step is the least there can be and
 * the saving that follows from it the most; but for most_step_ns, which errs the other way. Any
 * thread.
 */
#ifndef VIEW_WORKER_COUNT_H
#define VIEW_WORKER_COUNT_H

#include <stdbool.h>
#include <stdint.h>

#define VIEW_LACK_PART 10 /* of making a batch: more than that without a CPU, and nothing is sure */
/*
 * Of what slow batches leave, so much is sure: handing over, first batches and crowded cores take
 * their part. 59 to 96 % of the bound came true in 20 plays on cores that others used, too
 * (docs/MEASUREMENTS.md).
 */
#define VIEW_SURE_PART 2

struct view_worker_facts { /* of one trainer, per batch */
	int64_t workers; /* 0: the trainer makes the batches itself */
	int64_t fetch_ns; /* one worker's time for a batch, less what it waited for a CPU */
	int64_t fetch_cpu_ns; /* of it on a CPU; 0: not known */
	int64_t fetch_delay_ns; /* beside it: could run and had no CPU */
	int64_t fetch_slow_ns; /* of the slowest twentieth, with that; 0: not known */
	int64_t step_ns; /* from batch to batch, on average */
	int64_t wait_ns; /* of it, waits for the loader while the GPU had nothing to do */
	int64_t fed_median_ns; /* median step without its wait; -1: not known */
	int64_t cores; /* that the trainer and its workers may use; 0: not known */
};

enum view_worker_bound { /* what the predicted step takes its time from */
	VIEW_WORKERS_STEP, /* the step itself: the loader keeps up */
	VIEW_WORKERS_CORES, /* making batches: more workers would not find a core */
	VIEW_WORKERS_LIMIT, /* making batches: more workers than are sensible would be needed */
	VIEW_WORKERS_BOUNDS
};
extern const char *const view_worker_bounds[VIEW_WORKERS_BOUNDS]; /* step, cores, limit */

struct view_worker_count {
	int64_t needed; /* workers with which the loader keeps up, whatever cores there are */
	int64_t advised; /* of them, as many as are of use here; at least the present ones */
	int64_t predicted_step_ns; /* with the advised ones, at least */
	int64_t most_step_ns; /* the same, at most; step_ns: they may bring nothing */
	int64_t cores_needed; /* for that many workers and the trainer; 0: not known */
	enum view_worker_bound bound;
};

/* False: the facts do not suffice (no fetch or step was seen, or the waits exceed the steps). */
bool view_worker_count_find(const struct view_worker_facts *f, struct view_worker_count *n);

/* To keep up would take more cores than are sensible: making a batch has to get cheaper first. */
bool view_worker_count_is_beyond(const struct view_worker_facts *f,
				 const struct view_worker_count *n);

#endif
