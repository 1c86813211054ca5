/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Directories of directories of files.
 */
#include "run_dirs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/clock.h"
#include "digest_tries.h"
#include "job_dirs.h"
#include "store/run_name.h"
#include "store/side.h"

#define STAT_BLOCK 512

static bool is_safe_name(const char *name, size_t len)
{
	return len && name[0] != '.' && strspn(name, COLL_NAME_CHARACTERS) == len;
}

static bool ends_with(const char *name, const char *suffix)
{
	size_t len = strlen(name), n = strlen(suffix);

	return len > n && !strcmp(name + len - n, suffix);
}

bool coll_run_dir_name_ok(const char *name)
{
	size_t len = strlen(name);

	if (coll_job_dir_is(name))
		return true;
	return is_safe_name(name, len) && ends_with(name, COLL_RUN_SUFFIX) &&
	       len < COLL_RUN_BYTES + sizeof(COLL_RUN_SUFFIX) - 1;
}

bool coll_run_folder_name_ok(const char *name)
{
	return is_safe_name(name, strlen(name)) && !ends_with(name, COLL_RUN_SUFFIX) &&
	       !ends_with(name, COLL_JOB_SUFFIX);
}

/* What is made of a trace, at any time, does not make the run younger. */
static bool is_made(const char *name)
{
	return name[0] == '.' || !strcmp(name, "summary.json") || !strcmp(name, "report.html") ||
	       !strcmp(name, COLL_DIGEST_MARK) || ends_with(name, ".idx");
}

static void add_mark(struct coll_run_dir *run, const char *name, const struct stat *st)
{
	if (!strcmp(name, COLL_DIGEST_TRIES))
		run->attempts = 1;
	if (!strcmp(name, COLL_DIGEST_MARK))
		run->digest_ns = coll_timespec_ns(st->st_mtim);
	if (!strcmp(name, COLL_DIGEST_ROW_MARK)) {
		run->row_ns = coll_timespec_ns(st->st_mtim);
		run->row_made = !st->st_size;
	}
}

static void be_as_new_as(struct coll_run_dir *run, const struct stat *st)
{
	if (coll_timespec_ns(st->st_mtim) > run->newest_ns)
		run->newest_ns = coll_timespec_ns(st->st_mtim);
}

/* True: it shows that this is a job's folder. */
static bool add_allocation(struct coll_run_dir *run, int fd, const char *name,
			   const struct stat *st)
{
	if (!coll_side_is_allocation(name))
		return false;
	run->trace_bytes += (uint64_t)st->st_size;
	run->goes_on = run->goes_on || !coll_job_has_end(fd, name);
	be_as_new_as(run, st);
	return true;
}

/* True: the file shows that this is a run's directory. */
static bool add_file(struct coll_run_dir *run, int fd, const char *name, const struct stat *st)
{
	bool stream = ends_with(name, COLL_RUN_SUFFIX), trace = stream || ends_with(name, ".spool");

	run->bytes += (uint64_t)st->st_blocks * STAT_BLOCK;
	if (!S_ISREG(st->st_mode))
		return false;
	add_mark(run, name, st);
	if (run->job)
		return add_allocation(run, fd, name, st);
	if (trace) {
		run->trace_bytes += (uint64_t)st->st_size;
		run->streams += stream;
	}
	if (!is_made(name))
		be_as_new_as(run, st);
	return trace || !strcmp(name, "run.json");
}

/* Where there is something to read at all; how old the trace is has to be known first. */
static void read_tries(struct coll_run_dir *run, int fd)
{
	struct coll_digest_tries tries;

	if (!run->attempts)
		return;
	coll_digest_tries_read(&tries, fd, run->newest_ns);
	run->attempts = tries.attempts;
	run->next_ns = tries.next_ns;
}

