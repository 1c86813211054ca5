/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread that looks at this process's threads and, where they do not look at themselves, at its
 * workers' main threads: often while a loader wait is open or the device has run dry, seldom
 * otherwise (sample_rate.h). It takes no signal, no lock of Python and no core for long.
 */
#ifndef PROF_SAMPLER_H
#define PROF_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

/* Sender, once, when rows can be written. Without a thread there are no samples, and a note. */
void prof_sampler_start(void);

/* At exit: no look begins after it returns, or the deadline (monotonic ns) has passed. */
void prof_sampler_stop(int64_t deadline_ns);

/* Sender, after a flush: since when the device has been seen idle (monotonic ns); 0: it works. */
void prof_sampler_drained(int64_t since_ns);

/*
 * A loader wait begins. On the host's thread, inside a hook: wakes the sampler, at
 * most five times a second; it looks out for more by itself while waits are long.
 */
void prof_sampler_nudge(void);

int64_t prof_sampler_cpu_ns(void); /* its own CPU time. Any thread */

/* Looks at all threads that were left out, for they would have cost too much. Any thread. */
uint64_t prof_sampler_left_out(void);

#endif
