/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is there room for one more thread of ours, and for its memory? Near the limits of a cgroup
 * (memory, pids; version 1 or 2) the program needs what is left, and so do threads of its own that
 * are yet to come. Some ten small files, read once: own group and those above it. Any thread;
 * allocates nothing.
 */
#ifndef PROF_HEADROOM_H
#define PROF_HEADROOM_H

#include <stdbool.h>

/* True where no limit can be seen. */
bool prof_headroom(void);

/* For tests: the same with a text of /proc/self/cgroup and the folder that /sys/fs/cgroup is. */
bool prof_headroom_in(const char *cgroup, const char *top);

#endif
