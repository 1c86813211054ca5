/* SPDX-License-Identifier: Apache-2.0 */
/* Each piece has its place in the file, which has holes where none was put. */
#include "remote_shelf.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "base/files.h"

struct view_shelf {
	int fd;
	size_t bytes, pieces;
	atomic_llong room; /* pieces that may still be put; negative: none */
	_Atomic uint32_t there[]; /* of each its bytes, once they are in the file; 0: none */
};

/* Pieces of half of what is free there; 0 where the file would be memory. */
static long long room_of(int fd, size_t bytes)
{
	struct statvfs v;
	struct statfs s;

	if (fstatfs(fd, &s) || fstatvfs(fd, &v) || s.f_type == TMPFS_MAGIC ||
	    s.f_type == RAMFS_MAGIC)
		return 0;
	return (long long)((unsigned __int128)v.f_bavail * v.f_frsize / 2 / bytes);
}

struct view_shelf *view_shelf_new(size_t pieces, size_t bytes)
{
	struct view_shelf *s = bytes <= UINT32_MAX && pieces <= SIZE_MAX / 2 / sizeof(s->there[0])
				       ? calloc(1, sizeof(*s) + pieces * sizeof(s->there[0]))
				       : NULL;

	if (!s)
		return NULL;
	s->pieces = pieces;
	s->bytes = bytes;
	s->fd = base_temp_file(NULL);
	if (s->fd >= 0)
		atomic_store(&s->room, room_of(s->fd, bytes));
	if (atomic_load(&s->room) > 0)
		return s;
	view_shelf_free(s);
	return NULL;
}

void view_shelf_free(struct view_shelf *s)
{
	if (!s)
		return;
	if (s->fd >= 0)
		close(s->fd);
	free(s);
}

ssize_t view_shelf_read(struct view_shelf *s, size_t piece, void *to, size_t len)
{
	size_t done = 0;

	/* acquire: the bytes were written before they were told to be there */
	if (!s || piece >= s->pieces || !len ||
	    atomic_load_explicit(&s->there[piece], memory_order_acquire) < len)
		return -ENOENT;
	while (done < len) {
		ssize_t n = pread(s->fd, (char *)to + done, len - done,
				  (off_t)(piece * s->bytes + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -EIO;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

void view_shelf_put(struct view_shelf *s, size_t piece, const void *from, size_t len)
{
	size_t done = 0;

	if (!s || piece >= s->pieces || len > s->bytes || atomic_load(&s->there[piece]))
		return;
	if (atomic_fetch_sub(&s->room, 1) <= 0)
		return;
	while (done < len) {
		ssize_t n = pwrite(s->fd, (const char *)from + done, len - done,
				   (off_t)(piece * s->bytes + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) { /* the disk is full: those that are there stay */
			atomic_store(&s->room, 0);
			return;
		}
		done += (size_t)n;
	}
	atomic_store_explicit(&s->there[piece], (uint32_t)len, memory_order_release);
}
