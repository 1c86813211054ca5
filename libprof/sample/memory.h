/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that processes share by a file in memory (/dev/shm, memfd), as Python's shared_memory,
 * its mmap and torch's tensors have it: all keep a descriptor of it open. Who sleeps and looks
 * there whether a batch has come shows nothing else of what it waits for. From /proc (fd); what is
 * behind a descriptor is asked for its number and size alone. Allocates nothing.
 */
#ifndef PROF_MEMORY_H
#define PROF_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "linktext.h"

#define PROF_MEMORY_MAX 3u /* of one process: links have room for so many beside others */
#define PROF_MEMORY_LEAST_BYTES (64 << 10) /* a word or a counter is no batch */

struct prof_memory {
	uint64_t device, inode;
	int fd;
};

/*
 * What this process has open, at most PROF_MEMORY_MAX, in order of descriptors; asked again after
 * a second. How many. The sampler's thread.
 */
size_t prof_memory_own(const struct prof_memory **out, int64_t now_ns);

/* Is the descriptor, whose link says @link, such memory? @pid 0: this process. Any thread. */
bool prof_memory_look(pid_t pid, int fd, const char *link, struct prof_memory *out);

void prof_memory_link(char id[PROF_LINK_ID], const struct prof_memory *m);

#endif
