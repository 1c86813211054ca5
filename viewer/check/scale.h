/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a faster GPU or more ranks on the same cores would do, from how fast the loader was measured
 * to be and how long a step takes without its waits. A prediction and a bound, per trainer:
 *
 *   step without waits   fed' = fed - (compute per step) x (1 - 1/K)
 *   loader               a run that starves while its workers never rest shows its pace: a batch
 *                        takes what a step took; one that keeps up: fetch time / workers, or, with N
 *                        times the ranks, CPU time per batch x ranks / cores if that is more
 *   step'                the longer of the two; a loader that keeps up and lets wait all the same (for
 *                        its first batch, or to hand each one over) does so again. With more ranks
 *                        each hand-over waits for cores, too (cores.h)
 *   starved share        of step', what is not fed', and the copy of the batch to the GPU
 *
 * The bound takes the least both could be (no waiting for a CPU, workers never idle), so that the
 * gain it names cannot be exceeded by changing the GPU alone. docs/gpustarve-check.md says what is
 * left out: communication is assumed to stay as it is. Pure integers.
 */
#ifndef CHECK_SCALE_H
#define CHECK_SCALE_H

#include "summary/summary.h"

struct check_scale {
	int64_t faster_ppm; /* K in millionths: the GPU; 1e6: the same */
	int64_t ranks; /* as many in all; 0: as now */
};

struct check_prediction {
	int64_t step_now_ns, step_ns; /* mean per trainer, predicted */
	int64_t fed_ns; /* of it without waits */
	int64_t loader_ns; /* the loader's time for a batch */
	int64_t loader_least_ns; /* and at the very least; 0: there are no workers */
	int64_t cores_ns; /* of step_ns: more waits for a core than now, at hand-overs */
	int64_t starved_ppm; /* of the predicted step */
	int64_t nano_usd_per_1k_steps; /* -1: no price is known */
	int64_t gain_most_ppm; /* steps per second: at most so much more; for the job as a whole */
	int64_t ranks_now, ranks;
	bool bound_by_loader, bound_by_cores;
};

/* False: not enough is known, *why (static) says what. */
bool check_scale_predict(const struct view_summary *s, const struct check_scale *q,
			 struct check_prediction *p, const char **why);

#endif
