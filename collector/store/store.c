/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of streams: found, opened, appended to, synced.
 */
#include "store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/clock.h"
#include "core/files.h"
#include "core/log.h"
#include "core/paths.h"
#include "retain/keeper.h"
#include "recover.h"

#define RUN_SUFFIX ".gst"

int coll_store_init(struct coll_store *st, const char *base, struct coll_counters *count)
{
	int err = coll_mkdirs_kept(base, 0777);
	struct stat at;

	memset(st, 0, sizeof(*st));
	st->count = count;
	if (err)
		return err;
	st->known = coll_stream_cache_new();
	if (!st->known)
		return -ENOMEM;
	st->base_fd = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (st->base_fd < 0)
		return -errno;
	st->base = fstat(st->base_fd, &at) ? NULL : realpath(base, NULL);
	if (!st->base) {
		int why = -errno;

		close(st->base_fd);
		return why;
	}
	st->dev = at.st_dev;
	return access(st->base, W_OK | X_OK) ? -errno : 0;
}

void coll_store_fini(struct coll_store *st)
{
	struct coll_stream *s, *next;
	size_t i;

	for (i = 0; i < COLL_STORE_BUCKETS; i++) {
		for (s = st->bucket[i]; s; s = next) {
			next = s->next;
			coll_store_close(st, s);
		}
	}
	coll_stream_cache_free(st->known);
	if (st->base)
		close(st->base_fd);
	free(st->base);
	st->known = NULL;
	st->base = NULL;
}

struct coll_stream *coll_store_get(struct coll_store *st, const uint8_t *id)
{
	struct coll_stream *s = st->bucket[id[0] % COLL_STORE_BUCKETS];

	while (s && memcmp(s->id, id, sizeof(s->id)))
		s = s->next;
	return s;
}

void coll_hex_of(char out[COLL_HEX_BYTES], const uint8_t *id)
{
	size_t i;

	for (i = 0; i < WIRE_STREAM_ID_BYTES; i++)
		snprintf(out + 2 * i, 3, "%02x", id[i]);
}

/* A stream without a file, not in the store yet. @dir is kept. */
static struct coll_stream *stream_new(struct coll_store *st, const uint8_t *id, char *dir)
{
	struct coll_stream *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->fd = s->index.fd = -1;
	s->store = st;
	memcpy(s->id, id, sizeof(s->id));
	coll_hex_of(s->hex, id);
	s->dir = dir;
	if (asprintf(&s->path, "%s/%s.gst", dir, s->hex) < 0) {
		free(s);
		return NULL;
	}
	return s;
}

static void stream_free(struct coll_stream *s)
{
	coll_index_close(&s->index);
	if (s->fd >= 0)
		close(s->fd);
	free(s->path);
	free(s->dir);
	free(s);
}

/* File systems without locks are taken as they are. */
static int lock_file(int fd)
{
	if (!flock(fd, LOCK_EX | LOCK_NB))
		return 0;
	return errno == EWOULDBLOCK ? -EBUSY : 0;
}

