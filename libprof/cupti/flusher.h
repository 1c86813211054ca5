/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread that calls CUPTI. cuptiActivityFlushAll blocks for as long as a kernel runs, and may
 * hang, so it has a thread of its own: ranges, pulses and sending never wait for it. The sender
 * asks and looks for the answer; nobody ever joins the thread.
 */
#ifndef PROF_FLUSHER_H
#define PROF_FLUSHER_H

#include <stdbool.h>
#include <stdint.h>
#include "core/clockpoll.h"
#include "cuda_api.h"

struct prof_flush { /* one that has ended */
	uint64_t number;
	int64_t begin_ns, end_ns; /* the trace's clock */
	int64_t cpu_ns; /* of the process when it began */
	int rc;
	uint64_t dropped; /* records that CUPTI dropped since the flush before */
	uint32_t canaries;
	bool refused; /* the process is the second interface's: nothing was flushed ... */
	char holder[64]; /* ... and whose, "": not known */
	struct prof_triplet clock;
};

/*
 * done() runs on the flusher when an order has been carried out: it wakes the sender. canary()
 * makes one traced call; NULL: there is none. 0 or -errno.
 */
int prof_flusher_start(const struct prof_cupti *cupti, void (*done)(void), void (*canary)(void));

/*
 * Asks for a flush; true if it was idle, the result of the last flush was taken, and it took the
 * order. Forced: running kernels too. Before it,
 * canary() is called so many times (watchdog.h).
 */
bool prof_flusher_ask(bool forced, uint32_t canaries);

/* Asks for one call of fn on the flusher, which may call CUPTI. True if it was idle. */
bool prof_flusher_call(void (*fn)(void));

/* Takes the last flush that ended; false if none did since the last call. */
bool prof_flusher_take(struct prof_flush *f);

/* Waits until it is idle or the deadline (monotonic ns). True if idle. */
bool prof_flusher_wait(int64_t deadline_ns);

int64_t prof_flusher_cpu_ns(void);

#endif
