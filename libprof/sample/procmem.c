/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_vm_readv, and /proc/PID/mem where that is refused.
 */
#include "procmem.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAGE 4096u

static ssize_t read_file(pid_t pid, uint64_t from, void *to, size_t bytes)
{
	char path[40];
	long fd, n;

	if (pid)
		snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	else
		strcpy(path, "/proc/self/mem");
	fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	n = syscall(SYS_pread64, fd, to, bytes, (off_t)from);
	syscall(SYS_close, fd);
	return n;
}

static ssize_t read_some(pid_t pid, uint64_t from, void *to, size_t bytes)
{
	struct iovec here = { to, bytes }, there = { (void *)(uintptr_t)from, bytes };
	ssize_t n = syscall(SYS_process_vm_readv, pid ? pid : getpid(), &here, 1, &there, 1, 0ul);

	return n > 0 ? n : read_file(pid, from, to, bytes);
}

bool prof_procmem_read(pid_t pid, uint64_t from, void *to, size_t bytes)
{
	return from && read_some(pid, from, to, bytes) == (ssize_t)bytes;
}

/* Page by page: the next one need not be there. */
size_t prof_procmem_text(pid_t pid, uint64_t from, char *to, size_t room)
{
	size_t len = 0, want;
	ssize_t n;

	while (from && len < room - 1) {
		want = PAGE - (from + len) % PAGE;
		if (want > room - 1 - len)
			want = room - 1 - len;
		n = read_some(pid, from + len, to + len, want);
		if (n <= 0)
			break;
		if (memchr(to + len, 0, (size_t)n))
			return strlen(to);
		len += (size_t)n;
	}
	to[len] = 0;
	return len;
}
