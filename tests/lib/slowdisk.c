/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded, gives a program a disk that takes as long as a test wants: fdatasync and syncfs wait
 * while $SLOWDISK/hold is there, and have made $SLOWDISK/held meanwhile; with $SLOWDISK/fail they
 * fail.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static int is_there(const char *name, int flags)
{
	const char *dir = getenv("SLOWDISK");
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir ? dir : "/nowhere", name);
	fd = open(path, O_RDONLY | O_CLOEXEC | flags, 0600);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static int disk(void)
{
	while (is_there("hold", 0)) {
		is_there("held", O_CREAT);
		usleep(2000);
	}
	errno = EIO;
	return is_there("fail", 0) ? -1 : 0;
}

__attribute__((visibility("default"))) int fdatasync(int fd)
{
	return disk() ? -1 : (int)syscall(SYS_fdatasync, fd);
}

__attribute__((visibility("default"))) int syncfs(int fd)
{
	return disk() ? -1 : (int)syscall(SYS_syncfs, fd);
}
