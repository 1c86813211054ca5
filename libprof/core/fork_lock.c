/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two words, each side writes its own before it reads the other's: one of the two always sees the
 * other. All accesses are sequentially consistent for that.
 *
 * Who has to step back then differs: a sample does, before the forks. With loads and NVML the fork
 * does, and counts itself again when the lock is free.
 */
#include "fork_lock.h"

#include <stdatomic.h>
#include <stdint.h>

#include "clockpoll.h"
#include "thread.h"

#define MS INT64_C(1000000)
#define PASS_NS (5 * MS)

struct fork_lock {
	int64_t fork_ns; /* a fork waits no longer */
	int64_t enter_ns; /* for forks under way, no longer */
	bool forks_first;
	atomic_uint inside; /* threads that are, or want to get in before the next fork */
	atomic_uint left; /* bumped when one has left */
	atomic_bool late; /* a fork has waited in vain: the next ones do not, while it is inside */
};

enum {
	SAMPLE,
	LOAD,
	NVML,
	LOCKS
};

static struct fork_lock locks[LOCKS] = {
	[SAMPLE] = { .fork_ns = 20 * MS, .enter_ns = 100 * MS, .forks_first = true },
	[LOAD] = { .fork_ns = 2000 * MS, .enter_ns = 1000 * MS },
	[NVML] = { .fork_ns = 2000 * MS, .enter_ns = 1000 * MS },
};

static atomic_uint forks; /* under way */
static atomic_uint waiting; /* those that have stepped back for a load or NVML */
static atomic_uint forked; /* bumped when one has ended or stepped back */

static _Thread_local unsigned char mine; /* locks that this thread is in, a bit each */

/*
 * ---- the threads inside -----------------------------------------------------------------------
 */

static void step_out(struct fork_lock *g)
{
	if (atomic_fetch_sub(&g->inside, 1) == 1 && g != &locks[NVML])
		atomic_store(&g->late, false);
	prof_word_bump(&g->left);
}

/* Those that waited for the last call need not wait for the next one, too. */
static void let_pass(void)
{
	int64_t deadline = prof_mono_ns() + PASS_NS;
	unsigned int seen;

	while (seen = atomic_load(&forked), atomic_load(&waiting) && prof_mono_ns() < deadline)
		prof_word_wait(&forked, seen, deadline);
}

static bool enter(unsigned int which)
{
	struct fork_lock *g = &locks[which];
	int64_t deadline = 0;
	unsigned int seen;

	if (!g->forks_first && atomic_load(&waiting))
		let_pass();
	atomic_fetch_add(&g->inside, 1);
	while (seen = atomic_load(&forked), atomic_load(&forks)) {
		if (g->forks_first)
			step_out(g);
		if (!deadline)
			deadline = prof_mono_ns() + g->enter_ns;
		if (prof_mono_ns() >= deadline) {
			if (!g->forks_first)
				step_out(g);
			return false;
		}
		prof_word_wait(&forked, seen, deadline);
		if (g->forks_first)
			atomic_fetch_add(&g->inside, 1);
	}
	mine |= (unsigned char)(1u << which);
	return true;
}

/* In a child that was forked inside, too: the lock counts its one thread there. */
static void leave(unsigned int which)
{
	mine &= (unsigned char)~(1u << which);
	step_out(&locks[which]);
}

bool prof_fork_lock_sample_enter(void)
{
	return enter(SAMPLE);
}

void prof_fork_lock_sample_leave(void)
{
	leave(SAMPLE);
}

bool prof_fork_lock_load_enter(void)
{
	return enter(LOAD);
}

void prof_fork_lock_load_leave(void)
{
	leave(LOAD);
}

bool prof_fork_lock_nvml_enter(void)
{
	if (prof_fork_lock_nvml_shut() || !enter(NVML))
		return false;
	if (!prof_fork_lock_nvml_shut())
		return true;
	leave(NVML);
	return false;
}

void prof_fork_lock_nvml_leave(void)
{
	leave(NVML);
}

bool prof_fork_lock_nvml_shut(void)
{
	return atomic_load(&locks[NVML].late);
}

/*
 * ---- forks ------------------------------------------------------------------------------------
 */

static bool is_mine(unsigned int which)
{
	return mine >> which & 1;
}

static bool is_empty(unsigned int which)
{
	struct fork_lock *g = &locks[which];

	return atomic_load(&g->inside) == is_mine(which) || atomic_load(&g->late);
}

/* Until it is empty, or for as long as a fork waits. */
static void await(unsigned int which)
{
	struct fork_lock *g = &locks[which];
	int64_t deadline = 0;
	unsigned int seen;

	while (seen = atomic_load(&g->left), !is_empty(which)) {
		if (!deadline)
			deadline = prof_mono_ns() + g->fork_ns;
		if (prof_mono_ns() >= deadline) {
			if (!g->forks_first)
				atomic_store(&g->late, true);
			return;
		}
		prof_word_wait(&g->left, seen, deadline);
	}
}

void prof_fork_lock_prepare(void)
{
	while (atomic_fetch_add(&forks, 1), !is_empty(LOAD) || !is_empty(NVML)) {
		atomic_fetch_add(&waiting, 1);
		prof_fork_lock_parent();
		await(LOAD);
		await(NVML);
		atomic_fetch_sub(&waiting, 1);
	}
	await(SAMPLE);
}

void prof_fork_lock_parent(void)
{
	atomic_fetch_sub(&forks, 1);
	prof_word_bump(&forked);
}

void prof_fork_lock_child(void)
{
	unsigned int i;

	atomic_store_explicit(&forks, 0, memory_order_relaxed);
	atomic_store_explicit(&waiting, 0, memory_order_relaxed);
	for (i = 0; i < LOCKS; i++) {
		atomic_store_explicit(&locks[i].inside, is_mine(i), memory_order_relaxed);
		atomic_store_explicit(&locks[i].late, false, memory_order_relaxed);
	}
}
