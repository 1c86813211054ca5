/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A folder of symbolic links: the file system is the index, and what it holds outlives us.
 */
#include "stream_links.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/clock.h"
#include "run_name.h"
#include "stream.h"

#define SEARCH_EVERY_NS COLL_SECOND_NS
#define DAY_NS (86400 * COLL_SECOND_NS)
#define HEX_DIGITS (COLL_HEX_BYTES - 1)

static bool has_runs(int base_fd)
{
	int fd = openat(base_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	bool found = !d;

	if (!d && fd >= 0)
		close(fd);
	while (!found && (e = readdir(d)))
		found = coll_run_dir_is(e->d_name);
	if (d)
		closedir(d);
	return found;
}

static void mark_all(int fd)
{
	int all = openat(fd, COLL_STREAM_LINKS_ALL, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
			 0666);

	if (all >= 0)
		close(all);
}

static int open_folder(int base_fd)
{
	return openat(base_fd, COLL_STREAM_LINKS, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

void coll_stream_links_open(struct coll_stream_links *l, int base_fd)
{
	bool made = !mkdirat(base_fd, COLL_STREAM_LINKS, 0777);

	*l = (struct coll_stream_links){ .fd = open_folder(base_fd) };
	l->kept = l->fd >= 0;
	if (l->kept && made && !has_runs(base_fd))
		mark_all(l->fd);
}

void coll_stream_links_close(struct coll_stream_links *l)
{
	if (l->kept)
		close(l->fd);
	l->kept = false;
}

static bool read_link(int fd, const char *hex, char name[NAME_MAX + 1])
{
	ssize_t n = readlinkat(fd, hex, name, NAME_MAX);

	if (n <= 0)
		return false;
	name[n] = '\0';
	return coll_run_dir_is(name) && !strchr(name, '/');
}

static void put(int fd, const char *hex, const char *name)
{
	char now[NAME_MAX + 1];

	if (!symlinkat(name, fd, hex) || errno != EEXIST ||
	    (read_link(fd, hex, now) && !strcmp(now, name)))
		return;
	if (unlinkat(fd, hex, 0) || symlinkat(name, fd, hex))
		return;
}

void coll_stream_links_put(struct coll_stream_links *l, const char *hex, const char *name)
{
	if (l->kept)
		put(l->fd, hex, name);
}

void coll_stream_links_remove(struct coll_stream_links *l, const char *hex)
{
	if (l->kept)
		unlinkat(l->fd, hex, 0);
}

static bool has_all(struct coll_stream_links *l)
{
	if (!l->all)
		l->all = !faccessat(l->fd, COLL_STREAM_LINKS_ALL, F_OK, AT_SYMLINK_NOFOLLOW);
	return l->all;
}

int coll_stream_links_get(struct coll_stream_links *l, const char *hex, char name[NAME_MAX + 1])
{
	int64_t now = coll_now_ns();

	if (!l->kept)
		return -ENODATA;
	if (read_link(l->fd, hex, name))
		return 0;
	if (has_all(l))
		return -ENOENT;
	if (l->searched_ns && now - l->searched_ns < SEARCH_EVERY_NS)
		return -EAGAIN;
	return -ENODATA;
}

static bool is_stream(const char *name, char hex[COLL_HEX_BYTES])
{
	if (strspn(name, "0123456789abcdef") != HEX_DIGITS ||
	    strcmp(name + HEX_DIGITS, COLL_RUN_SUFFIX) != 0)
		return false;
	memcpy(hex, name, HEX_DIGITS);
	hex[HEX_DIGITS] = '\0';
	return true;
}

/* Of a run that may go on. */
static void link_run(int links_fd, int base_fd, const char *run, int64_t now_ns)
{
	int fd = openat(base_fd, run, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	char hex[COLL_HEX_BYTES];
	struct dirent *e;
	struct stat st;

	if (!d && fd >= 0)
		close(fd);
	while (d && (e = readdir(d)))
		if (is_stream(e->d_name, hex) &&
		    !fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
		    now_ns - coll_timespec_ns(st.st_mtim) < COLL_STREAM_LINKS_DAYS * DAY_NS)
			put(links_fd, hex, run);
	if (d)
		closedir(d);
}

static void link_all(int links_fd, int base_fd, int64_t now_ns)
{
	int fd = openat(base_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!d) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((e = readdir(d)))
		if (coll_run_dir_is(e->d_name))
			link_run(links_fd, base_fd, e->d_name, now_ns);
	closedir(d);
	mark_all(links_fd);
}

static bool leads_nowhere(int links_fd, int base_fd, const char *hex)
{
	char name[NAME_MAX + 1], path[2 * NAME_MAX];

	if (!read_link(links_fd, hex, name))
		return hex[0] != '.';
	snprintf(path, sizeof(path), "%s/%s" COLL_RUN_SUFFIX, name, hex);
	return faccessat(base_fd, path, F_OK, AT_SYMLINK_NOFOLLOW) && errno == ENOENT;
}

bool coll_stream_links_whole(int base_fd)
{
	return faccessat(base_fd, COLL_STREAM_LINKS, F_OK, AT_SYMLINK_NOFOLLOW) ||
	       !faccessat(base_fd, COLL_STREAM_LINKS "/" COLL_STREAM_LINKS_ALL, F_OK,
			  AT_SYMLINK_NOFOLLOW);
}

void coll_stream_links_clean(int base_fd, int64_t now_ns)
{
	int fd = open_folder(base_fd);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!d) {
		if (fd >= 0)
			close(fd);
		return;
	}
	if (faccessat(fd, COLL_STREAM_LINKS_ALL, F_OK, AT_SYMLINK_NOFOLLOW))
		link_all(fd, base_fd, now_ns);
	while ((e = readdir(d)))
		if (leads_nowhere(fd, base_fd, e->d_name))
			unlinkat(fd, e->d_name, 0);
	closedir(d);
}
