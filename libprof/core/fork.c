/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One flag, which the handler of forks changes in the child (atfork.h).
 */
#include "fork.h"

#include <stdatomic.h>

enum owner {
	OWNER_NONE,
	OWNER_ME,
	OWNER_PARENT /* or nobody: never to be armed */
};

static atomic_int owner;

void prof_fork_never(void)
{
	atomic_store_explicit(&owner, OWNER_PARENT, memory_order_relaxed);
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
