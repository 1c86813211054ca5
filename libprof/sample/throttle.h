/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For how long the cgroups that this process is in have been throttled by their CPU quota: cpu.stat
 * of its own group and of those above, as far as they are to be seen, version 1 or 2. One thread.
 */
#ifndef PROF_THROTTLE_H
#define PROF_THROTTLE_H

#include <stdint.h>
#include "mounts.h"

#define PROF_THROTTLE_LEVELS 8u

struct prof_throttle {
	char path[PROF_THROTTLE_LEVELS][512]; /* of the cpu.stat files */
	uint32_t count;
};

/* Finds the files. @m: this process's mounts. May find none. */
void prof_throttle_find(struct prof_throttle *t, const struct prof_mounts *m);

/* The sum of all levels, nanoseconds; 0 where none can be read. */
uint64_t prof_throttle_read(const struct prof_throttle *t);

/*
 * For tests: the same with a text of /proc/self/cgroup; throttled_usec (2) or throttled_time (1).
 */
void prof_throttle_paths(struct prof_throttle *t, const struct prof_mounts *m, const char *cgroup);
uint64_t prof_throttle_parse(const char *text);

#endif
