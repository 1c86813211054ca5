/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of words. The file is ours, but it lies where users can write, so it is read with care.
 */
#include "cursor.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/clock.h"
#include "core/files.h"

#define FIRST_LINE "gpustarve upstream 1"

static bool read_line(struct coll_out_run *run, const char *line)
{
	struct coll_out_file *f;
	char name[256];
	uint64_t at;
	int64_t mtime;

	if (!strcmp(line, "forwarded")) {
		run->forwarded = true;
		return true;
	}
	if (sscanf(line, "frames %" SCNu64 " %255s", &at, name) == 2) {
		f = coll_out_file_named(run, name);
		if (f && f->kind != COLL_OUT_SIDE)
			f->at = at;
		return f != NULL;
	}
	if (sscanf(line, "side %" SCNd64 " %" SCNu64 " %255s", &mtime, &at, name) != 3)
		return false;
	f = coll_out_file_named(run, name);
	if (!f || f->kind != COLL_OUT_SIDE)
		return false;
	f->sent_mtime_ns = mtime;
	f->sent_size = at;
	return true;
}

/* @to NULL: of any upstream. */
static bool read_text(struct coll_out_run *run, char *text, const char *to)
{
	char *rest = text, *line = strsep(&rest, "\n");

	if (!line || strcmp(line, FIRST_LINE))
		return false;
	line = strsep(&rest, "\n");
	if (!line || strncmp(line, "to ", 3) || (to && strcmp(line + 3, to)))
		return false;
	while ((line = strsep(&rest, "\n")))
		if (*line && !read_line(run, line))
			return false;
	return true;
}

int coll_cursor_read(struct coll_out_run *run, const char *to)
{
	char path[PATH_MAX];
	uint8_t *text;
	size_t len;
	bool good;
	int err;

	if (snprintf(path, sizeof(path), "%s/" COLL_CURSOR_FILE, run->dir) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	err = coll_file_read(path, COLL_CURSOR_MAX, &text, &len);
	if (err)
		return err == -ENOENT ? err : -ESTALE;
	good = strlen((char *)text) == len && read_text(run, (char *)text, to);
	free(text);
	if (good)
		return 0;
	coll_out_files_free(run);
	run->forwarded = false;
	return -ESTALE;
}

static bool covers(const struct coll_out_file *f, const struct stat *st)
{
	if (f->kind == COLL_OUT_SIDE)
		return f->sent_mtime_ns == coll_timespec_ns(st->st_mtim) &&
		       f->sent_size == (uint64_t)st->st_size;
	return f->at >= (uint64_t)st->st_size;
}

/*
 * What was damaged for good is behind the cursor for ever. So where it says that the run is forwarded
 * only what was written since counts: @since_ns; else INT64_MIN.
 */
static bool covers_all(struct coll_out_run *run, DIR *d, int64_t since_ns)
{
	struct coll_out_file *f;
	struct dirent *e;
	struct stat st;

	while ((e = readdir(d))) {
		f = coll_out_file_named(run, e->d_name);
		if (!f)
			continue;
		if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW))
			return false;
		if (S_ISREG(st.st_mode) && coll_timespec_ns(st.st_mtim) >= since_ns &&
		    !covers(f, &st))
			return false;
	}
	return true;
}

static bool directory_covered(struct coll_out_run *run, int run_fd)
{
	int fd = openat(run_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct stat cursor;
	bool all;

	if (!d) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	if (run->forwarded && fstatat(fd, COLL_CURSOR_FILE, &cursor, AT_SYMLINK_NOFOLLOW))
		all = false;
	else
		all = covers_all(run, d,
				 run->forwarded ? coll_timespec_ns(cursor.st_mtim) : INT64_MIN);
	closedir(d);
	return all;
}

int coll_cursor_has_all(int run_fd)
{
	struct coll_out_run run = { .files = NULL };
	uint8_t *text;
	size_t len;
	bool all;
	int err = coll_file_read_at(run_fd, COLL_CURSOR_FILE, COLL_CURSOR_MAX, &text, &len);

	if (err)
		return err == -ENOENT ? err : 0;
	all = strlen((char *)text) == len && read_text(&run, (char *)text, NULL) &&
	      directory_covered(&run, run_fd);
	free(text);
	coll_out_files_free(&run);
	return all;
}

bool coll_cursor_lets_go(int run_fd)
{
	return coll_cursor_has_all(run_fd) != 0;
}

static void write_file(FILE *out, const struct coll_out_file *f)
{
	if (f->kind != COLL_OUT_SIDE)
		fprintf(out, "frames %" PRIu64 " %s\n", f->at, f->name);
	else if (f->sent_mtime_ns)
		fprintf(out, "side %" PRId64 " %" PRIu64 " %s\n", f->sent_mtime_ns, f->sent_size,
			f->name);
}

int coll_cursor_write(const struct coll_out_run *run, const char *to)
{
	const struct coll_out_file *f;
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	int err = -ENOMEM;

	if (!out)
		return -ENOMEM;
	fprintf(out, FIRST_LINE "\nto %s\n", to);
	for (f = run->files; f; f = f->next)
		write_file(out, f);
	if (run->forwarded)
		fputs("forwarded\n", out);
	if (!fclose(out) && text)
		err = coll_file_replace(run->dir, COLL_CURSOR_FILE, text, len);
	free(text);
	return err;
}
