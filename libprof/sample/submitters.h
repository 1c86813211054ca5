/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which threads of this process submit to the GPU or wait for the loader: told by the sender, who
 * reads it from API records and ranges, read by the sampler. Both without a lock.
 */
#ifndef PROF_ROSTER_H
#define PROF_ROSTER_H

#include <stddef.h>
#include <stdint.h>

#define PROF_ROSTER_MAX 8u

/* Sender: this thread was seen to submit or wait. Cheap when it is the one seen last. */
void prof_roster_saw(uint32_t tid);

/* Sender, each flush: those not seen for a minute make room. */
void prof_roster_age(int64_t now_ns);

/* Sampler: at most PROF_ROSTER_MAX thread ids. How many. */
size_t prof_roster_read(uint32_t out[PROF_ROSTER_MAX]);

#endif
