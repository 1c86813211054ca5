/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int base_read_upto(int fd, char *to, size_t room, size_t *got)
{
	*got = 0;
	while (*got < room) {
		ssize_t n = read(fd, to + *got, room - *got);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		*got += (size_t)n;
	}
	return 0;
}

int base_file_read(const char *path, char **text, size_t *len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), err = 0;
	struct stat st;
	char *data = NULL;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		err = -errno;
	else if (S_ISDIR(st.st_mode))
		err = -EISDIR;
	else if (!S_ISREG(st.st_mode))
		err = -EINVAL;
	else if ((unsigned long long)st.st_size > BASE_FILE_BYTES_MAX)
		err = -EFBIG;
	if (!err) {
		/* Files of /proc and /sys claim to be empty or a page. */
		size_t room = st.st_size > 4096 ? (size_t)st.st_size : 4096;
		data = malloc(room + 1);
		err = data ? base_read_upto(fd, data, room, len) : -ENOMEM;
	}
	close(fd);
	if (err) {
		free(data);
		return err;
	}
	data[*len] = '\0';
	*text = data;
	return 0;
}

int base_write_all(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len) {
		ssize_t n = write(fd, p, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -ENOSPC;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

/* A device or a pipe stays what it is: a file renamed onto /dev/null would take its place. */
static int write_into(const char *path, const void *data, size_t len)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY), err;

	if (fd < 0)
		return -errno;
	err = base_write_all(fd, data, len);
	if (close(fd) && !err)
		err = -errno;
	return err;
}

int base_file_write(const char *path, const void *data, size_t len)
{
	struct stat st;
	char *temp;
	int err = 0;

	if (!stat(path, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return write_into(path, data, len);
	if (asprintf(&temp, "%s.%ld.tmp", path, (long)getpid()) < 0)
		return -ENOMEM;
	int fd = open(temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0) {
		err = -errno;
		goto free_temp;
	}
	err = base_write_all(fd, data, len);
	if (close(fd) && !err)
		err = -errno;
	if (!err && rename(temp, path))
		err = -errno;
	if (err)
		unlink(temp);
free_temp:
	free(temp);
	return err;
}

/* File systems that cannot make a file without a name get one whose name is taken away. */
static int temp_in(const char *folder)
{
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);
	char *path = NULL;

	if (fd >= 0)
		return fd;
	if (asprintf(&path, "%s/gpustarve-XXXXXX", folder) < 0)
		return -ENOMEM;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	else
		fd = -errno;
	free(path);
	return fd;
}

int base_temp_file(const char *folder)
{
	const char *named = folder ? folder : getenv("TMPDIR");

	if (named && named[0])
		return temp_in(named);
	int fd = temp_in("/var/tmp");
	return fd >= 0 ? fd : temp_in("/tmp");
}

void base_folder_remove(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
	rmdir(path);
}
