/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mkdir -p.
 */
#include "paths.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "files.h"

static int make(const char *path, mode_t mode)
{
	struct stat st;

	if (!mkdir(path, mode))
		return 0;
	if (errno != EEXIST)
		return -errno;
	if (stat(path, &st))
		return -errno;
	return S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
}

int coll_mkdirs(const char *path, mode_t mode)
{
	char part[PATH_MAX];
	size_t len = strlen(path);
	char *slash;
	int err;

	if (!len || len >= sizeof(part))
		return len ? -ENAMETOOLONG : -ENOENT;
	memcpy(part, path, len + 1);
	for (slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		err = make(part, 0777);
		*slash = '/';
		if (err && err != -EROFS && err != -EACCES && err != -EPERM)
			return err;
	}
	return make(part, mode);
}

static void to_parent(char *path)
{
	size_t len = strlen(path);

	while (len > 1 && path[len - 1] == '/')
		len--;
	while (len && path[len - 1] != '/')
		len--;
	while (len > 1 && path[len - 1] == '/')
		len--;
	if (len)
		path[len] = '\0';
	else
		memcpy(path, ".", sizeof("."));
}

int coll_mkdirs_kept(const char *path, mode_t mode)
{
	size_t bytes = strlen(path) + 1;
	char at[PATH_MAX];
	int made = 0, err;

	if (!*path || bytes > sizeof(at))
		return *path ? -ENAMETOOLONG : -ENOENT;
	for (memcpy(at, path, bytes); access(at, F_OK) && strcmp(at, "/") && strcmp(at, ".");
	     made++)
		to_parent(at);
	err = coll_mkdirs(path, mode);
	for (memcpy(at, path, bytes); !err && made; made--) {
		to_parent(at);
		err = coll_folder_sync(at);
		if (err == -EACCES)
			err = 0;
	}
	return err;
}

int coll_mkdirs_for(const char *file, mode_t mode)
{
	char dir[PATH_MAX];
	const char *slash = strrchr(file, '/');

	if (!slash || slash == file)
		return 0;
	if ((size_t)(slash - file) >= sizeof(dir))
		return -ENAMETOOLONG;
	memcpy(dir, file, (size_t)(slash - file));
	dir[slash - file] = '\0';
	return coll_mkdirs(dir, mode);
}
