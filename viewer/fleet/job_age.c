/* SPDX-License-Identifier: Apache-2.0 */
#include "job_age.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include "base/minmax.h"
#include "trace/newest.h"

/* What it was given on a node, or a task there that was not recorded. */
static bool is_told(const char *name)
{
	return !strncmp(name, "alloc-", 6) || !strncmp(name, "unrecorded-", 11);
}

static int64_t files_written(const char *folder)
{
	DIR *dir = opendir(folder);
	int64_t last = -1;
	struct stat st;

	for (struct dirent *e; dir && (e = readdir(dir));)
		if (is_told(e->d_name) && !fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW))
			last = base_max(last, st.st_mtim.tv_sec * INT64_C(1000000000) +
						      st.st_mtim.tv_nsec);
	if (dir)
		closedir(dir);
	return last;
}

int64_t fleet_job_written(const struct view_job *job)
{
	int64_t last = files_written(job->folder);

	for (size_t i = 0; i < job->runs; i++)
		last = base_max(last, view_last_written(job->run[i]));
	return last;
}

int64_t fleet_job_folder_written(const char *folder)
{
	struct view_jobs jobs = { 0 };
	struct view_job *job;
	int64_t last = -1;

	if (view_job_is_folder(folder) && !view_job_of_folder(&jobs, folder, &job) && job->folder)
		last = fleet_job_written(job);
	view_jobs_fini(&jobs);
	return last;
}
