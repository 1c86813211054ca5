/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The buffers that CUPTI writes records into: blocks of their own from malloc (bufblock.h), because
 * another client of CUPTI may be handed one. What is written to them is bounded (PROF_POOL_BYTES).
 * All are zero when they are handed out.
 *
 * A buffer is free, out (CUPTI's, which may write into it at any time), back (complete, on its way
 * to the sender) or done (the sender reads it). One that is out is ours when it comes back: before
 * we register callbacks anew, all that are out are given up, so only buffers that no other client
 * can have had come back as out. What is given up is never touched again, not even to free it:
 * another client may have freed it, or use it. New blocks take its place. One that is free is ours
 * alone, so the sender gives it back to malloc when it has not been needed for some seconds
 * (prof_pool_trim).
 *
 * take and done run on any thread, inside CUPTI's locks: they do not lock, and take allocates only
 * if the sender did not keep up. give_back and the rest run on the sender thread.
 *
 * CUPTI before 12.9 crashes on NULL, so when all buffers are out or waiting to be read, take hands
 * out one whose content is never read, and counts it. These come from a reserve of their own;
 * beyond that a later CUPTI gets NULL, and drops and counts the record itself, and an earlier one
 * gets one that many share, which is no block.
 */
#ifndef PROF_BUFPOOL_H
#define PROF_BUFPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROF_POOL_CLASSES 4 /* 16 KiB, 64 KiB, 256 KiB, 1 MiB */
#define PROF_POOL_BYTES ((size_t)38 << 20)
#define PROF_POOL_NONE UINT32_MAX
#define PROF_POOL_IDLE_NS INT64_C(10000000000)

/*
 * CUPTI asks for a buffer after the work was handed to the device, by a thread that may be
 * preempted in between, where many share a core for as long as 80 ms: what the buffer will hold
 * began at most so long before the request.
 */
#define PROF_POOL_BEFORE_NS 100000000

struct prof_pool_done { /* one completed buffer */
	uint32_t id;
	uint8_t *data;
	size_t valid;
	int64_t request_ns; /* when CUPTI asked for it: nothing in it was launched before */
	uint64_t batch; /* of prof_pool_done: the order of completion */
};

struct prof_pool_stats {
	uint64_t requests, discards;
	uint64_t lost_bytes; /* valid bytes of discarded buffers */
	uint64_t foreign; /* completed buffers that are not ours */
	uint32_t out, queued;
	size_t out_bytes;
	uint64_t completed;
	size_t touched_bytes; /* memory that was ever written */
	uint32_t gone; /* given up, and not known to have been freed */
	size_t gone_bytes; /* of them that may have been written to */
	uint64_t freed; /* given up, and freed by others */
	/* one that is out was freed by another client since the last abandon or disown */
	bool taken;
};

/*
 * Makes the first buffers. @may_refuse: this CUPTI takes NULL for an answer. 0; -ENOSPC: the
 * process's limits leave no room; -ENOMEM: malloc gives no blocks, or none that stay untouched.
 */
int prof_pool_init(bool may_refuse);

/* A zeroed buffer; NULL only to who may_refuse. @request_ns: see prof_pool_done. */
uint8_t *prof_pool_take(int64_t request_ns, size_t *size);

/* So few buffers are ready that the sender should make some (prof_pool_refill). Any thread. */
bool prof_pool_low(void);
void prof_pool_refill(void);

/*
 * Frees blocks that were free all through the last PROF_POOL_IDLE_NS, but for those that are kept
 * ready: the largest part of what a burst of work has left. A few in each call.
 */
void prof_pool_trim(int64_t mono_ns);

/*
 * What CUPTI gives back: its id, or PROF_POOL_NONE for a discarded or a foreign buffer, which are
 * counted. The buffer stays out until prof_pool_queue.
 */
uint32_t prof_pool_find(const uint8_t *buffer, size_t valid);

/* Queues it for the sender. True if so much waits there that it should be woken. */
bool prof_pool_queue(uint32_t id, size_t valid);

/* The buffer that was completed first; it is done from here on. False if there is none. */
bool prof_pool_next(struct prof_pool_done *d);

/* Zeroes what was written and makes it free. */
void prof_pool_give_back(const struct prof_pool_done *d);

/*
 * No more than so many bytes of any buffer are handed out from now on; 0: no limit. CUPTI asks
 * another client for a buffer only when ours is full, so a large one swallows its session.
 */
void prof_pool_limit(size_t bytes);

/* Size class of the next buffers: the largest that holds at most @bytes. */
void prof_pool_want(size_t bytes);
size_t prof_pool_wanted(void);

/*
 * Earliest request time of the buffers that are out, INT64_MAX if none is. Whatever was launched
 * before that moment is in a buffer that prof_pool_next has already given.
 */
int64_t prof_pool_oldest_out(void);

/*
 * Earliest request time of discarded buffers that are out now or were out since the last call;
 * INT64_MAX if none was. What was launched since then may be lost. *count gets how many were handed
 * out since the last call.
 */
int64_t prof_pool_discards(uint64_t *count);

/*
 * Another client took our callbacks: buffers that are out will not come back. They are given up and
 * no longer waited for. Returns how many; *oldest_ns gets their earliest request time.
 */
uint32_t prof_pool_abandon(int64_t *oldest_ns);

/*
 * The same, right before callbacks are registered anew, on the thread that does it: until then
 * others may have had what is out. prof_pool_refill counts them.
 */
void prof_pool_disown(void);

void prof_pool_stats(struct prof_pool_stats *s);

#endif
