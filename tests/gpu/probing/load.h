/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load.h - work of known length: kernels of a given length, each at the beginning of a period, from
 * a thread of this process or from a process of its own. What was launched is counted, so that a
 * meter can be held against it.
 */
#ifndef PROBE_LOAD_H
#define PROBE_LOAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct load {
	atomic_int order; /* LOAD_... */
	atomic_int state; /* 0 not begun, 1 a context is there, -1 it failed */
	atomic_llong kernel_ns, period_ns; /* period 0: one kernel behind the other, two queued */
	atomic_int blocks;
	atomic_int traced; /* 1: with our kinds on from the beginning */
	atomic_llong busy_ns, launches; /* of kernels that are over, since the beginning */
	atomic_llong began; /* CLOCK_MONOTONIC ns at which the one that runs began; 0: none does */
	atomic_uint turn; /* odd while the last three are changed */
	atomic_int idle; /* all that was launched is over and counted */
};

enum {
	LOAD_WAIT, /* before the context, or between loads */
	LOAD_BEGIN, /* make a context, launch nothing */
	LOAD_RUN,
	LOAD_END
};

/* A process with this load, which waits for orders in shared memory; NULL: none could be made. */
struct load *load_process(pid_t *pid);

/* The same in a thread; the context is this process's (drv_begin). */
struct load *load_thread(void);

/* Waits for state; false: it failed or took too long. */
bool load_ready(struct load *load, int64_t within);

/* kernels of length ns each period, over `blocks` blocks. */
void load_run(struct load *load, int64_t kernel_ns, int64_t period_ns, int blocks);

/* Launches no more; returns once what was launched is over and counted (at most a second). */
void load_rest(struct load *load);

/* ns for which kernels have run until now, as the host knows it: to some 20 us. */
int64_t load_busy(struct load *load);

#endif
