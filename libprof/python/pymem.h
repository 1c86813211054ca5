/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading memory that may not be there: of this process or of a child. A bad address is an error,
 * never a fault. Ways, the first that works is kept: process_vm_readv; pread of /proc/PID/mem; of
 * ourselves also write() into a pipe, which the kernel ends where memory ends. Where the first way
 * works ourselves are read faster by pwritev() into a file in memory (memfd_create); what cannot be
 * is read, or fails, by that way.
 *
 * One thread at a time. Nothing is allocated. The last two ways, and that file, keep descriptors
 * open where the calling thread has a table of them for itself (ownfds.h). Where it has none the
 * file of /proc is opened for each read, and there is no pipe and no copying.
 */
#ifndef PROF_PYMEM_H
#define PROF_PYMEM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

enum prof_pymem_way {
	PROF_PYMEM_VM = 0,
	PROF_PYMEM_FILE = 1,
	PROF_PYMEM_PIPE = 2,
	PROF_PYMEM_WAYS = 3,
};

struct prof_pymem {
	pid_t pid; /* never 0 */
	enum prof_pymem_way way;
	int fd, pipe[2]; /* -1: not open */
	/* fd is a file in memory, for the first way, and mapped here; NULL: it is not */
	const uint8_t *copy;
};

struct prof_pymem_part {
	uint64_t from;
	void *to;
	size_t bytes;
};

#define PROF_PYMEM_PARTS 68u

/*
 * @pid 0: this process. 0; -EPERM: no way is allowed; -ENOSYS: the kernel has none; -ESRCH. The
 * ways before @first are not tried, which tests use. Reading and closing are for the thread that
 * opened. What *m has open is forgotten, not closed: a forked child, where the numbers are not
 * ours, begins anew by opening.
 */
int prof_pymem_open(struct prof_pymem *m, pid_t pid, enum prof_pymem_way first);
void prof_pymem_close(struct prof_pymem *m);

/* What a user may want to know of the way: "by /proc/PID/mem", ... */
const char *prof_pymem_way_name(enum prof_pymem_way way);

/* All of it or nothing: 0, -EFAULT, -ESRCH (the process is gone) or another -errno. */
int prof_pymem_read(struct prof_pymem *m, uint64_t from, void *to, size_t bytes);

/* As many small reads, at most PROF_PYMEM_PARTS, in one call where that can be had. */
int prof_pymem_read_parts(struct prof_pymem *m, const struct prof_pymem_part *part, size_t parts);

/*
 * The same, but as many of the first parts as can be read whole. Their number, 0 if the first
 * cannot be read, or -errno: none of them could be, wherever they are.
 */
int prof_pymem_read_some(struct prof_pymem *m, const struct prof_pymem_part *part, size_t parts);

/*
 * Text that ends with NUL, at most @room - 1 bytes of it; longer text is cut. Its length or -errno.
 */
ssize_t prof_pymem_text(struct prof_pymem *m, uint64_t from, char *to, size_t room);

/* The word at @offset of what was read. */
static inline uint64_t prof_pymem_word(const uint8_t *raw, uint32_t offset)
{
	uint64_t value;

	memcpy(&value, raw + offset, sizeof(value));
	return value;
}

#endif
