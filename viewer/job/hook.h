/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a node's Prolog and Epilog tell: that a job got GPUs here, and that it gave them back. Both
 * read the scheduler's variables (SLURM_*).
 */
#ifndef VIEW_JOB_HOOK_H
#define VIEW_JOB_HOOK_H

#include "alloc.h"

struct view_hook {
	struct base_arena mem;
	struct view_alloc alloc; /* what was written */
	const char *path; /* of the job's folder, or what an error is about */
	const char *why; /* static; of an error */
	const char *remark; /* static; what is not known although all went well; NULL: nothing */
};

/*
 * Writes the allocation of this node, or completes it. 1: done; 0: the job has no GPU here, and
 * nothing is written; else a negative errno with path and why. Free with _fini in any case.
 *
 * Its start is SLURM_JOB_START_TIME where that is given, else now. Its restart is
 * SLURM_RESTART_COUNT where that is given (Prologs of 22.05 have none); else what the job's folder
 * tells: an allocation that goes on on other nodes is joined, after those that have ended comes the
 * next one. An allocation that has begun already keeps its start, one that has ended its end.
 */
int view_hook_begin(struct view_hook *h, const char *out);
int view_hook_end(struct view_hook *h, const char *out);
void view_hook_fini(struct view_hook *h);

/*
 * The GPUs that the scheduler names, in @mem: "0,2-3", "GPU-...,MIG-..."; UUIDs of @visible
 * (CUDA_VISIBLE_DEVICES) before the numbers of @numbers (SLURM_JOB_GPUS). Either may be NULL.
 */
size_t view_hook_gpus(struct base_arena *mem, const char *numbers, const char *visible,
		      struct view_alloc_gpu **gpu);

#endif
