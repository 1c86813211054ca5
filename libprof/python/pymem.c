/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads memory by the first way that works.
 *
 * No signal handler that catches the fault: torch's loader workers and many others install handlers
 * of their own for SIGSEGV and SIGBUS.
 */
#include "pymem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/ownfds.h"

#define PIPE_BYTES 4096u /* what a pipe takes at once for sure */
#define COPY_BYTES 65536u /* of one read by copying, at most */
/* MFD_CLOEXEC, MFD_NOEXEC_SEAL: without that Linux 6.3 complains in its log */
#define COPY_FLAGS 9u
#define PAGE 4096u

static const char *const ways[] = { "by process_vm_readv", "by /proc/PID/mem", "by a pipe" };

const char *prof_pymem_way_name(enum prof_pymem_way way)
{
	return way < PROF_PYMEM_WAYS ? ways[way] : "not at all";
}

/*
 * The kernel writes all parts into a file in memory that is mapped here. It copies as this thread
 * would, while process_vm_readv pins the page of each part: a search with dozens of parts in each
 * read is a tenth as dear. Parts begin at whole words there, so that none is copied in two pieces.
 * The number of parts that were read whole, or -1: they cannot be had so.
 *
 * By the kernel's own call: libc's is a sanitizer's in a program built with one, which ends a
 * program that writes what is not an object of its, or calls it a race.
 */
static int by_copy(const struct prof_pymem *m, const struct prof_pymem_part *part, size_t parts)
{
	static const uint8_t zeros[8];
	struct iovec from[2 * PROF_PYMEM_PARTS];
	size_t pieces = 0, sum = 0, i;
	ssize_t n;

	for (i = 0; i < parts; i++) {
		size_t rest = -part[i].bytes % 8;

		from[pieces++] = (struct iovec){ (void *)(uintptr_t)part[i].from, part[i].bytes };
		if (rest)
			from[pieces++] = (struct iovec){ (void *)(uintptr_t)zeros, rest };
		sum += part[i].bytes + rest;
		if (sum > COPY_BYTES)
			return -1;
	}
	n = syscall(SYS_pwritev, m->fd, from, pieces, 0L, 0L);
	if (n < 0)
		return -1;
	for (i = sum = 0; i < parts && sum + part[i].bytes <= (size_t)n; i++) {
		memcpy(part[i].to, m->copy + sum, part[i].bytes);
		sum += part[i].bytes + -part[i].bytes % 8;
	}
	return (int)i;
}

/* The number of parts that were read whole, or -errno. */
static int by_vm(const struct prof_pymem *m, const struct prof_pymem_part *part, size_t parts)
{
	struct iovec local[PROF_PYMEM_PARTS], remote[PROF_PYMEM_PARTS];
	size_t i, sum = 0;
	ssize_t n;

	if (!parts)
		return 0;
	if (m->copy && (n = by_copy(m, part, parts)) >= 0)
		return (int)n;
	for (i = 0; i < parts; i++) {
		local[i] = (struct iovec){ part[i].to, part[i].bytes };
		remote[i] = (struct iovec){ (void *)(uintptr_t)part[i].from, part[i].bytes };
	}
	n = process_vm_readv(m->pid, local, parts, remote, parts, 0);
	if (n < 0)
		return errno == EFAULT ? 0 : -errno;
	for (i = 0; i < parts && sum + part[i].bytes <= (size_t)n; i++)
		sum += part[i].bytes;
	return (int)i;
}

static int open_file(const struct prof_pymem *m)
{
	char path[40];
	long fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)m->pid);
	fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : (int)fd;
}

static int read_file(int fd, const struct prof_pymem_part *part)
{
	ssize_t n = syscall(SYS_pread64, fd, part->to, part->bytes, (off_t)part->from);

	if (n < 0)
		return errno == EIO ? -EFAULT : -errno;
	if (!n && part->bytes)
		return -ESRCH; /* its address space is gone */
	return (size_t)n == part->bytes ? 0 : -EFAULT;
}

/* In the program's table the number may be the program's by the next time. */
static int by_file(const struct prof_pymem *m, const struct prof_pymem_part *part, size_t parts)
{
	int fd = m->fd >= 0 ? m->fd : open_file(m), rc = fd < 0 ? fd : 0;
	size_t i;

	for (i = 0; i < parts && !rc; i++)
		rc = read_file(fd, &part[i]);
	if (fd >= 0 && fd != m->fd)
		syscall(SYS_close, fd);
	return rc == -EFAULT ? (int)i - 1 : rc ? rc : (int)parts;
}

/*
 * What was written comes back at once: nobody else has the pipe, and it is empty before and after.
 */
static int through_pipe(const struct prof_pymem *m, uint64_t from, uint8_t *to, size_t bytes)
{
	size_t done = 0;

	while (done < bytes) {
		size_t want = bytes - done < PIPE_BYTES ? bytes - done : PIPE_BYTES;
		ssize_t n = syscall(SYS_write, m->pipe[1], from + done, want);

		if (n <= 0)
			return n && errno != EFAULT ? -errno : -EFAULT;
		if (read(m->pipe[0], to + done, (size_t)n) != n)
			return -EIO;
		done += (size_t)n;
	}
	return 0;
}

static int by_pipe(const struct prof_pymem *m, const struct prof_pymem_part *part, size_t parts)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < parts && !rc; i++)
		rc = through_pipe(m, part[i].from, part[i].to, part[i].bytes);
	return rc == -EFAULT ? (int)i - 1 : rc ? rc : (int)parts;
}

