/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a scheduler allocated to a job, beside what its processes used: from when until when each
 * GPU was held, which of them no process used, and what its attempts (requeues) held. And the
 * phases of a job: runs that followed each other, each of which starts up and ends by itself.
 *
 * Nothing of it applies to a run by itself, nor to the window of a device.
 */
#ifndef ANALYSIS_ALLOCATIONS_H
#define ANALYSIS_ALLOCATIONS_H

#include "plan.h"

struct ana_allocation { /* as the scheduler told it, with an end */
	const struct view_alloc *alloc;
	int64_t start_ns, end_ns;
};

struct ana_allocated_gpu { /* one GPU of an allocation */
	uint32_t row; /* in the result */
	const struct ana_allocation *allocation;
};

struct ana_unused { /* a GPU that was allocated and that no process used */
	const struct view_alloc_gpu *gpu;
	const char *host;
	const char *name; /* NULL: not known */
	bool unseen; /* of those processes that were recorded */
	bool guessed; /* the name is that of the other GPUs of its node */
	struct ana_spans given, unended; /* as of a device */
};

/* Numbers the phases of a job's sources and marks those of each device. 0 or -ENOMEM. */
int ana_run_phases_make(struct ana_plan *p);

/* Where the phase of @d at @t began and ended; a moment between two belongs to the one before. */
const struct ana_span *ana_run_phase_at(const struct ana_device *d, int64_t t);

/* Matches what was allocated with the plan's devices. 0 or -ENOMEM. */
int ana_allocations_make(struct ana_plan *p);
void ana_allocations_fini(struct ana_plan *p);

/*
 * Calls @each for what of @given lies outside of @held, in order; both merged. How much that is.
 */
int64_t ana_allocations_outside(struct ana_spans *given, struct ana_spans *held,
				void (*each)(void *arg, int64_t start, int64_t end), void *arg);

#endif
