/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One sample in the making: thread_sample.c takes it, thread_wait.c tells what the thread waits
 * for. Both on the sampling thread.
 */
#ifndef PROF_SAMPLING_H
#define PROF_SAMPLING_H

#include <stdbool.h>
#include "callkind.h"
#include "target_parts.h"
#include "thread_sample.h"
#include "threadfacts.h"

struct prof_sampling {
	struct prof_target *t;
	struct prof_thread_sample *out;
	struct prof_task *task;
	struct prof_sched before;
	struct prof_call call;
	const struct prof_call_kind *kind;
	char letter; /* its state */
	bool blocked, sched_known, call_known;
	bool path, writes; /* it waits for a file by its path; to write it */
	bool links; /* are asked for */
	bool sends; /* ... of what it is blocked giving to */
};

/*
 * Of a blocked thread whose call is known: its kind of wait, target and file system, and where
 * links are asked for what of its descriptors and locks it awaits.
 */
void prof_sampling_wait(struct prof_sampling *l);

/* Objects of Python and memory that it awaits, for links. */
void prof_sampling_await(struct prof_sampling *l, pid_t tid);

/* It waits for a disk. */
bool prof_sampling_disk(const struct prof_sampling *l);

/* Has it not run since the first look at it? */
bool prof_sampling_steady(const struct prof_sampling *l);

#endif
