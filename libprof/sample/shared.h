/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that the trainer shares with its loader workers: whether it waits now and how often they
 * should look at themselves, and for each worker a slot with two rings, one for rows of batches
 * (written by the thread that makes them) and one for samples (written by the sampler, worker.h).
 * What a worker has written outlives it, however it ends.
 *
 * The trainer makes the memory at the arm. A forked worker has it mapped; a spawned one, or one of
 * a fork server, finds it through GPUSTARVE_SHARED in its environment, which names a descriptor of
 * the trainer. A program that closes that descriptor has no rows from spawned workers.
 *
 * All that workers wrote is checked when it is read.
 */
#ifndef PROF_SHARED_H
#define PROF_SHARED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "thread_sample.h"
#include "wire/evidence.h"

#define PROF_SHARED_SLOTS 128u /* workers at a time; what further ones write is counted as lost */

/* ---- any process ---- */

/*
 * Constructor of a Python process: reads GPUSTARVE_SHARED, and sets one (env.h) that is filled in
 * later.
 */
void prof_shared_find(void);

/* atfork's child handler: what is mapped is the parent's from now on. Async-signal-safe. */
void prof_shared_forked(void);

/* ---- the trainer ---- */

/*
 * At arm, on a thread of the program. @stream: its id. 0 or -errno: then there are no rows of
 * workers; -EFBIG: RLIMIT_FSIZE does not allow that much.
 */
int prof_shared_create(const uint8_t stream[16]);

/*
 * The trainer begins or ends to wait: workers look at themselves so often, or sleep. Where there
 * are many, each looks less often, so that all together make PROF_SHARED_LOOKS a second. Any
 * thread.
 */
#define PROF_SHARED_LOOKS 400u
#define PROF_SHARED_RATE 100u /* of one worker, at most */
void prof_shared_idle(bool idle, uint32_t rate_hz);

/* Does this process sample itself? Then nobody else should. Any thread. */
bool prof_shared_samples_itself(pid_t pid);

struct prof_shared_sink {
	/* A row of process @pid, its pid set; false: not yet, offer it again at the next drain. */
	bool (*batch)(void *ctx, const struct wire_batch *row);
	void (*sample)(void *ctx, struct prof_thread_sample *sample); /* may be changed */
	void *ctx;
};

/* Reads all rings. Sender thread. */
void prof_shared_drain(const struct prof_shared_sink *sink);

struct prof_shared_stats {
	uint64_t rows, looks, dropped, damaged; /* dropped: no room or no slot */
	uint64_t missed; /* looks that workers left out, for they forked all the time */
	uint32_t workers; /* slots ever taken */
	uint32_t declined; /* workers that do not sample themselves, for room is short */
	bool closed; /* the program closed the descriptor */
};
void prof_shared_stats(struct prof_shared_stats *s); /* sender */

/* ---- workers ---- */

/* Is there a trainer above whose memory this process has or may find? Cheap. */
bool prof_shared_has_trainer(void);

/*
 * Writes a row into this process's slot; takes one at the first call. One thread at a time. Its
 * text is 0, or PROF_SHARED_ASIDE: the process tells of no more batches for some seconds.
 */
#define PROF_SHARED_ASIDE 1u
void prof_shared_row(const struct wire_batch *row);

/* The same for a sample, by the sampler's thread only. False: no room. */
bool prof_shared_sample(const struct prof_thread_sample *sample);

/* This worker will not look at itself: the limits of its cgroup are near. */
void prof_shared_decline(void);

/* Looks that were due and left out. */
void prof_shared_missed(uint64_t looks);

/* Takes a slot and says that this process samples itself. 0 or -errno. */
int prof_shared_join(void);
void prof_shared_leave(void); /* it does not any more */

/* How often to look, in Hz; 0: the trainer does not wait. */
uint32_t prof_shared_rate(void);

/*
 * Sleeps while the trainer does not wait, for as long as that lasts; or, while it waits, until
 * @deadline_ns (monotonic) or until the rate changes. Only after prof_shared_join.
 */
void prof_shared_sleep(int64_t deadline_ns);

#endif
