/* SPDX-License-Identifier: Apache-2.0 */
#include "scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include "base/files.h"
#include "store/run_name.h"

#define PREFIX ".work-"

/* Folders of plain files are all that we make in it. */
static void empty(const char *path)
{
	DIR *d = opendir(path);
	char below[PATH_MAX];
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
		    snprintf(below, sizeof(below), "%s/%s", path, e->d_name) < (int)sizeof(below))
			base_folder_remove(below);
	if (d)
		closedir(d);
}

static int lock(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB)) {
		close(fd);
		return -EBUSY;
	}
	return fd < 0 ? -errno : fd;
}

/* Those of the dead. */
static void remove_left(const char *base)
{
	DIR *d = opendir(base);
	char path[PATH_MAX];
	struct dirent *e;
	int fd;

	while (d && (e = readdir(d))) {
		if (strncmp(e->d_name, PREFIX, sizeof(PREFIX) - 1) != 0 ||
		    snprintf(path, sizeof(path), "%s/%s", base, e->d_name) >= (int)sizeof(path))
			continue;
		fd = lock(path);
		if (fd < 0)
			continue;
		empty(path);
		rmdir(path);
		close(fd);
	}
	if (d)
		closedir(d);
}

int coll_work_scratch_open(struct coll_work_scratch *s, const char *base)
{
	int err = 0;

	s->fd = -1;
	remove_left(base);
	do { /* another one that starts may take it for one that was left, or has removed it */
		if (s->fd >= 0)
			close(s->fd);
		if (snprintf(s->path, sizeof(s->path), "%s/" PREFIX "XXXXXX", base) >=
		    (int)sizeof(s->path))
			err = -ENAMETOOLONG;
		else if (!mkdtemp(s->path))
			err = -errno;
		s->fd = err ? -1 : lock(s->path);
		if (!err && s->fd < 0 && s->fd != -EBUSY && s->fd != -ENOENT)
			err = s->fd;
	} while (!err && (s->fd < 0 || access(s->path, F_OK)));
	if (err)
		s->path[0] = '\0';
	return err;
}

void coll_work_scratch_empty(const struct coll_work_scratch *s)
{
	if (s->path[0])
		empty(s->path);
}

void coll_work_scratch_close(struct coll_work_scratch *s)
{
	if (!s->path[0])
		return;
	empty(s->path);
	rmdir(s->path);
	close(s->fd);
	s->path[0] = '\0';
}

int coll_work_scratch_run(const struct coll_work_scratch *s, const char *run, char out[PATH_MAX])
{
	const char *suffix = coll_job_dir_is(run) ? "" : COLL_RUN_SUFFIX;

	if (snprintf(out, PATH_MAX, "%s/%s%s", s->path, run, suffix) >= PATH_MAX)
		return -ENAMETOOLONG;
	return mkdir(out, 0700) ? -errno : 0;
}

uint64_t coll_work_scratch_room(const struct coll_work_scratch *s)
{
	struct statvfs v;

	return statvfs(s->path, &v) ? UINT64_MAX : (uint64_t)v.f_bavail * v.f_frsize;
}
