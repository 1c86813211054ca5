/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Unix socket: mode 0600, in a directory that is made 0700 (any_user: 0666, 0755), guarded by a
 * lock file beside it
 * (PATH.pid, locked for as long as the collector lives; it holds the process id and, in a second
 * line, where its runs go). Only the holder of the lock may replace the socket file: that of a dead
 * collector is replaced, that of a live one never. One thread.
 */
#ifndef COLL_LISTENER_H
#define COLL_LISTENER_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>
#include "core/loop.h"

struct coll_listener {
	struct coll_source source; /* fd -1: not open; ready is the user's */
	const char *path; /* borrowed */
	const char *base; /* where its runs go, borrowed; may be NULL */
	bool any_user; /* of this machine may connect */
	int lock_fd;
	dev_t dev; /* of the socket file, to know whether it is still ours */
	ino_t ino;
};

/*
 * 0; -EBUSY: another collector holds the lock; -EADDRINUSE: another program listens there;
 * -EEXIST: something else than a socket is there; -ENAMETOOLONG; -errno.
 */
int coll_listener_open(struct coll_listener *l, const char *path);

/* Nothing is at the path any more (somebody cleaned up): nobody can connect. */
bool coll_listener_gone(const struct coll_listener *l);

/*
 * Next connection, non-blocking, CLOEXEC; -EAGAIN: none waits; -EPERM: one of another user was
 * turned away; -errno of accept.
 */
int coll_listener_accept(struct coll_listener *l, struct ucred *peer);

/* Removes the files that are still ours. */
void coll_listener_close(struct coll_listener *l);

#endif