static int read_files(struct coll_run_dir *run, int fd)
{
	DIR *d = fdopendir(fd);
	bool found = false;
	struct dirent *e;
	struct stat st;

	if (!d) {
		close(fd);
		return -ENOMEM;
	}
	while ((e = readdir(d))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		if (!fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW))
			found |= add_file(run, dirfd(d), e->d_name, &st);
	}
	read_tries(run, dirfd(d));
	closedir(d);
	return found ? 0 : -ENOENT;
}

static int open_folder(int at, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	return fd;
}

int coll_run_folder_open(const char *base, const char *team)
{
	int fd = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC), folder_fd;

	if (fd < 0)
		return -errno;
	if (!*team)
		return fd;
	folder_fd = open_folder(fd, team);
	close(fd);
	return folder_fd;
}

int coll_run_dir_measure(struct coll_run_dir *run, int folder_fd, const char *name)
{
	int fd;

	*run = (struct coll_run_dir){ .job = coll_job_dir_is(name) };
	if (!coll_run_dir_name_ok(name))
		return -ENOENT;
	fd = open_folder(folder_fd, name);
	if (fd < 0)
		return fd == -ENOTDIR || fd == -ELOOP ? -ENOENT : fd;
	return read_files(run, fd);
}

static int read_run(struct coll_run_dir *run, int folder_fd, const char *team, const char *name)
{
	int err = coll_run_dir_measure(run, folder_fd, name);

	if (err)
		return err;
	run->team = strdup(team);
	run->name = strdup(name);
	if (run->team && run->name)
		return 0;
	coll_run_dir_fini(run);
	return -ENOMEM;
}

int coll_run_dir_read(struct coll_run_dir *run, const char *folder, const char *team,
		      const char *name)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;

	memset(run, 0, sizeof(*run));
	if (fd < 0)
		return -errno;
	err = read_run(run, fd, team, name);
	close(fd);
	return err;
}

void coll_run_dir_fini(struct coll_run_dir *run)
{
	free(run->team);
	free(run->name);
	run->team = run->name = NULL;
}

void coll_run_dirs_fini(struct coll_run_dirs *all)
{
	for (size_t i = 0; i < all->count; i++)
		coll_run_dir_fini(&all->run[i]);
	free(all->run);
	*all = (struct coll_run_dirs){ .count = 0 };
}

static int append_run(struct coll_run_dirs *all, const struct coll_run_dir *run)
{
	struct coll_run_dir *more;
	size_t room = all->room ? all->room * 2 : 64;

	if (all->count == all->room) {
		more = reallocarray(all->run, room, sizeof(*more));
		if (!more)
			return -ENOMEM;
		all->run = more;
		all->room = room;
	}
	all->run[all->count++] = *run;
	return 0;
}

/* What may be a team's folder, if @teams; everything there that is no run is passed over. */
static int scan(struct coll_run_dirs *all, int fd, const char *team, bool teams)
{
	DIR *d = fdopendir(fd);
	struct coll_run_dir run;
	struct dirent *e;
	int err = 0, sub;

	if (!d) {
		close(fd);
		return -ENOMEM;
	}
	while (err != -ENOMEM && (e = readdir(d))) {
		if (!is_safe_name(e->d_name, strlen(e->d_name)))
			continue;
		err = read_run(&run, dirfd(d), team, e->d_name);
		if (!err && (err = append_run(all, &run)))
			coll_run_dir_fini(&run);
		if (err != -ENOENT || !teams || !coll_run_folder_name_ok(e->d_name))
			continue;
		sub = open_folder(dirfd(d), e->d_name);
		if (sub >= 0)
			err = scan(all, sub, e->d_name, false);
	}
	closedir(d);
	return err == -ENOMEM ? err : 0;
}

static int scan_path(struct coll_run_dirs *all, const char *path, const char *team, bool teams)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : scan(all, fd, team, teams);
}

int coll_run_dirs_scan(struct coll_run_dirs *all, const char *base)
{
	return scan_path(all, base, "", true);
}

int coll_run_dirs_scan_folder(struct coll_run_dirs *all, const char *folder, const char *team)
{
	return scan_path(all, folder, team, false);
}
