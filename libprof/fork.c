/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A flag that a forked child finds set. Nothing is closed, freed or locked there: the descriptors
 * may be somebody else's by now, and the locks may be held by threads that do not exist.
 */
#include "fork.h"

#include <pthread.h>
#include <stdatomic.h>

#include "host/shared.h"
#include "ranges.h"
#include "sampler.h"

enum owner {
	OWNER_NONE,
	OWNER_ME,
	OWNER_PARENT
};

static atomic_int owner;

static void before(void)
{
	if (!prof_fork_mine())
		return;
	prof_sampler_fork_prepare();
	prof_ranges_fork_prepare();
}

static void in_parent(void)
{
	if (!prof_fork_mine())
		return;
	prof_ranges_fork_parent();
	prof_sampler_fork_parent();
}

static void in_child(void)
{
	prof_shared_forked();
	if (!prof_fork_mine())
		return;
	atomic_store_explicit(&owner, OWNER_PARENT, memory_order_relaxed);
	prof_ranges_dead();
	prof_sampler_fork_child();
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
