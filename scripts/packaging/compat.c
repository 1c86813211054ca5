/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linked into the programs of scripts/package: what they, or this Debian's static archives, ask of
 * glibc and 2.27 has not. libprof.so asks for nothing of it.
 */
#include "compat.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

int fcntl64(int fd, int command, ...);

/* On 64-bit machines it is fcntl. */
int fcntl64(int fd, int command, ...)
{
	va_list list;
	void *arg;

	va_start(list, command);
	arg = va_arg(list, void *);
	va_end(list);
	return fcntl(fd, command, arg);
}

int renameat2(int old_dir, const char *old, int new_dir, const char *new, unsigned int flags)
{
	return (int)syscall(__NR_renameat2, old_dir, old, new_dir, new, flags);
}

int statx(int dir, const char *path, int flags, unsigned int mask, struct statx *out)
{
	return (int)syscall(__NR_statx, dir, path, flags, mask, out);
}

/* expat's salt of its hash tables. */
void arc4random_buf(void *to, size_t len)
{
	size_t done = 0;

	while (done < len) {
		ssize_t got = getrandom((char *)to + done, len - done, 0);

		if (got > 0)
			done += (size_t)got;
	}
}

/* Of what is open now and does not close by itself. */
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from)
{
	DIR *d = opendir("/proc/self/fd");
	struct dirent *e;
	int err = 0;

	while (d && !err && (e = readdir(d))) {
		int fd = atoi(e->d_name), flags = fd >= from ? fcntl(fd, F_GETFD) : -1;

		if (flags >= 0 && !(flags & FD_CLOEXEC))
			err = posix_spawn_file_actions_addclose(actions, fd);
	}
	if (d)
		closedir(d);
	return err;
}
