/* SPDX-License-Identifier: Apache-2.0 */
#include "job_dirs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "store/side.h"

bool coll_job_has_end(int job_fd, const char *alloc)
{
	int fd = openat(job_fd, alloc, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	char tail[COLL_SIDE_ALLOC_TAIL];
	struct stat st;
	ssize_t n = -1;

	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		n = pread(fd, tail, COLL_SIDE_ALLOC_TAIL,
			  st.st_size > COLL_SIDE_ALLOC_TAIL ? st.st_size - COLL_SIDE_ALLOC_TAIL
							    : 0);
	close(fd);
	return n > 0 && coll_side_alloc_has_end(tail, (size_t)n);
}

/* Of alloc-NODE-RESTART.json. */
static int mark_node(int job_fd, const char *alloc)
{
	const char *node = strchr(alloc, '-') + 1, *end = strrchr(alloc, '-');
	char name[NAME_MAX + 1];
	int fd;

	if (end <= node)
		return 0;
	snprintf(name, sizeof(name), "unrecorded-%.*s", (int)(end - node), node);
	fd = openat(job_fd, name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

int coll_job_mark_unseen(int folder_fd, const char *job)
{
	int fd = openat(folder_fd, job, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), err = 0;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR || errno == ELOOP ? 0 : -errno;
	if (!d) {
		close(fd);
		return -ENOMEM;
	}
	while (!err && (e = readdir(d)))
		if (coll_side_is_allocation(e->d_name))
			err = mark_node(fd, e->d_name);
	closedir(d);
	return err;
}
