/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drives the walk of one component (walk/walk.h): the order in which events are read, and what each
 * operation does to its GPU.
 */
#ifndef ANALYSIS_COMPONENT_H
#define ANALYSIS_COMPONENT_H

#include "analysis/walk/walk.h"

struct ana_walk_task { /* all borrowed */
	struct ana_plan *plan;
	uint32_t component;
	const struct ana_options *options;
	const struct ana_observer *observer; /* NULL: nobody looks on */
	struct ana_result *result; /* gets gpu and timeline of the component's devices */
};

/* component.c. 0 or -ENOMEM; fini in any case. @scratch is borrowed. */
int ana_walk_init(struct ana_walk *w, const struct ana_walk_task *task,
		  struct wire_scratch *scratch);
int ana_walk_run(struct ana_walk *w);
void ana_walk_fini(struct ana_walk *w);

/* device.c */
/* The operations [op, stop) of a process, which come before any other's. */
void ana_gpu_operations(struct ana_walk *w, struct ana_proc *p, const struct wire_event *op,
			const struct wire_event *stop);
/*
 * The gap before the operation, which @call launched (NULL: not known) and @before is of the stream
 * of, is to be decided later. Reads on, so that what is in the launch table moves.
 */
void ana_gpu_keep_gap(struct ana_walk *w, struct ana_gpu_state *g, uint32_t process,
		      const struct wire_event *op, const struct ana_call *call,
		      const struct ana_stream_state *before);
/*
 * For the comparison of ranks, which the GPU takes part in: a collective goes on the log, behind
 * all time before it. @comm: its communicator, 0: not known.
 */
void ana_gpu_log_collective(struct ana_gpu_state *g, struct ana_proc *p,
			    const struct wire_event *op, uint64_t comm);
void ana_gpu_finish(struct ana_walk *w, struct ana_gpu_state *g);
void ana_gpu_init_buckets(struct ana_gpu_state *g);

/*
 * plain_operations.c: as many of [op, stop) as are plain, in the same way; the others are for
 * device.c. Returns the first that it leaves.
 */
const struct wire_event *ana_plain_operations(struct ana_walk *w, struct ana_proc *p,
					      const struct wire_event *op,
					      const struct wire_event *stop);

/* copies.c */
enum ana_copy_dir ana_copies_direction(const struct wire_event *op);
void ana_copies_count(struct ana_gpu_state *g, const struct wire_event *op);
/* Of [@start, @end) no kernel and no collective ran. */
void ana_copies_expose(struct ana_gpu_state *g, int64_t start, int64_t end);

/*
 * copying.c. Begin: the operation comes, and @call made it (NULL: not known). Tell: the line of the
 * last such one, before its time up to @upto counts.
 */
void ana_copying_begin(struct ana_gpu_state *g, const struct ana_proc *p,
		       const struct wire_event *op, const struct ana_call *call);
void ana_copying_tell(struct ana_walk *w, struct ana_gpu_state *g, int64_t upto);

/* exposed.c: counts the loader waits in a gap, whatever its classes will be. */
void ana_exposed_gap(struct ana_walk *w, struct ana_gpu_state *g, int64_t start, int64_t end);

#endif