/* The kernel refuses a call with an address that can be nobody's as a whole. */
static size_t possible_parts(const struct prof_pymem_part *part, size_t parts)
{
	size_t i;

	for (i = 0; i < parts; i++)
		if (part[i].from + part[i].bytes < part[i].from || part[i].from > INT64_MAX)
			break;
	return i;
}

int prof_pymem_read_some(struct prof_pymem *m, const struct prof_pymem_part *part, size_t parts)
{
	int kept = errno, rc = 0;

	if (parts > PROF_PYMEM_PARTS)
		return -EINVAL;
	parts = possible_parts(part, parts);
	if (m->way == PROF_PYMEM_VM)
		rc = by_vm(m, part, parts);
	else if (m->way == PROF_PYMEM_FILE)
		rc = by_file(m, part, parts);
	else
		rc = m->pipe[1] < 0 ? -EPERM : by_pipe(m, part, parts);
	errno = kept;
	return rc;
}

int prof_pymem_read_parts(struct prof_pymem *m, const struct prof_pymem_part *part, size_t parts)
{
	int rc;

	if (possible_parts(part, parts) < parts)
		return -EFAULT;
	rc = prof_pymem_read_some(m, part, parts);
	return rc < 0 ? rc : (size_t)rc < parts ? -EFAULT : 0;
}

int prof_pymem_read(struct prof_pymem *m, uint64_t from, void *to, size_t bytes)
{
	struct prof_pymem_part part = { from, to, bytes };

	return prof_pymem_read_parts(m, &part, 1);
}

ssize_t prof_pymem_text(struct prof_pymem *m, uint64_t from, char *to, size_t room)
{
	size_t done = 0;

	while (done + 1 < room) { /* page by page: the next one may not be there */
		size_t bytes = PAGE - (from + done) % PAGE;
		char *end;
		int rc;

		if (bytes > room - 1 - done)
			bytes = room - 1 - done;
		rc = prof_pymem_read(m, from + done, to + done, bytes);
		if (rc)
			return rc;
		end = memchr(to + done, 0, bytes);
		if (end)
			return end - to;
		done += bytes;
	}
	to[done] = 0;
	return (ssize_t)done;
}

/*
 * Numbers are kept in a table of our own only. What goes into a pipe in the program's table might
 * go into a file of the program's that has its number by then: rather nothing is read.
 */
static int prepare_way(struct prof_pymem *m)
{
	switch (m->way) {
	case PROF_PYMEM_FILE:
		if (!prof_ownfds())
			return 0;
		m->fd = open_file(m);
		return m->fd < 0 ? m->fd : 0;
	case PROF_PYMEM_PIPE:
		if (m->pid != getpid() || !prof_ownfds())
			return -EPERM;
		return pipe2(m->pipe, O_CLOEXEC | O_NONBLOCK) ? -errno : 0;
	default:
		return 0;
	}
}

/* A forked child has no use for it. */
static const uint8_t *map_copy(int fd)
{
	void *at;

	if (ftruncate(fd, COPY_BYTES))
		return NULL;
	at = mmap(NULL, COPY_BYTES, PROT_READ, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		return NULL;
	if (!madvise(at, COPY_BYTES, MADV_DONTFORK))
		return at;
	munmap(at, COPY_BYTES);
	return NULL;
}

/*
 * A write beyond a limit of the size of files would send a signal. The program may set one later:
 * then our threads, which block them all, get it, and never see it.
 */
static void prepare_copy(struct prof_pymem *m)
{
	struct rlimit limit;
	long fd;

	if (m->way != PROF_PYMEM_VM || m->pid != getpid() || !prof_ownfds() ||
	    getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur != RLIM_INFINITY)
		return;
	fd = syscall(SYS_memfd_create, "gpustarve", COPY_FLAGS);
	if (fd < 0 && errno == EINVAL)
		fd = syscall(SYS_memfd_create, "gpustarve", COPY_FLAGS & 1u);
	if (fd < 0)
		return;
	m->copy = map_copy((int)fd);
	if (m->copy)
		m->fd = (int)fd;
	else
		syscall(SYS_close, fd);
}

/* Of ourselves a word that is surely there; of others a page that is surely not. */
static int try_way(struct prof_pymem *m)
{
	uint64_t known = UINT64_C(0x0123456789abcdef), seen = 0;
	int rc = prepare_way(m);

	if (rc)
		return rc;
	if (m->pid != getpid()) {
		rc = prof_pymem_read(m, 0, &seen, sizeof(seen));
		return rc == -EFAULT ? 0 : rc ? rc : -EIO;
	}
	rc = prof_pymem_read(m, (uintptr_t)&known, &seen, sizeof(seen));
	return rc ? rc : seen == known ? 0 : -EIO;
}

int prof_pymem_open(struct prof_pymem *m, pid_t pid, enum prof_pymem_way first)
{
	int kept = errno, rc = -ENOSYS;

	*m = (struct prof_pymem){ .pid = pid ? pid : getpid(), .fd = -1, .pipe = { -1, -1 } };
	for (m->way = first; m->way < PROF_PYMEM_WAYS; m->way++) {
		int one = try_way(m);

		if (!one || one == -ESRCH) {
			rc = one;
			prepare_copy(m);
			break;
		}
		if (one != -ENOSYS)
			rc = -EPERM;
		prof_pymem_close(m);
	}
	errno = kept;
	return rc;
}

void prof_pymem_close(struct prof_pymem *m)
{
	int kept = errno;
	int fds[3] = { m->fd, m->pipe[0], m->pipe[1] };
	size_t i;

	for (i = 0; i < 3; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	if (m->copy && m->pid == getpid())
		munmap((void *)(uintptr_t)m->copy, COPY_BYTES);
	m->fd = m->pipe[0] = m->pipe[1] = -1;
	m->copy = NULL;
	errno = kept;
}
