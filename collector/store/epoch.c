/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of words: id, file, and an `of` for each store before.
 */
#include "epoch.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/files.h"
#include "core/files.h"
#include "core/log.h"

#define FIRST_LINE "gpustarve store 1"
#define FILE_MAX 4096

/* What a copy does not have in common with the file that it is of. */
struct which_file {
	uint64_t inode;
	int64_t made_s; /* 0: the file system does not know */
	uint32_t made_ns;
};

struct stored {
	char id[COLL_EPOCH_ID_BYTES];
	struct which_file file;
	unsigned int parents;
	char parent[COLL_EPOCH_PARENTS][COLL_EPOCH_ID_BYTES];
};

static int which_of(int dir, const char *path, int flags, struct which_file *w)
{
	struct statx st;

	*w = (struct which_file){ .inode = 0 };
	if (statx(dir, path, flags, STATX_INO | STATX_BTIME, &st))
		return -errno;
	w->inode = st.stx_ino;
	if (st.stx_mask & STATX_BTIME) {
		w->made_s = st.stx_btime.tv_sec;
		w->made_ns = st.stx_btime.tv_nsec;
	}
	return 0;
}

static bool is_same_file(const struct which_file *a, const struct which_file *b)
{
	return a->inode == b->inode && a->made_s == b->made_s && a->made_ns == b->made_ns;
}

static int draw(char *out, size_t bytes)
{
	uint8_t random[16];
	size_t i;

	if (getrandom(random, bytes, 0) != (ssize_t)bytes)
		return -EIO;
	for (i = 0; i < bytes; i++)
		snprintf(out + 2 * i, 3, "%02x", random[i]);
	return 0;
}

static bool read_id(char out[COLL_EPOCH_ID_BYTES], const char *text)
{
	if (strlen(text) != COLL_EPOCH_ID_BYTES - 1 ||
	    strspn(text, "0123456789abcdef") != COLL_EPOCH_ID_BYTES - 1)
		return false;
	memcpy(out, text, COLL_EPOCH_ID_BYTES);
	return true;
}

static bool read_line(struct stored *s, const char *line)
{
	if (!strncmp(line, "id ", 3))
		return read_id(s->id, line + 3);
	if (!strncmp(line, "of ", 3))
		return s->parents < COLL_EPOCH_PARENTS &&
		       read_id(s->parent[s->parents++], line + 3);
	return sscanf(line, "file %" SCNu64 " %" SCNd64 " %" SCNu32, &s->file.inode,
		      &s->file.made_s, &s->file.made_ns) == 3;
}

static bool read_text(struct stored *s, char *text)
{
	char *line = strsep(&text, "\n");

	if (strcmp(line, FIRST_LINE))
		return false;
	while ((line = strsep(&text, "\n")))
		if (*line && !read_line(s, line))
			return false;
	return s->id[0] != '\0';
}

/* 0; -ENOENT: none, or none that makes sense; -errno. */
static int read_file(struct stored *s, const char *path)
{
	uint8_t *text;
	size_t len;
	int err = coll_file_read(path, FILE_MAX, &text, &len);

	*s = (struct stored){ .parents = 0 };
	if (err)
		return err;
	if (!read_text(s, (char *)text)) {
		coll_log("%s: damaged; this counts as a new store", path);
		*s = (struct stored){ .parents = 0 };
		err = -ENOENT;
	}
	free(text);
	return err;
}

/* A file says of itself which one it is: a rename leaves that as it is. */
static int put_text(int fd, void *arg)
{
	struct stored *s = arg;
	char text[FILE_MAX];
	size_t len;
	unsigned int i;
	int err = which_of(fd, "", AT_EMPTY_PATH, &s->file);

	if (err)
		return err;
	len = (size_t)snprintf(text, sizeof(text),
			       FIRST_LINE "\nid %s\nfile %" PRIu64 " %" PRId64 " %" PRIu32 "\n",
			       s->id, s->file.inode, s->file.made_s, s->file.made_ns);
	for (i = 0; i < s->parents; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "of %s\n", s->parent[i]);
	return base_write_all(fd, text, len);
}

/* What it was is the first of its parents. */
static int renew(struct stored *s)
{
	if (s->id[0]) {
		memmove(s->parent[1], s->parent[0],
			(COLL_EPOCH_PARENTS - 1) * sizeof(s->parent[0]));
		memcpy(s->parent[0], s->id, sizeof(s->id));
		s->parents += s->parents < COLL_EPOCH_PARENTS;
	}
	return draw(s->id, 16);
}

static int load(struct stored *s, const char *base)
{
	struct which_file now;
	char path[PATH_MAX];
	int err;

	if (snprintf(path, sizeof(path), "%s/" COLL_EPOCH_FILE, base) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	err = read_file(s, path);
	if (!err)
		err = which_of(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, &now);
	if (!err && is_same_file(&s->file, &now))
		return 0;
	if (err && err != -ENOENT)
		return err;
	if (!err)
		coll_log(
			"%s: this store is a copy of another; nodes are told so, and send again what "
			"it lacks",
			base);
	err = renew(s);
	return err ? err : coll_file_replace_by(base, COLL_EPOCH_FILE, put_text, s);
}

int coll_epoch_open(struct coll_epoch *e, const char *base)
{
	struct stored s;
	char start[17];
	size_t len;
	int err = load(&s, base);

	if (!err)
		err = draw(start, 8);
	if (err)
		return err;
	len = (size_t)snprintf(e->text, sizeof(e->text), "%s-%s", s.id, start);
	for (unsigned int i = 0; i < s.parents; i++)
		len += (size_t)snprintf(e->text + len, sizeof(e->text) - len, ",%s", s.parent[i]);
	return 0;
}
