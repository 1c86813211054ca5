/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPUs that did nothing at all, and verdicts in words. Where nothing is left to judge, the
 * summary's verdict is "inconclusive" by its contract; people are told why: the GPUs were idle.
 */
#ifndef VIEW_UNUSED_H
#define VIEW_UNUSED_H

#include "model/model.h"

struct view_unused {
	size_t no_process; /* GPUs that were given to the job and that no process of it used */
	size_t no_work; /* GPUs that processes held, and on which nothing ever ran */
	int64_t ns, nano_usd; /* held by both, and its price */
	int64_t no_work_ns, no_work_nano_usd; /* ... of that by those that nothing ran on */
};

/* A GPU is not unused where anybody waited for input, or where it was not watched. */
struct view_unused view_unused_gpus(const struct view_summary *s);

/* Whether no GPU of the run did anything; false without GPUs. */
bool view_all_unused(const struct view_summary *s);

/*
 * "no process used 3 of 4 GPUs", "nothing ran on the GPU that a process held", or both; "" where
 * every GPU did something.
 */
const char *view_unused_words(const struct view_summary *s, struct base_arena *mem);

/*
 * Whether the verdict is host-bound by what is loaded and compiled once (host.warmup): a short run
 * that is otherwise well is no program to be mended. What else of host.* is wasted is too little
 * for the verdict, and no more than that.
 */
bool view_is_warmup(const struct view_summary *s);

/* "input-bound, critical" */
const char *view_judged_words(const struct ana_judgement *v, struct base_arena *mem);

/* All of its time is of classes that say that nothing ran. */
bool view_gpu_did_nothing(const struct ana_gpu *g);

#endif
