/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Appends batches of frames to the spool file.
 */
#include "spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/ownfds.h"

#define HIGH_FD 900
#define FILE_MODE 0644 /* at most: some jobs have no umask */
#define FOLDER_MODE 0755
#define FREE_FLOOR (64ull << 20)
#define FLOOR_SHARE 8 /* a part of a small disk, not all of it */

void prof_spool_init(struct prof_spool *s, const char *base, const char *run_id,
		     const uint8_t stream[16])
{
	int i;

	memset(s, 0, sizeof(*s));
	snprintf(s->base, sizeof(s->base), "%s", base);
	snprintf(s->run, sizeof(s->run), "%s/%s.gst", base, run_id);
	for (i = 0; i < 16; i++)
		snprintf(s->stream + 2 * i, 3, "%02x", stream[i]);
}

static void segment_path(const struct prof_spool *s, unsigned int segment, char *path, size_t size)
{
	snprintf(path, size, "%s/%s.%u.spool", s->run, s->stream, segment);
}

void prof_spool_new_segment(struct prof_spool *s)
{
	if (s->size)
		s->segment++;
	s->size = 0;
}

bool prof_spool_at_start(struct prof_spool *s)
{
	char path[3600];
	struct stat st;

	if (!s->segment)
		s->segment = 1;
	segment_path(s, s->segment, path, sizeof(path));
	if (s->size && (stat(path, &st) || (uint64_t)st.st_size != s->size))
		prof_spool_new_segment(s);
	return !s->size;
}

int prof_fd_high(int fd)
{
	int high, kept = errno;

	if (fd < 0 || fd >= HIGH_FD || prof_ownfds())
		return fd;
	high = fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD);
	if (high < 0) /* a low limit on descriptors */
		high = fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD / 10);
	errno = kept;
	if (high < 0)
		return fd;
	close(fd);
	return high;
}

/* mkdir -p of two levels: parents of the base are the user's business. */
static int make_folders(const struct prof_spool *s)
{
	if (mkdir(s->base, FOLDER_MODE) && errno != EEXIST)
		return -errno;
	if (mkdir(s->run, FOLDER_MODE) && errno != EEXIST)
		return -errno;
	return 0;
}

static int open_segment(const struct prof_spool *s)
{
	const int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW;
	char path[3600];
	int fd, err;

	segment_path(s, s->segment, path, sizeof(path));
	fd = open(path, flags, FILE_MODE);
	if (fd < 0 && errno == ENOENT) {
		err = make_folders(s);
		if (err)
			return err;
		fd = open(path, flags, FILE_MODE);
	}
	return fd < 0 ? -errno : prof_fd_high(fd);
}

static int write_all(int fd, struct iovec *part, int parts)
{
	ssize_t n;

	while (parts) {
		if (!part->iov_len) {
			part++;
			parts--;
			continue;
		}
		n = writev(fd, part, parts);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		for (; parts && (size_t)n >= part->iov_len; part++, parts--)
			n -= (ssize_t)part->iov_len;
		if (parts) {
			part->iov_base = (uint8_t *)part->iov_base + n;
			part->iov_len -= (size_t)n;
		}
	}
	return 0;
}

/* A part of a frame at the end would hide what follows it from a strict reader. */
static void cut_part_off(struct prof_spool *s, int fd)
{
	struct stat st;

	if (fstat(fd, &st) || (uint64_t)st.st_size == s->size)
		return;
	if (ftruncate(fd, (off_t)s->size)) {
		s->size = (uint64_t)st.st_size;
		prof_spool_new_segment(s);
	}
}

/*
 * As much as a collector leaves (limit free-floor): checkpoints of the job come to the same disk.
 */
static bool is_nearly_full(int fd, size_t len)
{
	uint64_t floor = FREE_FLOOR, block;
	struct statfs fs;

	if (fstatfs(fd, &fs) || !fs.f_blocks)
		return false;
	block = (uint64_t)(fs.f_frsize ? fs.f_frsize : fs.f_bsize);
	if (floor > fs.f_blocks * block / FLOOR_SHARE)
		floor = fs.f_blocks * block / FLOOR_SHARE;
	return fs.f_bavail * block < floor + len;
}

int prof_spool_write(struct prof_spool *s, const uint8_t *head, size_t head_len,
		     const uint8_t *body, size_t body_len)
{
	struct iovec part[2] = { { (void *)(uintptr_t)head, head_len },
				 { (void *)(uintptr_t)body, body_len } };
	int fd = open_segment(s), err;

	if (fd < 0)
		return fd;
	s->at_floor = is_nearly_full(fd, head_len + body_len);
	err = s->at_floor ? -ENOSPC : write_all(fd, part, 2);
	if (err)
		cut_part_off(s, fd);
	if (close(fd) && !err)
		err = errno == EINTR ? 0
				     : -errno; /* a network file system tells of a full disk here */
	if (err)
		return err;
	s->size += head_len + body_len;
	s->written += head_len + body_len;
	return 0;
}
