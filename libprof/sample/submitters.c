/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A few slots.
 */
#include "submitters.h"

#include <stdatomic.h>
#include <stdbool.h>

#define OLD_NS 60000000000ll

static _Atomic uint32_t slot[PROF_SUBMITTERS_MAX]; /* 0: free */
static struct {
	uint32_t last; /* seen last */
	bool seen[PROF_SUBMITTERS_MAX]; /* since the last age */
	int64_t seen_ns[PROF_SUBMITTERS_MAX];
} mine; /* the sender's */

void prof_submitters_saw(uint32_t tid)
{
	size_t i, empty = PROF_SUBMITTERS_MAX;

	if (tid == mine.last || !tid)
		return;
	for (i = 0; i < PROF_SUBMITTERS_MAX; i++) {
		uint32_t there = atomic_load_explicit(&slot[i], memory_order_relaxed);

		if (there == tid)
			break;
		if (!there && empty == PROF_SUBMITTERS_MAX)
			empty = i;
	}
	if (i == PROF_SUBMITTERS_MAX)
		i = empty;
	if (i == PROF_SUBMITTERS_MAX)
		return;
	atomic_store_explicit(&slot[i], tid, memory_order_relaxed);
	mine.seen[i] = true;
	mine.last = tid;
}

void prof_submitters_age(int64_t now_ns)
{
	size_t i;

	mine.last = 0;
	for (i = 0; i < PROF_SUBMITTERS_MAX; i++) {
		if (mine.seen[i])
			mine.seen_ns[i] = now_ns;
		else if (now_ns - mine.seen_ns[i] > OLD_NS)
			atomic_store_explicit(&slot[i], 0, memory_order_relaxed);
		mine.seen[i] = false;
	}
}

void prof_submitters_gone(uint32_t tid)
{
	size_t i;

	for (i = 0; i < PROF_SUBMITTERS_MAX; i++) {
		uint32_t there = tid;

		atomic_compare_exchange_strong_explicit(&slot[i], &there, 0, memory_order_relaxed,
							memory_order_relaxed);
	}
}

size_t prof_submitters_read(uint32_t out[PROF_SUBMITTERS_MAX])
{
	size_t i, n = 0;

	for (i = 0; i < PROF_SUBMITTERS_MAX; i++) {
		out[n] = atomic_load_explicit(&slot[i], memory_order_relaxed);
		n += out[n] != 0; /* n < i + 1: never beyond the end */
	}
	return n;
}
