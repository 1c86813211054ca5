/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Removes a run directory as one: it is renamed aside (`.gone-*`, which nobody takes for a run),
 * the new name is made durable, then its files go. Killed in between, either the whole run is there
 * or none of it; what lies aside is removed by the next sweep.
 *
 * A run of which a stream is being written, by any collector, is left alone: its files are locked
 * for as long as they are open (store/store.h), and are held locked here until they are gone. So is
 * one that must not go for another reason, which is asked for: it is forwarded, and the upstream
 * does not have all of it.
 */
#ifndef COLL_REMOVE_RUN_H
#define COLL_REMOVE_RUN_H

#include <stdbool.h>

#define COLL_GONE_PREFIX ".gone-"

/*
 * Whether all of the run whose directory is @run_fd may be lost here. @going: its name, if it goes
 * now and for good where that is true; NULL: somebody asks. A pointer of NULL: each may.
 */
typedef bool coll_run_dispensable(int run_fd, const char *going);

/*
 * @name in the directory @dir_fd. 0; nothing was changed: -EBUSY: a stream is open, -EINPROGRESS:
 * the upstream does not have all of it; -errno.
 */
int coll_remove_run(int dir_fd, const char *name, coll_run_dispensable *dispensable);

/* What an earlier sweep has left half removed in @dir_fd. 0 or -errno of the last that failed. */
int coll_remove_leftovers(int dir_fd);

/* What coll_remove_run would say now; it changes nothing. */
int coll_run_may_go(int dir_fd, const char *name, coll_run_dispensable *dispensable);

/* Whether a stream of the run is being written. -errno: it cannot be told. */
int coll_run_is_open(int dir_fd, const char *name);

#endif
