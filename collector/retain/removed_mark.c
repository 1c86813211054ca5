/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One look-up a question, whatever was removed.
 */
#include "removed_mark.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "run_dirs.h"
#include "store/epoch.h"

#define DAY_S 86400

int coll_removed_mark(int dir_fd, const char *name)
{
	char path[PATH_MAX];
	int fd;

	if (faccessat(dir_fd, COLL_EPOCH_FILE, F_OK, AT_SYMLINK_NOFOLLOW))
		return 0;
	snprintf(path, sizeof(path), COLL_REMOVED_DIR "/%s", name);
	if (mkdirat(dir_fd, COLL_REMOVED_DIR, 0777) && errno != EEXIST)
		return -errno;
	fd = openat(dir_fd, path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

bool coll_removed_is_marked(int dir_fd, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), COLL_REMOVED_DIR "/%s", name);
	return !faccessat(dir_fd, path, F_OK, AT_SYMLINK_NOFOLLOW);
}

void coll_removed_clean(int dir_fd)
{
	int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(dir_fd, COLL_REMOVED_DIR, flags);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	time_t before = time(NULL) - COLL_REMOVED_DAYS * (time_t)DAY_S;
	struct dirent *e;
	struct stat st;

	if (!d && fd >= 0)
		close(fd);
	while (d && (e = readdir(d)))
		if (coll_run_dir_name_ok(e->d_name) &&
		    !fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) && st.st_mtime < before)
			unlinkat(fd, e->d_name, 0);
	if (d)
		closedir(d);
}
