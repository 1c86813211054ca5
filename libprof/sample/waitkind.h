/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a blocked thread waits for, decided from what was seen of it: state, system call,
 * descriptor, futex and Python stack. Pure functions; any thread.
 *
 * The names that the kernel gives its own functions (wchan) change from version to version and are
 * no key to anything here.
 */
#ifndef PROF_WAITKIND_H
#define PROF_WAITKIND_H

#include <stdbool.h>
#include <stdint.h>
#include "callkind.h"
#include "fdname.h"
#include "poll_set.h"
#include "threadfacts.h"
#include "wire/evidence.h"

/* By the kernel's letter. */
enum wire_state prof_state_of(char letter);

/*
 * A thread sleeps in a call that reads or writes a descriptor. @disk: in state D. A local disk is
 * always waited for in D: who sleeps in S on a path of one has a FIFO there.
 */
enum wire_wait prof_wait_of_fd(enum prof_fd_kind fd, const char *fs, bool writes, bool disk);

/* The same for a path: opening a FIFO waits for its other end. */
enum wire_wait prof_wait_of_path(const char *fs, bool writes, bool disk);

/*
 * The same in an ioctl: of a file on a network or in user space it is asked what it is (open() of
 * Python does so for each), and whoever has it is waited for.
 */
enum wire_wait prof_wait_of_ioctl(enum prof_fd_kind fd, const char *fs, bool disk);

/* A futex by its operation; whether it is the GIL's the caller knows. */
enum wire_wait prof_wait_of_futex(uint64_t op);

/*
 * A pipe or socket that a thread waits for: is it a queue between trainer and workers? @timeout_ns:
 * of its poll, -1 for none. @stack: its Python stack, "" if it is not known. torch polls its queues
 * for 5 s at a time (MP_STATUS_CHECK_INTERVAL); with a stack, multiprocessing must be on it, too.
 * What a dataset reads of its own while a batch is fetched is no such queue.
 */
bool prof_wait_is_queue(int64_t timeout_ns, const char *stack);

/* A lock shared by processes: is it the one around such a queue? */
bool prof_wait_is_queue_lock(const char *stack);

/*
 * A wait inside Python's own queues, pipes, pools and futures, whose locks and conditions both
 * sides share: does it take what another one makes (get, recv, result), or give (put, send)? By the
 * stack; of a wait in other code neither is known.
 */
bool prof_wait_takes(const char *stack);
bool prof_wait_gives(const char *stack);

/*
 * Threads of multiprocessing's pools that reach results and hand on none: the one that watches for
 * the end of workers, whose pipes are never written to, and the one that hands out work.
 */
bool prof_wait_watches(const char *stack);
bool prof_wait_hands_out(const char *stack);

/* The stack is that of a worker of torch's loader. */
bool prof_wait_in_loader(const char *stack);

/* The innermost frame is in Python's own threading or queue: no native stack tells more. */
bool prof_wait_in_threading(const char *stack);

#endif
