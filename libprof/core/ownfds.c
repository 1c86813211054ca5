/* SPDX-License-Identifier: Apache-2.0 */
/*
 * close_range with CLOSE_RANGE_UNSHARE; where that is not to be had (before Linux 5.9, or a filter
 * of system calls that does not know it) unshare, and then one by one.
 */
#include "ownfds.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NR_CLOSE_RANGE 436 /* on all architectures; old headers do not have it */
#define RANGE_UNSHARE 2u
#define NUMBERS_MAX (1u << 20) /* fs.nr_open, unless somebody raised it */

struct entry { /* of getdents64 */
	uint64_t inode;
	int64_t next;
	uint16_t bytes;
	uint8_t type;
	char name[];
};

static _Thread_local bool left; /* a forked child's thread is one that has not */

/* As /proc lists them. A directory there goes by numbers: closing on the way misses none. */
static int close_listed(void)
{
	_Alignas(struct entry) char room[4096];
	char path[64];
	ssize_t n, at;
	int dir, fd;

	snprintf(path, sizeof(path), "/proc/self/task/%ld/fd", syscall(SYS_gettid));
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	while ((n = syscall(SYS_getdents64, dir, room, sizeof(room))) > 0)
		for (at = 0; at < n; at += ((struct entry *)(void *)(room + at))->bytes) {
			fd = atoi(((struct entry *)(void *)(room + at))->name);
			if (fd != dir) /* the dots say 0, which is closed as well */
				close(fd);
		}
	close(dir);
	return n ? -EIO : 0;
}

/* All numbers that can be in use: none may stay, or a pipe of the program's never ends. */
static void close_numbers(void)
{
	struct rlimit limit;
	int fd, most = NUMBERS_MAX;

	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_max < NUMBERS_MAX)
		most = (int)limit.rlim_max;
	for (fd = 0; fd < most; fd++)
		close(fd);
}

static int leave(void)
{
	if (!syscall(NR_CLOSE_RANGE, 0u, UINT_MAX, RANGE_UNSHARE))
		return 0;
	if (syscall(SYS_unshare, CLONE_FILES))
		return -errno;
	if (close_listed())
		close_numbers();
	return 0;
}

int prof_ownfds_leave(void)
{
	int i, err = leave();

	if (err)
		return err;
	/* What would write to stderr must not hit anything that is opened later. */
	for (i = 0; i < 3; i++)
		syscall(SYS_openat, AT_FDCWD, "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	left = true;
	return 0;
}

bool prof_ownfds(void)
{
	return left;
}
