/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps what our threads do apart from the program's forks, for a child gets the memory as it is at
 * that instant: locks held, lists half made. Three locks,
 * each held by any number of our threads or by any number of forks:
 *
 *   samples a child that is forked meanwhile would have descriptors of ours. A fork waits for the
 *           sample under way, some 50 us and at most 20 ms; a sample waits for forks, and is left
 *           out if they take too long.
 *   loads   a child that is made while a library is loaded has a loader that is not whole: its next
 *           dlopen ends it with 127. A fork waits for that, at most 2 s.
 *   NVML    a child that uses NVML may find one of its locks locked for ever. A fork waits for the
 *           call that is under way, at most 2 s; once that was in vain NVML is not called again, and
 *           no fork waits for it again.
 *
 * The waits are bounded, because the thread inside may in turn wait for a lock that the forking one
 * holds. A load or a call of NVML comes before forks that have not begun yet, so that programs that
 * fork all the time do not keep it out.
 */
#ifndef PROF_FORK_LOCK_H
#define PROF_FORK_LOCK_H

#include <stdbool.h>

/* The one thread that samples. False: a fork is under way and did not end in time: no sample. */
bool prof_fork_lock_sample_enter(void);
void prof_fork_lock_sample_leave(void);

/*
 * Around whatever loads a library. Any thread, also one of the program; it may fork inside. False:
 * forks that had begun did not end within a second; do not load.
 */
bool prof_fork_lock_load_enter(void);
void prof_fork_lock_load_leave(void);

/* Around each call into NVML. False: the same, or NVML is not to be called any more. */
bool prof_fork_lock_nvml_enter(void);
void prof_fork_lock_nvml_leave(void);

/* Has a fork waited for NVML in vain? Any thread. */
bool prof_fork_lock_nvml_shut(void);

/* atfork handlers, on any thread. child: frees the locks for threads of the child. */
void prof_fork_lock_prepare(void);
void prof_fork_lock_parent(void);
void prof_fork_lock_child(void);

#endif
