/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams found, opened, made durable and closed.
 */
#include "store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/clock.h"
#include "core/log.h"
#include "core/paths.h"
#include "known.h"
#include "stream_cache.h"

int coll_store_init(struct coll_store *st, const char *base, struct coll_counters *count)
{
	int err = coll_mkdirs_kept(base, 0777);
	struct stat at;

	memset(st, 0, sizeof(*st));
	st->count = count;
	if (err)
		return err;
	st->cache = coll_stream_cache_new();
	if (!st->cache)
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
	st->place = (struct coll_sync_place){
		.base = st->base, .fd = st->base_fd, .dev = at.st_dev, .count = count
	};
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
	coll_stream_cache_free(st->cache);
	coll_stream_links_close(&st->links);
	if (st->base)
		close(st->base_fd);
	free(st->base);
	st->cache = NULL;
	st->base = NULL;
}

void coll_store_keep_links(struct coll_store *st)
{
	if (!st->links.kept)
		coll_stream_links_open(&st->links, st->base_fd);
}

const char *coll_store_epoch(struct coll_store *st, int *err)
{
	*err = st->epoch.text[0] ? 0 : coll_epoch_open(&st->epoch, st->base);
	return *err ? NULL : st->epoch.text;
}

struct coll_stream *coll_store_get(struct coll_store *st, const uint8_t *id)
{
	struct coll_stream *s = st->bucket[id[0] % COLL_STORE_BUCKETS];

	while (s && memcmp(s->id, id, sizeof(s->id)))
		s = s->next;
	return s;
}

/* A stream without a file, not in the store yet. @dir is kept. */
static struct coll_stream *stream_new(struct coll_store *st, const uint8_t *id, char *dir)
{
	struct coll_stream *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->fd = s->index.fd = -1;
	s->admission = &st->admission;
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
	free(s->known_next);
	free(s->path);
	free(s->dir);
	free(s);
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
	return coll_stream_lock(s->fd);
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
 * Reads the file, or what of it is not known. That is not known to be on disk (the collector before
 * may have died without a sync), so it is synced once more.
 */
static int read_file(struct coll_store *st, struct coll_stream *s)
{
	uint64_t known = s->size;
	int err = coll_recover(s, &st->recovered);

	if (err)
		return err;
	if (known && s->size == known) {
		cut_end(st, s);
		s->entry_new = false;
		coll_stream_acknowledge(s);
		return 0;
	}
	cut_end(st, s);
	if (!s->size)
		return 0;
	s->synced = s->size; /* commit must not take it back below this */
	return coll_stream_commit(st, s);
}

/* Whoever waits for all to be read would find us dead. One stream is read, however long it is. */
static int may_read(struct coll_store *st, const struct coll_stream *s)
{
	int64_t now = coll_now_ns();
	struct stat at;

	if (!st->links.kept || fstat(s->fd, &at))
		return 0;
	if (now - st->read_ns >= COLL_SECOND_NS) {
		st->read_ns = now;
		st->read_bytes = 0;
	}
	if (st->read_bytes >= COLL_STORE_READ_BYTES)
		return -EAGAIN;
	st->read_bytes += (uint64_t)at.st_size - s->size;
	return 0;
}

/* What the file holds, from memory where it is as we left it. */
static int load_stream(struct coll_store *st, struct coll_stream *s)
{
	char index[PATH_MAX];
	int err = 0;

	snprintf(index, sizeof(index), "%s/%s.idx", s->dir, s->hex);
	if (coll_stream_cache_restore(st->cache, s)) {
		coll_index_resume(&s->index, index);
	} else {
		bool known = coll_known_restore(s);

		err = may_read(st, s);
		if (!err && !known)
			coll_index_open(&s->index, index, s->id);
		if (!err)
			err = read_file(st, s);
	}
	s->synced_top = s->seqs.top;
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
	err = coll_admission_open(&st->admission, dir);
	if (err)
		goto free_stream;
	err = make ? coll_mkdirs(dir, 0777) : 0;
	if (!err)
		err = open_file(s);
	if (err)
		goto close_run;
	err = load_stream(st, s);
	if (err)
		goto close_run;
	put_in_bucket(st, s);
	coll_stream_links_put(&st->links, s->hex, strrchr(dir, '/') + 1);
	*out = s;
	return 0;
close_run:
	coll_admission_closed(&st->admission, dir);
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
	if (asprintf(&dir, "%s/%s" COLL_RUN_SUFFIX, st->base, hello->run) < 0)
		return -ENOMEM;
	return open_in(st, id, dir, true, out);
}

/* The run directory @name, to be freed, if it holds the stream. */
static char *dir_with(const struct coll_store *st, const char *hex, const char *name)
{
	char path[PATH_MAX], *dir;

	/* By the path: the folder may have been removed and put back since it was opened. */
	if (snprintf(path, sizeof(path), "%s/%s/%s.gst", st->base, name, hex) >= PATH_MAX ||
	    faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) ||
	    asprintf(&dir, "%s/%s", st->base, name) < 0)
		return NULL;
	return dir;
}

/* The run directory that holds the stream, to be freed; NULL: none, or no memory. */
static char *search(const struct coll_store *st, const char *hex)
{
	DIR *d = opendir(st->base);
	char *found = NULL;
	struct dirent *e;

	while (d && !found && (e = readdir(d)))
		if (coll_run_dir_is(e->d_name))
			found = dir_with(st, hex, e->d_name);
	if (d)
		closedir(d);
	return found;
}

int coll_store_find(struct coll_store *st, const uint8_t *id, struct coll_stream **out)
{
	char hex[COLL_HEX_BYTES], name[NAME_MAX + 1], *dir = NULL;
	int err;

	coll_hex_of(hex, id);
	err = coll_stream_links_get(&st->links, hex, name);
	if (!err) {
		dir = dir_with(st, hex, name);
		err = dir ? 0 : -ENOENT; /* the run was removed */
	} else if (err == -ENODATA) {
		dir = search(st, hex);
		st->links.searched_ns = coll_now_ns();
		err = dir ? 0 : -ENOENT;
	}
	return err ? err : open_in(st, id, dir, false, out);
}

int coll_stream_commit(struct coll_store *st, struct coll_stream *s)
{
	struct coll_sync y;

	coll_sync_begin(&y, &st->place, s);
	coll_sync_work(&y, false);
	return coll_sync_end(&y);
}

void coll_store_close(struct coll_store *st, struct coll_stream *s)
{
	coll_known_close(s);
	coll_stream_cache_add(st->cache, s);
	*s->link = s->next;
	if (s->next)
		s->next->link = s->link;
	st->streams--;
	coll_admission_closed(&st->admission, s->dir);
	if (s->bye)
		coll_stream_links_remove(&st->links, s->hex);
	stream_free(s);
}
