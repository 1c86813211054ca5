/* SPDX-License-Identifier: Apache-2.0 */
#include "preload_path.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/hash.h"

#define CUTS ": "

/* Whoever could write there would choose what the user's programs load. */
static int make_folder(const char *folder)
{
	struct stat st;

	if (mkdir(folder, 0711) && errno != EEXIST)
		return -errno;
	if (lstat(folder, &st))
		return -errno;
	return S_ISDIR(st.st_mode) && st.st_uid == getuid() && !(st.st_mode & 022) ? 0 : -EPERM;
}

/* Points @link to @folder. Runs that begin together make it under names of their own and rename. */
static int point(const char *link, const char *folder)
{
	char have[PATH_MAX], part[128];
	ssize_t n = readlink(link, have, sizeof(have));

	if (n == (ssize_t)strlen(folder) && !memcmp(have, folder, (size_t)n))
		return 0;
	snprintf(part, sizeof(part), "%s.%ld", link, (long)getpid());
	unlink(part);
	if (symlink(folder, part))
		return -errno;
	if (!rename(part, link))
		return 0;
	int err = -errno;
	unlink(part);
	return err;
}

int view_preload_path(char *path, size_t room)
{
	char folder[64], link[96], whole[PATH_MAX], *slash = strrchr(path, '/');
	int err;

	if (!strpbrk(path, CUTS))
		return 0;
	if (path[0] != '/' || strpbrk(slash, CUTS))
		return -EINVAL;
	snprintf(folder, sizeof(folder), "/tmp/gpustarve-links-%u", (unsigned)getuid());
	snprintf(link, sizeof(link), "%s/%016llx", folder,
		 (unsigned long long)base_hash(BASE_HASH, path, (size_t)(slash - path)));
	if (snprintf(whole, sizeof(whole), "%s%s", link, slash) >= (int)sizeof(whole) ||
	    strlen(whole) >= room)
		return -ENAMETOOLONG;
	err = make_folder(folder);
	if (err)
		return err;
	*slash = '\0';
	err = point(link, path);
	*slash = '/';
	if (!err)
		strcpy(path, whole);
	return err;
}
