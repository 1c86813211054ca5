/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening a socket so that of any number of collectors started at once exactly one gets it.
 */
#include "listener.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "core/log.h"
#include "core/paths.h"

#define LOCK_TRIES 16

static int lock_path(char *out, size_t room, const char *path)
{
	int n = snprintf(out, room, "%s.pid", path);

	return n < 0 || (size_t)n >= room ? -ENAMETOOLONG : 0;
}

/* The file behind @fd is the one that its name leads to. */
static bool still_named(int fd, const char *name)
{
	struct stat a, b;

	return !fstat(fd, &a) && !lstat(name, &b) && a.st_ino == b.st_ino && a.st_dev == b.st_dev;
}

/* For people who ask who serves here, and for `gpustarve top`: where its runs go. */
static int write_pid(int fd, const char *base)
{
	char text[PATH_MAX + 32], *full = base ? realpath(base, NULL) : NULL;
	int n = snprintf(text, sizeof(text), "%d\n%s%s", (int)getpid(), full ? full : "",
			 full ? "\n" : "");

	free(full);
	if (ftruncate(fd, 0) || write(fd, text, (size_t)n) != n)
		coll_note("cannot write the PID file: %s", strerror(errno));
	return fd;
}

/*
 * The holder removes the file before it lets go, so a lock may be got on a file without a name:
 * then again.
 */
static int take_lock(const char *path, const char *base)
{
	char name[PATH_MAX];
	int fd, try, err = lock_path(name, sizeof(name), path);

	for (try = 0; !err && try < LOCK_TRIES; try++) {
		fd = open(name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd < 0)
			return -errno;
		if (flock(fd, LOCK_EX | LOCK_NB))
			err = errno == EWOULDBLOCK ? -EBUSY : -errno;
		else if (still_named(fd, name))
			return write_pid(fd, base);
		close(fd);
	}
	return err ? err : -EBUSY;
}

static int address(struct sockaddr_un *a, const char *path)
{
	size_t len = strlen(path);

	memset(a, 0, sizeof(*a));
	a->sun_family = AF_UNIX;
	if (len >= sizeof(a->sun_path))
		return -ENAMETOOLONG;
	memcpy(a->sun_path, path, len);
	return 0;
}

/* Another program's socket, which does not know our lock. */
static bool answers(const struct sockaddr_un *a)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool yes;

	if (fd < 0)
		return false;
	yes = !connect(fd, (const struct sockaddr *)a, sizeof(*a)) || errno == EAGAIN;
	close(fd);
	return yes;
}

static int remove_stale(const struct sockaddr_un *a)
{
	struct stat st;

	if (lstat(a->sun_path, &st))
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode))
		return -EEXIST;
	if (answers(a))
		return -EADDRINUSE;
	return unlink(a->sun_path) ? -errno : 0;
}

static int bind_socket(struct coll_listener *l, const struct sockaddr_un *a)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), err = 0;
	struct stat st = { .st_ino = 0 };
	mode_t mask;

	if (fd < 0)
		return -errno;
	mask = umask(l->any_user ? 0111 : 0177);
	if (bind(fd, (const struct sockaddr *)a, sizeof(*a)))
		err = -errno;
	umask(mask);
	if (!err && (listen(fd, SOMAXCONN) || lstat(a->sun_path, &st)))
		err = -errno;
	if (err) {
		close(fd);
		return err;
	}
	l->source.fd = fd;
	l->dev = st.st_dev;
	l->ino = st.st_ino;
	return 0;
}

int coll_listener_open(struct coll_listener *l, const char *path)
{
	struct sockaddr_un a;
	int err = address(&a, path);

	l->source.fd = l->lock_fd = -1;
	l->path = path;
	if (!err)
		err = coll_mkdirs_for(path, l->any_user ? 0755 : 0700);
	if (err)
		return err;
	l->lock_fd = take_lock(path, l->base);
	if (l->lock_fd < 0)
		return l->lock_fd;
	err = remove_stale(&a);
	if (!err)
		err = bind_socket(l, &a);
	if (err)
		coll_listener_close(l);
	return err;
}

bool coll_listener_gone(const struct coll_listener *l)
{
	struct stat st;

	return lstat(l->path, &st) && (errno == ENOENT || errno == ENOTDIR);
}

int coll_listener_accept(struct coll_listener *l, struct ucred *peer)
{
	socklen_t len = sizeof(*peer);
	/* cppcheck-suppress nullPointer; accept4 need not tell who it was */
	int fd = accept4(l->source.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return -errno;
	if (!getsockopt(fd, SOL_SOCKET, SO_PEERCRED, peer, &len) &&
	    (l->any_user || peer->uid == geteuid() || peer->uid == 0))
		return fd;
	close(fd);
	return -EPERM;
}

void coll_listener_close(struct coll_listener *l)
{
	char name[PATH_MAX];
	struct stat st;

	if (l->source.fd >= 0) {
		if (!lstat(l->path, &st) && st.st_ino == l->ino && st.st_dev == l->dev)
			unlink(l->path);
		close(l->source.fd);
		l->source.fd = -1;
	}
	if (l->lock_fd >= 0) {
		if (!lock_path(name, sizeof(name), l->path) && still_named(l->lock_fd, name))
			unlink(name);
		close(l->lock_fd);
		l->lock_fd = -1;
	}
}
