/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one thread that turns buffers and ranges into frames and sends them. It is made at arm,
 * before CUPTI is switched on, and sleeps until CUPTI asks for its first buffer (without CUPTI:
 * until the arm is over), so that a program that never launches anything leaves no trace. Ends with
 * Bye at exit.
 */
#ifndef PROF_SENDER_H
#define PROF_SENDER_H

#include <stdbool.h>
#include <stdint.h>
#include "core/procinfo.h"
#include "cupti/cuda_api.h"
#include "cupti/levels.h"

struct prof_sender_opts {
	const struct prof_cupti *cupti; /* NULL: passive, pulses only */
	struct prof_level level;
	struct prof_process process;
	char run_id[252];
	int64_t armed_ns;
	bool refused; /* the callbacks are not: CUPTI's second interface has the process */
	bool handed_over; /* the callbacks are not registered yet: another client has CUPTI */
};

/*
 * Keeps *o (must stay), takes what memory it needs and makes the thread. Arming thread, before
 * anything of CUPTI's is on and before anybody may call prof_sender_start. 0 or -errno: then there
 * is no thread, and nobody would take a record.
 */
int prof_sender_prepare(const struct prof_sender_opts *o);

/* The arm is over: *o holds from here on. Arming thread, once. */
void prof_sender_armed(void);

/*
 * There is something to send: it begins once the arm is over, too. Any thread, any time; no lock.
 */
void prof_sender_start(void);

/* Many buffers wait: wakes the sender, at most once until it has drained. Any thread, no lock. */
void prof_sender_pending(void);

/* Wakes it to drain soon. Any thread, no lock. */
void prof_sender_wake(void);

/* At exit: flush, Bye. Returns when it is done or at the deadline (monotonic ns). */
void prof_sender_stop(int64_t deadline_ns);

/*
 * The process is about to go whatever comes (exits.h): flush and Bye within less time. Returns when
 * it is done or at the deadline (monotonic ns). Any thread, async-signal-safe; call it if there is
 * a sender here, which a process with the same pid in another namespace that shares our memory has
 * not.
 */
bool prof_sender_there(void);
void prof_sender_leave(int64_t deadline_ns);

#endif
