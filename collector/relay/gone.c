/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines appended and taken out under a lock: sweeps are processes of their own.
 */
#include "gone.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/files.h"
#include "core/log.h"
#include "cursor.h"
#include "store/run_name.h"

/* Locked; -errno. */
static int open_file(int base_fd)
{
	int flags = O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(base_fd, COLL_GONE_FILE, flags, 0666);

	if (fd < 0)
		return -errno;
	flock(fd, LOCK_EX);
	return fd;
}

/* All of it, to be freed, with a 0 behind; NULL. */
static char *read_file(int fd)
{
	struct stat st;
	char *text = NULL;
	size_t len = 0;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size > 2 * (off_t)COLL_GONE_MAX)
		return NULL;
	text = malloc((size_t)st.st_size + 1);
	if (text && base_read_upto(fd, text, (size_t)st.st_size, &len)) {
		free(text);
		return NULL;
	}
	if (text)
		text[len] = '\0';
	return text;
}

static int replace(int fd, const char *text)
{
	if (ftruncate(fd, 0))
		return -errno;
	return base_write_all(fd, text, strlen(text));
}

static void halve(int fd)
{
	char *text = read_file(fd), *half;

	half = text ? strchr(text + strlen(text) / 2, '\n') : NULL;
	if (half)
		replace(fd, half + 1);
	else
		replace(fd, "");
	free(text);
}

static int append(int base_fd, const char *text, size_t len)
{
	int fd = open_file(base_fd), err;
	struct stat st;

	if (fd < 0)
		return fd;
	if (!fstat(fd, &st) && st.st_size > (off_t)COLL_GONE_MAX)
		halve(fd);
	err = base_write_all(fd, text, len);
	if (!err && fdatasync(fd))
		err = -errno;
	close(fd);
	return err;
}

/* Of several files of a stream that after which it was longest. */
static bool is_longest(const struct coll_out_run *run, const struct coll_out_file *f)
{
	const struct coll_out_file *o;
	bool before = true;

	for (o = run->files; o; o = o->next) {
		if (o == f)
			before = false;
		else if (o->kind != COLL_OUT_SIDE &&
			 !memcmp(o->stream, f->stream, sizeof(f->stream)) &&
			 (o->extent > f->extent || (before && o->extent == f->extent)))
			return false;
	}
	return true;
}

static void put_run(FILE *out, const struct coll_out_run *run, const char *going)
{
	const struct coll_out_file *f;

	for (f = run->files; f; f = f->next)
		if (f->kind != COLL_OUT_SIDE && f->at && f->extent &&
		    f->extent != COLL_OUT_UNKNOWN && is_longest(run, f))
			fprintf(out, "%s %" PRIu64 " %.*s %.*s\n", run->centre, f->extent,
				2 * WIRE_STREAM_ID_BYTES, f->name,
				(int)(strlen(going) - strlen(COLL_RUN_SUFFIX)), going);
}

static void note(int run_fd, const char *going)
{
	struct coll_out_run run = { .files = NULL };
	int base_fd = openat(run_fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = -ENOMEM;
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (out && base_fd >= 0 && !coll_cursor_read_present(&run, run_fd) &&
	    strcmp(run.centre, COLL_CENTRE_MUTE) != 0)
		put_run(out, &run, going);
	if (out && !fclose(out))
		err = len ? append(base_fd, text, len) : 0;
	if (err)
		coll_log(COLL_GONE_FILE ": %s; should the upstream lose %s, nobody will know",
			 strerror(-err), going);
	free(text);
	if (base_fd >= 0)
		close(base_fd);
	coll_out_files_free(&run);
}

bool coll_gone_lets_go(int run_fd, const char *going)
{
	int all = coll_cursor_has_all(run_fd);

	if (all > 0 && going)
		note(run_fd, going);
	return all != 0;
}

int coll_gone_read(int base_fd, char **text)
{
	int fd = openat(base_fd, COLL_GONE_FILE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	*text = NULL;
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	flock(fd, LOCK_SH);
	*text = read_file(fd);
	close(fd);
	return *text ? 0 : -ENOMEM;
}

void coll_gone_take_out(int base_fd, const struct wire_buf *lines)
{
	int fd = open_file(base_fd);
	char *text = fd < 0 ? NULL : read_file(fd), *rest = text, *line, *out = NULL;
	size_t len = 0;
	FILE *f = text ? open_memstream(&out, &len) : NULL;

	while (f && (line = strsep(&rest, "\n")))
		if (*line && !memmem(lines->data, lines->len, line, strlen(line) + 1))
			fprintf(f, "%s\n", line);
	if (f && !fclose(f))
		replace(fd, out);
	free(out);
	free(text);
	if (fd >= 0)
		close(fd);
}
