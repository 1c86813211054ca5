/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads of ours: detached, named, with every signal blocked so that the program's handlers never
 * run on them; and the futex words they sleep on, which need no lock and survive a hung peer.
 */
#ifndef PROF_THREAD_H
#define PROF_THREAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Starts run() on a thread of its own. 0 or -errno. Keeps the caller's signal mask. */
int prof_thread_start(void *(*run)(void *));

/*
 * First thing in run(): its name, up to 15 characters, and what a thread inherits from the one that
 * starts it, which is whichever thread of the program came by. None of ours runs with a real-time
 * policy, with a higher priority than an ordinary program's, or on the one CPU that the program has
 * pinned that thread to, if the process was given others. Not by who starts it: that would open a
 * file in /proc on a thread of the program, maybe under CUPTI's locks.
 */
void prof_thread_begin(const char *name);

/* Is the calling thread one of ours? Async-signal-safe. */
bool prof_thread_ours(void);

/* In the constructor: remembers on which CPUs the process may run. One system call. */
void prof_thread_remember(void);

/* Sleeps while *word == seen, until deadline (monotonic ns). Spurious returns happen. */
void prof_word_wait(atomic_uint *word, unsigned int seen, int64_t deadline_ns);

/* Adds 1 to *word and wakes all who sleep on it. Any thread, no lock. */
void prof_word_bump(atomic_uint *word);

/* Waits until *word >= value or the deadline; true if it got there. */
bool prof_word_reach(atomic_uint *word, unsigned int value, int64_t deadline_ns);

#endif
