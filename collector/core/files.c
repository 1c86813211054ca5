/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Write beside, sync, rename, sync the folder.
 */
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/files.h"

int coll_folder_sync(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return -errno;
	if (fsync(fd) && errno != EINVAL)
		err = -errno;
	close(fd);
	return err;
}

int coll_file_replace_by(const char *dir, const char *name, int (*put)(int fd, void *arg),
			 void *arg)
{
	char path[PATH_MAX], tmp[PATH_MAX];
	int fd, err;

	if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path) ||
	    snprintf(tmp, sizeof(tmp), "%s/.%s.tmp", dir, name) >= (int)sizeof(tmp))
		return -ENAMETOOLONG;
	fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (fd < 0)
		return -errno;
	err = put(fd, arg);
	if (!err && fsync(fd))
		err = -errno;
	close(fd);
	if (!err && rename(tmp, path))
		err = -errno;
	if (err)
		unlink(tmp);
	return err ? err : coll_folder_sync(dir);
}

struct bytes {
	const void *at;
	size_t len;
};

static int put_bytes(int fd, void *arg)
{
	const struct bytes *b = arg;

	return base_write_all(fd, b->at, b->len);
}

int coll_file_replace(const char *dir, const char *name, const void *bytes, size_t len)
{
	struct bytes b = { bytes, len };

	return coll_file_replace_by(dir, name, put_bytes, &b);
}

static int read_all(int fd, size_t max, uint8_t **bytes, size_t *len)
{
	struct stat st;
	int err;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	if ((uint64_t)st.st_size > max)
		return -EFBIG;
	*bytes = malloc((size_t)st.st_size + 1);
	if (!*bytes)
		return -ENOMEM;
	err = base_read_upto(fd, (char *)*bytes, (size_t)st.st_size, len);
	if (err) {
		free(*bytes);
		return err;
	}
	(*bytes)[*len] = 0;
	return 0;
}

static int read_fd(int fd, size_t max, uint8_t **bytes, size_t *len)
{
	int err;

	if (fd < 0)
		return -errno;
	err = read_all(fd, max, bytes, len);
	close(fd);
	return err;
}

int coll_file_read(const char *path, size_t max, uint8_t **bytes, size_t *len)
{
	return read_fd(open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), max, bytes, len);
}

int coll_file_read_at(int dir_fd, const char *name, size_t max, uint8_t **bytes, size_t *len)
{
	int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;

	return read_fd(openat(dir_fd, name, flags), max, bytes, len);
}

int coll_file_read_linked(const char *path, size_t max, uint8_t **bytes, size_t *len)
{
	return read_fd(open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), max, bytes, len);
}