static int open_file(struct coll_stream *s)
{
	int flags = O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
	struct stat st;

	s->fd = open(s->path, flags);
	if (s->fd < 0 && errno == ENOENT)
		s->fd = open(s->path, flags | O_CREAT | O_EXCL, 0666);
	s->entry_new = true; /* or the collector before may not have come to it */
	if (s->fd < 0 || fstat(s->fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	return lock_file(s->fd);
}

/* Cuts a torn end off. Where that is not allowed, what follows it is found all the same. */
static void cut_end(struct coll_store *st, struct coll_stream *s)
{
	struct stat now;

	if (fstat(s->fd, &now) || (uint64_t)now.st_size == s->size)
		return;
	st->count->torn_bytes += (uint64_t)now.st_size - s->size;
	coll_note("%s: cutting %llu bytes of a half frame off its end", s->path,
		  (unsigned long long)now.st_size - s->size);
	if (ftruncate(s->fd, (off_t)s->size))
		s->size = (uint64_t)now.st_size;
}

/*
 * Reads the file. It is not known to be on disk (the collector before may have died without a
 * sync), so it is synced once more.
 */
static int read_file(struct coll_store *st, struct coll_stream *s)
{
	int err = coll_recover(st, s);

	if (err)
		return err;
	cut_end(st, s);
	if (!s->size)
		return 0;
	s->synced = s->size; /* commit must not take it back below this */
	return coll_stream_commit(st, s);
}

/* What the file holds, from memory where it is as we left it. */
static int take_up(struct coll_store *st, struct coll_stream *s)
{
	char index[PATH_MAX];
	int err = 0;

	snprintf(index, sizeof(index), "%s/%s.idx", s->dir, s->hex);
	if (coll_stream_cache_restore(st->known, s)) {
		coll_index_resume(&s->index, index);
	} else {
		coll_index_open(&s->index, index, s->id);
		err = read_file(st, s);
	}
	st->count->streams_resumed += !err && s->size;
	return err;
}

static void put_in_bucket(struct coll_store *st, struct coll_stream *s)
{
	struct coll_stream **head = &st->bucket[s->id[0] % COLL_STORE_BUCKETS];

	s->next = *head;
	s->link = head;
	if (s->next)
		s->next->link = &s->next;
	*head = s;
	s->serial = ++st->serial;
	st->streams++;
	st->count->streams++;
}

/* @dir is taken; it is made, with @make, once limits allow the stream. */
static int open_in(struct coll_store *st, const uint8_t *id, char *dir, bool make,
		   struct coll_stream **out)
{
	struct coll_stream *s = stream_new(st, id, dir);
	int err;

	if (!s) {
		free(dir);
		return -ENOMEM;
	}
	err = coll_keeper_open(st->keeper, dir);
	if (err)
		goto free_stream;
	err = make ? coll_mkdirs(dir, 0777) : 0;
	if (!err)
		err = open_file(s);
	if (err)
		goto close_run;
	err = take_up(st, s);
	if (err)
		goto close_run;
	put_in_bucket(st, s);
	*out = s;
	return 0;
close_run:
	coll_keeper_closed(st->keeper, dir);
free_stream:
	stream_free(s);
	return err;
}

int coll_store_open(struct coll_store *st, const uint8_t *id, const struct coll_hello *hello,
		    struct coll_stream **out)
{
	char *dir;

	if (!hello->run[0])
		return -EBADMSG;
	if (asprintf(&dir, "%s/%s" RUN_SUFFIX, st->base, hello->run) < 0)
		return -ENOMEM;
	return open_in(st, id, dir, true, out);
}

static bool is_run(const char *name)
{
	size_t len = strlen(name), suffix = sizeof(RUN_SUFFIX) - 1;

	return name[0] != '.' && len > suffix && !strcmp(name + len - suffix, RUN_SUFFIX);
}

/* The run directory that holds the stream, to be freed; NULL: none, or no memory. */
static char *search(const struct coll_store *st, const uint8_t *id)
{
	char hex[COLL_HEX_BYTES], path[PATH_MAX], *found = NULL;
	DIR *d = opendir(st->base);
	struct dirent *e;

	coll_hex_of(hex, id);
	while (d && !found && (e = readdir(d))) {
		if (!is_run(e->d_name))
			continue;
		snprintf(path, sizeof(path), "%s/%s.gst", e->d_name, hex);
		if (!faccessat(dirfd(d), path, F_OK, AT_SYMLINK_NOFOLLOW) &&
		    asprintf(&found, "%s/%s", st->base, e->d_name) < 0)
			found = NULL;
	}
	if (d)
		closedir(d);
	return found;
}

int coll_store_find(struct coll_store *st, const uint8_t *id, struct coll_stream **out)
{
	char *dir = search(st, id);

	return dir ? open_in(st, id, dir, false, out) : -ENOENT;
}

/* What stood behind half a frame would stand elsewhere than at its offset. */
static int cut_back(struct coll_stream *s)
{
	s->torn = ftruncate(s->fd, (off_t)s->size) != 0;
	return s->torn ? -errno : 0;
}

int coll_stream_append(struct coll_stream *s, const uint8_t *bytes, size_t len)
{
	int refused = s->torn ? cut_back(s) : 0;
	size_t done = 0;

	if (!refused)
		refused = coll_keeper_append(s->store->keeper, s->store->use, s->size, len);
	if (refused)
		return refused;
	while (done < len) {
		ssize_t n = write(s->fd, bytes + done, len - done);
		int err = n ? -errno : -ENOSPC;

		if (n > 0) {
			done += (size_t)n;
			continue;
		}
		if (n < 0 && errno == EINTR)
			continue;
		if (cut_back(s))
			coll_note("%s: a half frame stays at its end", s->path);
		return err;
	}
	s->size += len;
	return 0;
}

void coll_stream_push(struct coll_stream *s)
{
	sync_file_range(s->fd, (off_t)s->synced, 0, SYNC_FILE_RANGE_WRITE);
}

/* A new file is durable when its name is. */
static int sync_entry(const struct coll_store *st, struct coll_stream *s)
{
	int err;

	if (!s->entry_new)
		return 0;
	err = coll_folder_sync(s->dir);
	if (!err)
		err = coll_folder_sync(st->base);
	s->entry_new = err != 0;
	return err;
}

static int copy_bytes(int to, int from, uint64_t size)
{
	off_t at = 0;

	while ((uint64_t)at < size) {
		ssize_t n = sendfile(to, from, &at, (size_t)(size - (uint64_t)at));

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0)
			return -EIO;
	}
	return 0;
}

/*
 * Somebody removed the file while its process runs. What was acknowledged must be there, and the
 * rest of the stream needs its beginning: write it anew from the file that only we still see.
 */
static int put_back(struct coll_stream *s)
{
	int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	int fd, err = coll_mkdirs(s->dir, 0777);

	if (err)
		return err;
	fd = open(s->path, flags, 0666);
	if (fd < 0)
		return -errno;
	err = lock_file(fd);
	if (!err)
		err = copy_bytes(fd, s->fd, s->size);
	if (!err && fcntl(fd, F_SETFL, O_APPEND))
		err = -errno;
	if (!err && fdatasync(fd))
		err = -errno;
	if (err) {
		unlink(s->path);
		close(fd);
		return err;
	}
	coll_log("%s: it was removed while its process runs; written again", s->path);
	close(s->fd);
	s->fd = fd;
	s->entry_new = true;
	coll_index_close(&s->index);
	return 0;
}

static int sync_file(struct coll_stream *s)
{
	struct stat now;

	if (fdatasync(s->fd) || fstat(s->fd, &now))
		return -errno;
	return now.st_nlink ? 0 : put_back(s);
}

static int committed(struct coll_store *st, struct coll_stream *s)
{
	st->count->commits++;
	s->synced = s->size;
	coll_stream_acknowledge(s);
	coll_index_flush(&s->index);
	return 0;
}

int coll_store_sync(struct coll_store *st)
{
	return syncfs(st->base_fd) ? -errno : 0;
}

/* What the disk holds behind what was durable is not known. */
static int take_back(struct coll_stream *s, int err)
{
	if (ftruncate(s->fd, (off_t)s->synced))
		coll_note("%s: frames that may be lost stay at its end", s->path);
	return err;
}

/* 0; 1: the kernel does not say; -errno: something of it could not be written out. */
static int write_error(const struct coll_stream *s)
{
	if (!sync_file_range(s->fd, 0, 0, SYNC_FILE_RANGE_WAIT_BEFORE))
		return 0;
	return errno == ENOSYS || errno == EINVAL || errno == EPERM || errno == ESPIPE ? 1 : -errno;
}

int coll_stream_synced(struct coll_store *st, struct coll_stream *s)
{
	struct stat now;
	int err;

	if (fstat(s->fd, &now) || !now.st_nlink || now.st_dev != st->dev)
		return coll_stream_commit(st, s);
	err = write_error(s);
	if (err)
		return err > 0 ? coll_stream_commit(st, s) : take_back(s, err);
	s->entry_new = false;
	return committed(st, s);
}

int coll_stream_commit(struct coll_store *st, struct coll_stream *s)
{
	int64_t began_ns = coll_now_ns();
	int err = sync_file(s);

	if (!err)
		err = sync_entry(st, s);
	if (err)
		return take_back(s, err);
	coll_counters_commit(st->count, coll_now_ns() - began_ns);
	s->synced = s->size;
	coll_stream_acknowledge(s);
	coll_index_flush(&s->index);
	return 0;
}

void coll_stream_acknowledge(struct coll_stream *s)
{
	uint64_t to = s->seqs.top;

	if (coll_stream_dirty(s))
		return;
	if (!s->cut && s->high > to)
		to = s->high;
	if (to > s->acked)
		s->acked = to;
}

void coll_store_close(struct coll_store *st, struct coll_stream *s)
{
	coll_stream_cache_add(st->known, s);
	*s->link = s->next;
	if (s->next)
		s->next->link = s->link;
	st->streams--;
	coll_keeper_closed(st->keeper, s->dir);
	stream_free(s);
}
