/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two words, each side writes its own before it reads the other's: one of the two always sees the
 * other. Both accesses are sequentially consistent for that.
 */
#include "gate.h"

#include <stdatomic.h>

#include "clockpoll.h"
#include "thread.h"

#define LOOK_NS 20000000ll /* a fork waits no longer */
#define FORK_NS 100000000ll /* a look waits no longer */

static atomic_bool looking;
static atomic_uint forks; /* under way */
static atomic_uint looked,
	forked; /* bumped when a look that was waited for, or a fork, has ended */

void prof_gate_leave(void)
{
	atomic_store(&looking, false);
	if (atomic_load(&forks))
		prof_word_bump(&looked);
}

bool prof_gate_enter(void)
{
	int64_t deadline = 0;
	unsigned int seen;

	for (;;) {
		seen = atomic_load(&forked);
		atomic_store(&looking, true);
		if (!atomic_load(&forks))
			return true;
		prof_gate_leave();
		if (!deadline)
			deadline = prof_mono_ns() + FORK_NS;
		else if (prof_mono_ns() >= deadline)
			return false;
		prof_word_wait(&forked, seen, deadline);
	}
}

void prof_gate_fork_prepare(void)
{
	int64_t deadline = 0;
	unsigned int seen;

	atomic_fetch_add(&forks, 1);
	for (;;) {
		seen = atomic_load(&looked);
		if (!atomic_load(&looking))
			return;
		if (!deadline)
			deadline = prof_mono_ns() + LOOK_NS;
		else if (prof_mono_ns() >= deadline)
			return;
		prof_word_wait(&looked, seen, deadline);
	}
}

void prof_gate_fork_parent(void)
{
	atomic_fetch_sub(&forks, 1);
	prof_word_bump(&forked);
}

void prof_gate_fork_child(void)
{
	atomic_store_explicit(&forks, 0, memory_order_relaxed);
	atomic_store_explicit(&looking, false, memory_order_relaxed);
}
