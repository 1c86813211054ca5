/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loader worker's own sampler: a thread that sleeps without a single wake-up while the trainer
 * does not wait, and samples its process while it does. The samples go through shared memory to the
 * trainer, which does not sample workers that sample themselves.
 *
 * It starts with the first batch that the process makes in torch's worker loop, so that helpers,
 * servers and commands that a job starts never have one. A forked child of a worker has none
 * either.
 */
#ifndef PROF_WORKER_H
#define PROF_WORKER_H

#include <stdbool.h>

/*
 * This process makes a batch for a trainer, on this thread. Starts the sampler at the first call.
 */
void prof_worker_fetches(void);

/* Is there one in this process? Then forks must wait for its samples (core/fork_lock.h). */
bool prof_worker_samples(void);

/* atfork's child handler. Async-signal-safe. */
void prof_worker_forked(void);

#endif
