/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands in a stream's file, and what of it is durable.
 */
#include "stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/log.h"
#include "core/paths.h"

void coll_hex_of(char out[COLL_HEX_BYTES], const uint8_t *id)
{
	size_t i;

	for (i = 0; i < WIRE_STREAM_ID_BYTES; i++)
		snprintf(out + 2 * i, 3, "%02x", id[i]);
}

int coll_stream_lock(int fd)
{
	if (!flock(fd, LOCK_EX | LOCK_NB))
		return 0;
	return errno == EWOULDBLOCK ? -EBUSY : 0;
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
		refused = coll_admission_append(s->admission, s->size, len);
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

int coll_stream_write_again(struct coll_stream *s)
{
	int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	int fd, err = coll_mkdirs(s->dir, 0777);

	if (err)
		return err;
	fd = open(s->path, flags, 0666);
	if (fd < 0)
		return -errno;
	err = coll_stream_lock(fd);
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

void coll_stream_take_back(struct coll_stream *s)
{
	if (ftruncate(s->fd, (off_t)s->synced))
		coll_note("%s: frames that may be lost stay at its end", s->path);
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

void coll_stream_take_point(struct coll_stream *s)
{
	s->point = (struct coll_stream_point){ .size = s->size,
					       .top = s->seqs.top,
					       .high = s->cut ? 0 : s->high,
					       .index = s->index.waiting.len };
}

void coll_stream_reach_point(struct coll_stream *s)
{
	const struct coll_stream_point *p = &s->point;

	s->synced = p->size;
	s->synced_top = p->top;
	if (p->top > s->acked)
		s->acked = p->top;
	/* Of the same client still, and it has not come to be of a frame that is not there. */
	if (!s->cut && s->high >= p->high && p->high > s->acked)
		s->acked = p->high;
	coll_index_flush_some(&s->index, p->index);
}

uint64_t coll_stream_durable_top(const struct coll_stream *s)
{
	return coll_stream_dirty(s) ? s->synced_top : s->seqs.top;
}
