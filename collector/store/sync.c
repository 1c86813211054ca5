/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file, and its name.
 */
#include "sync.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/clock.h"
#include "core/files.h"
#include "known.h"

void coll_sync_begin(struct coll_sync *y, const struct coll_sync_place *place,
		     struct coll_stream *s)
{
	*y = (struct coll_sync){ .place = place,
				 .stream = s,
				 .fd = s->fd,
				 .from = s->synced,
				 .entry_new = s->entry_new };
	coll_stream_take_point(s);
	coll_known_prepare(s);
	s->syncing = true;
}

void coll_sync_push(const struct coll_sync *y)
{
	sync_file_range(y->fd, (off_t)y->from, 0, SYNC_FILE_RANGE_WRITE);
}

/* A new file is durable when its name is. */
static int sync_entry(const struct coll_sync *y)
{
	int err = coll_folder_sync(y->stream->dir);

	return err ? err : coll_folder_sync(y->place->base);
}

/* 0; 1: the kernel does not say; -errno: something of the file could not be written out. */
static int write_error(int fd)
{
	if (!sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WAIT_BEFORE))
		return 0;
	return errno == ENOSYS || errno == EINVAL || errno == EPERM || errno == ESPIPE ? 1 : -errno;
}

/* All of it is on disk already, its name too: 0, or 1: that cannot be said; -errno. */
static int ask_file(const struct coll_sync *y)
{
	struct stat now;

	if (fstat(y->fd, &now) || !now.st_nlink || now.st_dev != y->place->dev)
		return 1;
	return write_error(y->fd);
}

static int sync_file(struct coll_sync *y)
{
	struct stat now;

	if (fdatasync(y->fd) || fstat(y->fd, &now))
		return -errno;
	y->removed = !now.st_nlink;
	return y->entry_new && !y->removed ? sync_entry(y) : 0;
}

void coll_sync_work(struct coll_sync *y, bool whole)
{
	int64_t began_ns = coll_now_ns();
	int err = whole ? ask_file(y) : 1;

	y->err = err > 0 ? sync_file(y) : err;
	y->took_ns = coll_now_ns() - began_ns;
}

/* Somebody removed it while its process runs: see coll_stream_write_again. */
static int put_back(struct coll_sync *y)
{
	int err = coll_stream_write_again(y->stream);

	if (err)
		return err;
	coll_stream_take_point(y->stream);
	return sync_entry(y);
}

int coll_sync_end(struct coll_sync *y)
{
	struct coll_stream *s = y->stream;
	int err = y->err;

	s->syncing = false;
	if (!err && y->removed)
		err = put_back(y);
	if (err) {
		coll_stream_take_back(s);
		return err;
	}
	s->entry_new = false;
	coll_counters_commit(y->place->count, y->took_ns);
	coll_stream_reach_point(s);
	coll_known_save(s);
	return 0;
}
