/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which threads of this process submit to the GPU or wait for the loader: told by the sender, who
 * reads it from API records and the ranges of loaders and steps (others' makers have, too), read by
 * the sampler. Both without a lock.
 */
#ifndef PROF_SUBMITTERS_H
#define PROF_SUBMITTERS_H

#include <stddef.h>
#include <stdint.h>

#define PROF_SUBMITTERS_MAX 8u

/* Sender: this thread was seen to submit or wait. Cheap when it is the one seen last. */
void prof_submitters_saw(uint32_t tid);

/* Sender, each flush: those not seen for a minute make room. */
void prof_submitters_age(int64_t now_ns);

/* Sampler: the thread has ended. Its slot is free, if it is still that thread's. */
void prof_submitters_gone(uint32_t tid);

/* Sampler: at most PROF_SUBMITTERS_MAX thread ids. How many. */
size_t prof_submitters_read(uint32_t out[PROF_SUBMITTERS_MAX]);

#endif
