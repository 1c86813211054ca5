/* SPDX-License-Identifier: Apache-2.0 */
#include "newest.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "core/log.h"

static bool ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);

	return n > m && !strcmp(name + n - m, end);
}

int64_t view_last_written(const char *dir)
{
	DIR *d = opendir(dir);
	int64_t last = -1;
	struct stat st;

	for (struct dirent *e; d && (e = readdir(d));) {
		if (!ends_with(e->d_name, ".gst") && !ends_with(e->d_name, ".spool"))
			continue;
		if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
			continue;
		int64_t t = st.st_mtim.tv_sec * (int64_t)1000000000 + st.st_mtim.tv_nsec;
		last = t > last ? t : last;
	}
	if (d)
		closedir(d);
	return last;
}

bool view_newest_run(const char *base, char *out, size_t room)
{
	DIR *d = opendir(base);
	int64_t last = -1;
	char path[PATH_MAX];

	for (struct dirent *e; d && (e = readdir(d));) {
		if (!ends_with(e->d_name, ".gst") || e->d_name[0] == '.' ||
		    snprintf(path, sizeof(path), "%s/%s", base, e->d_name) >= (int)sizeof(path))
			continue;
		int64_t t = view_last_written(path);
		if (t <= last)
			continue;
		last = t;
		snprintf(out, room, "%s", path);
	}
	if (d)
		closedir(d);
	return last >= 0;
}

const char *view_runs_folder(void)
{
	const char *env = getenv("GPUSTARVE_OUT");

	return env && env[0] ? env : "gpustarve-runs";
}

void view_say_no_run(const char *command)
{
	char newest[PATH_MAX];

	if (view_newest_run(view_runs_folder(), newest, sizeof(newest)))
		view_error("%s: no run named; the newest one is %s", command, newest);
	else
		view_error("%s: no run named; give a run directory, such as "
			   "gpustarve-runs/<run id>.gst",
			   command);
}
