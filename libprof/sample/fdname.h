/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a descriptor is, without touching what is behind it: the text of its link in /proc, its
 * mount from fdinfo, and of a socket its peer, by inode.
 */
#ifndef PROF_FDNAME_H
#define PROF_FDNAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "linktext.h"
#include "mounts.h"

enum prof_fd_kind {
	PROF_FD_UNKNOWN, /* not open any more, or not to be seen */
	PROF_FD_FILE, /* has a path; a FIFO has one, too */
	PROF_FD_PIPE,
	PROF_FD_SOCKET,
	PROF_FD_NVIDIA, /* /dev/nvidia* */
	PROF_FD_DEVICE, /* /dev/ anything else but shared memory */
	PROF_FD_OTHER, /* anon_inode: eventfd, timerfd, epoll, ... */
};

struct prof_fd {
	enum prof_fd_kind kind;
	const char *fs; /* of a file: its file system's type; "" if it cannot be told */
	uint64_t inode; /* of a pipe, a socket, a file; 0: not known */
};

/*
 * @pid 0: this process. @name gets the path, "pipe", "socket:peer" or "socket", or the link's text.
 */
struct prof_fd prof_fd_look(pid_t pid, int fd, struct prof_mounts *m, char *name, size_t room);

/* By the text of its link. */
enum prof_fd_kind prof_fd_kind_of(const char *link);

/*
 * The id of a pipe or socket, or of a file that the caller knows to be a FIFO (linktext.h); "": it
 * has none, or it is not known.
 */
void prof_fd_link(const struct prof_fd *f, bool fifo, char id[PROF_LINK_ID]);

enum prof_fd_end { /* bits */
	PROF_FD_READS = 1,
	PROF_FD_WRITES = 2,
};

/* In which ways it was opened; 0: that is not to be seen. @pid 0: this process. */
unsigned int prof_fd_ends(pid_t pid, int fd);

#endif
