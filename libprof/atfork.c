/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every part that has something to do at a fork, in one order. In the child nothing is closed,
 * freed or locked: the descriptors may be somebody else's by now, and the locks may be held by
 * threads that do not exist.
 */
#include "atfork.h"

#include <stddef.h>

#include "core/clockpoll.h"
#include "core/fork.h"
#include "core/fork_lock.h"
#include "cupti/handover.h"
#include "loader/shim.h"
#include "loader/worker.h"
#include "ranges/ranges.h"
#include "sample/shared.h"

/*
 * What pthread_atfork calls in glibc, and what only glibc has. Weak: other loaders end every
 * program at its start over a symbol that they do not find.
 */
extern int __register_atfork(void (*before)(void), void (*parent)(void), void (*child)(void),
			     void *library) __attribute__((weak));
extern void *__dso_handle __attribute__((visibility("hidden"))); /* the compiler's */

/* The gates, by this thread's fork that is under way: this may be registered in the midst of it. */
static _Thread_local bool held;

static void before(void)
{
	held = true;
	prof_fork_lock_prepare();
	if (prof_fork_mine())
		prof_ranges_fork_prepare();
}

static void in_parent(void)
{
	if (prof_fork_mine())
		prof_ranges_fork_parent();
	if (held)
		prof_fork_lock_parent();
	held = false;
}

static void in_child(void)
{
	held = false;
	prof_clock_forked();
	prof_shim_forked();
	prof_shared_forked();
	prof_worker_forked();
	prof_handover_forked();
	prof_fork_lock_child();
	if (!prof_fork_mine())
		return;
	prof_fork_never();
	prof_ranges_dead();
}

bool prof_atfork_known(void)
{
	return __register_atfork != NULL;
}

void prof_atfork_watch(void)
{
	__register_atfork(before, in_parent, in_child, &__dso_handle);
}
