/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a page draws besides the totals: steps over time, what loader workers did, what the hosts'
 * code was doing while GPUs starved, and a closer look at the longest gaps. Computed in the
 * engine's one pass if ana_options.series asks for it, in memory that does not grow with the run,
 * and the same whatever the number of threads: each part belongs to a process or a GPU, which one
 * thread walks, and parts are put together in the order of the plan.
 *
 * Owned by the result (ana_result.series), freed with it. Times are on the axis of the trace.
 *
 *	series_parts.c the parts of a walk, put together
 *	series_walk.c	 what is gathered while a component is walked
 *	series_step.c	 steps: buckets that double, a histogram, the slowest exactly
 *	series_loader.c	 workers' states, batches
 *	series_flame.c	 stacks of the hosts
 *	series_zoom.c	 windows around the longest gaps
 */
#ifndef ANALYSIS_SERIES_H
#define ANALYSIS_SERIES_H

#include "analysis/ledger.h"
#include "analysis/worker_state.h"

#define ANA_SERIES_STEPS 1024u /* buckets per process */
#define ANA_SERIES_OUTLIERS 20u
#define ANA_SERIES_CELLS 480u /* of the loader's time */
/* the longest per GPU; of the only one these are all that a summary has */
#define ANA_SERIES_GAPS 20u
#define ANA_SERIES_ZOOMS 8u /* windows in all */

/*
 * Steps of one process, @each consecutive ones per bucket (a power of 2; the last may hold fewer).
 */
struct ana_step_bucket {
	int64_t start_ns, end_ns; /* of its first step, of its last */
	int64_t min_ns, max_ns, sum_ns;
	int64_t input_ns; /* sum of ana_step.input_ns, each at most its step */
	uint64_t count;
};
struct ana_step_series {
	uint32_t process; /* in ana_result.process */
	struct ana_step_bucket *bucket;
	size_t buckets;
	uint64_t each;
};

/*
 * Durations of all steps in bins: bin i holds [edge(i), edge(i + 1)). Below 8 ns a bin per ns;
 * above, each octave [2^k, 2^(k+1)) has eight equal ones.
 */
#define ANA_HISTOGRAM_BINS (61u * 8u)
unsigned int ana_histogram_bin(int64_t ns); /* negative: 0 */
int64_t ana_histogram_edge(unsigned int bin);

struct ana_spread {
	uint64_t count;
	int64_t min_ns, max_ns, sum_ns; /* 0 where count is */
};

/* A stretch of the axis, all processes together. */
struct ana_loader_cell {
	int64_t state_ns[ANA_WORKER_STATES]; /* of workers' main threads, as far as sampled */
	struct ana_spread fetch; /* making a batch, by its start */
	struct ana_spread take; /* calls of next(), by their start */
	int64_t ready; /* batches that were made by a worker and not taken, at its end */
};

struct ana_flame_node {
	uint32_t parent; /* its index, smaller than the node's own; of the root: 0 */
	uint32_t frame; /* in ana_series.frame; of the root: no name of its own */
	int64_t ns; /* of GPU time, with all nodes below it */
};
struct ana_flame { /* one process, one role */
	uint32_t process; /* in ana_result.process */
	uint8_t role; /* enum wire_role */
	/* preorder: root, classes, frames from the outermost to the innermost; most time first */
	struct ana_flame_node *node;
	size_t nodes;
	int64_t folded_ns; /* of stacks beyond the cap, cut off at a node "(other)" */
};

struct ana_zoom { /* equal buckets around a gap, or several; their classes sum to their length */
	uint32_t gpu;
	struct ana_timeline line;
};

struct ana_gpu_series {
	struct ana_gap *gap; /* the longest of this GPU, longest first */
	size_t gaps;
	size_t fine; /* buckets of the walk's timeline in one that is drawn */
	int64_t *longest_ns; /* of one gap, within each bucket of ana_result.timeline */
};

struct ana_series {
	int64_t start_ns, end_ns; /* the axis: when the first GPU was taken, the last was left */
	struct ana_gpu_series *gpu; /* those of ana_result.gpu */
	size_t gpus;
	struct ana_zoom *zoom; /* by GPU, then by time */
	size_t zooms;
	struct ana_step_series *steps; /* processes with steps */
	size_t step_series;
	uint64_t histogram[ANA_HISTOGRAM_BINS];
	struct ana_step *outlier; /* slowest first */
	size_t outliers;
	struct ana_loader_cell *cell; /* NULL: no loader was seen */
	size_t cells;
	int64_t cell_ns;
	bool has_states, has_ready;
	char **frame; /* names: "function file:line", classes, "(other)" */
	size_t frames;
	struct ana_flame *flame; /* most time first */
	size_t flames;
	int64_t flame_total_ns; /* of input.* and host.* of all GPUs */
	/* of it in the flames; the rest has no sample, or found no room */
	int64_t flame_sampled_ns;
};

/* From when the first GPU was taken to when the last was left; 0 and 0: none was held. */
void ana_series_axis(const struct ana_result *r, int64_t *start, int64_t *end);

void ana_series_free(struct ana_series *s);

#endif
