/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything relative to directories held open; no symbolic link is ever followed.
 */
#include "remove_run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
#include "base/vec.h"

#define DEPTH_MAX 8 /* run directories have no folders of ours; a user's may be there */
#define NAMES_MAX 1000

/* Descriptors of stream files, each locked. */
struct locks {
	int *fd;
	size_t count, room;
};

static void unlock_all(struct locks *l)
{
	while (l->count)
		close(l->fd[--l->count]);
	free(l->fd);
	*l = (struct locks){ .count = 0 };
}

static int keep_lock(struct locks *l, int fd)
{
	if (!base_vec_more(l->fd, l->count, l->room)) {
		close(fd);
		return -ENOMEM;
	}
	l->fd[l->count++] = fd;
	return 0;
}

static int lock_one(struct locks *l, int dir_fd, const char *name)
{
	int fd = openat(dir_fd, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0) /* gone meanwhile, or no file at all: nobody writes to it */
		return errno == ENOENT || errno == ELOOP || errno == EISDIR || errno == ENXIO
			       ? 0
			       : -errno;
	if (flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
		close(fd);
		return -EBUSY;
	}
	return keep_lock(l, fd);
}

static bool is_stream(const char *name)
{
	size_t len = strlen(name);

	return len > 4 && !strcmp(name + len - 4, ".gst");
}

/* A stream to read the names of; @dir_fd stays the caller's. */
static DIR *list_of(int dir_fd)
{
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d;

	if (fd < 0)
		return NULL;
	d = fdopendir(fd);
	if (!d)
		close(fd);
	return d;
}

static int open_dir(int dir_fd, const char *name)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	return fd;
}

static int lock_streams(struct locks *l, int run_fd)
{
	DIR *d = list_of(run_fd);
	struct dirent *e;
	int err = 0;

	if (!d)
		return -errno;
	while (!err && (e = readdir(d)))
		if (is_stream(e->d_name))
			err = lock_one(l, run_fd, e->d_name);
	closedir(d);
	return err;
}

/* What is to be forwarded stays until that is done. */
static int check(coll_run_dispensable *dispensable, int run_fd, const char *going)
{
	return !dispensable || dispensable(run_fd, going) ? 0 : -EINPROGRESS;
}

int coll_run_may_go(int dir_fd, const char *name, coll_run_dispensable *dispensable)
{
	int open = coll_run_is_open(dir_fd, name), fd, err;

	if (open)
		return open > 0 ? -EBUSY : open;
	fd = open_dir(dir_fd, name);
	if (fd < 0)
		return fd;
	err = check(dispensable, fd, NULL);
	close(fd);
	return err;
}

int coll_run_is_open(int dir_fd, const char *name)
{
	struct locks locks = { .count = 0 };
	int fd = open_dir(dir_fd, name), err;

	if (fd < 0)
		return fd;
	err = lock_streams(&locks, fd);
	unlock_all(&locks);
	close(fd);
	return err == -EBUSY ? 1 : err;
}

static int remove_tree(int dir_fd, const char *name, int depth);

static int remove_entry(int dir_fd, const char *name, int depth)
{
	if (!unlinkat(dir_fd, name, 0) || errno == ENOENT)
		return 0;
	return errno == EISDIR || errno == EPERM ? remove_tree(dir_fd, name, depth) : -errno;
}

/* Goes on where one entry cannot be removed, and tells in the end. */
static int remove_tree(int dir_fd, const char *name, int depth)
{
	int fd = depth < DEPTH_MAX ? open_dir(dir_fd, name) : -ELOOP, err = 0, one;
	struct dirent *e;
	DIR *d;

	if (fd < 0)
		return fd;
	d = list_of(fd);
	while (d && (e = readdir(d))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		one = remove_entry(fd, e->d_name, depth + 1);
		err = one ? one : err;
	}
	if (d)
		closedir(d);
	close(fd);
	if (!err && unlinkat(dir_fd, name, AT_REMOVEDIR) && errno != ENOENT)
		err = -errno;
	return err;
}

static int sync_dir(int dir_fd)
{
	return fsync(dir_fd) && errno != EINVAL ? -errno : 0;
}

/* To a name that is free. */
static int rename_aside(int dir_fd, const char *name, char out[NAME_MAX + 1])
{
	int i, n;

	for (i = 0; i < NAMES_MAX; i++) {
		n = snprintf(out, NAME_MAX + 1, COLL_GONE_PREFIX "%d-%.200s", i, name);
		if (n < 0 || n > NAME_MAX)
			return -ENAMETOOLONG;
		if (!renameat2(dir_fd, name, dir_fd, out, RENAME_NOREPLACE))
			return 0;
		if (errno == EINVAL && faccessat(dir_fd, out, F_OK, AT_SYMLINK_NOFOLLOW) &&
		    !renameat(dir_fd, name, dir_fd, out)) /* a file system that knows no flags */
			return 0;
		if (errno != EEXIST && errno != ENOTEMPTY)
			return -errno;
	}
	return -EEXIST;
}

/* A run that is being removed. */
struct removal {
	int dir_fd, run_fd;
	const char *name;
	char aside[NAME_MAX + 1];
	coll_run_dispensable *dispensable;
	struct locks locks;
};

/*
 * Once more after the renaming: a stream may have been opened before it, and not locked yet, or
 * have come and gone, and its frames are to be forwarded.
 */
static int set_aside(struct removal *r)
{
	int err = lock_streams(&r->locks, r->run_fd);

	unlock_all(&r->locks);
	if (!err)
		err = check(r->dispensable, r->run_fd, NULL);
	if (!err)
		err = rename_aside(r->dir_fd, r->name, r->aside);
	if (err)
		return err;
	err = lock_streams(&r->locks, r->run_fd);
	if (!err)
		err = check(r->dispensable, r->run_fd, r->name);
	if (!err)
		err = sync_dir(r->dir_fd);
	if (err && renameat(r->dir_fd, r->aside, r->dir_fd, r->name))
		return -errno;
	return err;
}

int coll_remove_run(int dir_fd, const char *name, coll_run_dispensable *dispensable)
{
	struct removal r = { .dir_fd = dir_fd, .name = name, .dispensable = dispensable };
	int err;

	r.run_fd = open_dir(dir_fd, name);
	if (r.run_fd < 0)
		return r.run_fd;
	err = set_aside(&r);
	if (!err)
		err = remove_tree(dir_fd, r.aside, 0);
	unlock_all(&r.locks);
	close(r.run_fd);
	return err ? err : sync_dir(dir_fd);
}

int coll_remove_leftovers(int dir_fd)
{
	DIR *d = list_of(dir_fd);
	struct dirent *e;
	int err = 0, one;

	if (!d)
		return -errno;
	while ((e = readdir(d))) {
		if (strncmp(e->d_name, COLL_GONE_PREFIX, sizeof(COLL_GONE_PREFIX) - 1))
			continue;
		one = remove_tree(dir_fd, e->d_name, 0);
		err = one ? one : err;
	}
	closedir(d);
	return err;
}
