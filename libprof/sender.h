/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one thread that turns buffers and ranges into frames and sends them. Started when CUPTI asks
 * for its first buffer (without CUPTI: at arm); ends with Bye at exit.
 */
#ifndef PROF_SENDER_H
#define PROF_SENDER_H

#include <stdbool.h>
#include <stdint.h>
#include "cuda_api.h"
#include "levels.h"
#include "procinfo.h"

struct prof_sender_opts {
	const struct prof_cupti *cupti; /* NULL: passive, pulses only */
	struct prof_level level;
	struct prof_process process;
	char run_id[252];
	int64_t armed_ns;
	bool lent; /* the callbacks are not registered yet: another client has CUPTI (lend.h) */
};

/* Keeps *o (must stay). Before the callbacks are registered. */
void prof_sender_init(const struct prof_sender_opts *o);

/* Starts the thread if it does not run yet. Any thread. */
void prof_sender_start(void);

/* Many buffers wait: wakes the sender, at most once until it has drained. Any thread, no lock. */
void prof_sender_pending(void);

/* Wakes it to drain soon. Any thread, no lock. */
void prof_sender_wake(void);

/* At exit: flush, Bye. Returns when it is done or at the deadline (monotonic ns). */
void prof_sender_stop(int64_t deadline_ns);

#endif
