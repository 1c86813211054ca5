/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker processes of this one: children that run the same program, and those of a fork server
 * of multiprocessing; not its helpers, nor what it runs as a command. One thread; allocates
 * nothing.
 */
#ifndef PROF_CHILDREN_H
#define PROF_CHILDREN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PROF_CHILDREN_MAX 128u

struct prof_children {
	uint32_t pid[PROF_CHILDREN_MAX]; /* of workers, as last seen */
	size_t count;
	uint32_t other[PROF_CHILDREN_MAX]; /* children that are known to be none */
	size_t others;
	uint32_t fresh[PROF_CHILDREN_MAX]; /* seen once: it may be about to run something else */
	size_t freshes;
};

/*
 * Reads anew which there are. @tid: the threads of this process that may have made children. False:
 * the kernel does not tell.
 */
bool prof_children_read(struct prof_children *c, const uint32_t *tid, size_t tids);

enum prof_child_kind {
	PROF_CHILD_OTHER,
	PROF_CHILD_WORKER,
	PROF_CHILD_SERVER, /* multiprocessing's fork server: its children are workers */
};

/*
 * By its command line and ours, words ended by NUL. Its program is the same as ours: a forked
 * worker has our words, a spawned one those of multiprocessing, anything else is a command that we
 * run.
 */
enum prof_child_kind prof_child_kind(const char *command, size_t len, const char *ours,
				     size_t our_len);

/*
 * Was it forked off this process, or off one that was, and runs the same program on? Then it has
 * our addresses, and got all our descriptors. Any thread.
 */
bool prof_forked_from_us(pid_t pid);

#endif
