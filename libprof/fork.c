/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A flag that a forked child finds set. Nothing is closed, freed or locked there: the descriptors
 * may be somebody else's by now, and the locks may be held by threads that do not exist.
 */
#include "fork.h"

#include <pthread.h>
#include <stdatomic.h>

#include "clockpoll.h"
#include "host/shared.h"
#include "host/shim.h"
#include "lend.h"
#include "ranges.h"
#include "sampler.h"
#include "worker.h"

enum owner {
	OWNER_NONE,
	OWNER_ME,
	OWNER_PARENT
};

static atomic_int owner;

static _Thread_local bool held; /* the gate of looks, by this thread's fork that is under way */

static void before(void)
{
	held = prof_fork_mine() || prof_worker_looks();
	if (held)
		prof_sampler_fork_prepare();
	if (prof_fork_mine())
		prof_ranges_fork_prepare();
}

static void in_parent(void)
{
	if (prof_fork_mine())
		prof_ranges_fork_parent();
	if (held)
		prof_sampler_fork_parent();
	held = false;
}

static void in_child(void)
{
	held = false;
	prof_clock_forked();
	prof_shim_forked();
	prof_shared_forked();
	prof_worker_forked();
	prof_lend_forked();
	prof_sampler_fork_child();
	if (!prof_fork_mine())
		return;
	atomic_store_explicit(&owner, OWNER_PARENT, memory_order_relaxed);
	prof_ranges_dead();
}

void prof_fork_watch(void)
{
	pthread_atfork(before, in_parent, in_child);
}

void prof_fork_own(void)
{
	atomic_store(&owner, OWNER_ME);
}

bool prof_fork_mine(void)
{
	return atomic_load_explicit(&owner, memory_order_relaxed) == OWNER_ME;
}

bool prof_fork_dead(void)
{
	return atomic_load_explicit(&owner, memory_order_relaxed) == OWNER_PARENT;
}
