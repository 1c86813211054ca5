/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a file, or unpacks it in a thread that hands over filled buffers.
 */
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define CHUNK (256u << 10)
#define CHUNKS 4u
#define GZIP_WINDOW (15 + 16) /* zlib: gzip header and the largest window */

struct chunk {
	uint8_t data[CHUNK];
	size_t len;
};

struct view_import_input {
	int fd;
	uint64_t size; /* 0: not known */
	_Atomic uint64_t consumed;
	struct chunk raw; /* as in the file */
	bool held; /* the reader has a chunk that was only looked at */
	bool packed;

	/* packed: filled by the thread in order, chunk[head..tail) modulo CHUNKS */
	pthread_t thread;
	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t changed;
	unsigned int head, tail;
	bool borrowed; /* the reader still uses chunk[head] */
	bool stop, done;
	int err;
	const char *why;
	struct chunk *chunk;
	z_stream z; /* the thread's own */
};

/* Fills raw. 1, 0 at the end, -errno. */
static int read_raw(struct view_import_input *in)
{
	ssize_t n;

	do {
		n = read(in->fd, in->raw.data, CHUNK);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	in->raw.len = (size_t)n;
	atomic_fetch_add(&in->consumed, (uint64_t)n);
	return n > 0;
}

static const char *why_errno(int err)
{
	switch (-err) {
	case ENOENT:
		return "no such file; check the name";
	case EACCES:
	case EPERM:
		return "permission denied; check who may read it";
	case EISDIR:
		return "it is a directory; name the trace file in it";
	case ENODATA:
		return "the file is empty; was the trace written to its end?";
	case EPIPE:
		return "the gzip data end early; copy the file again";
	case EBADMSG:
		return "the gzip data are damaged; copy the file again";
	case EINVAL:
		return "neither a regular file nor a pipe; name a trace file";
	case ENOMEM:
		return "out of memory";
	default:
		return strerror(-err);
	}
}

/* A free chunk to fill; NULL when the reader wants no more. */
static struct chunk *take_free(struct view_import_input *in)
{
	struct chunk *c = NULL;

	pthread_mutex_lock(&in->lock);
	while (!in->stop && in->tail - in->head == CHUNKS)
		pthread_cond_wait(&in->changed, &in->lock);
	if (!in->stop)
		c = &in->chunk[in->tail % CHUNKS];
	pthread_mutex_unlock(&in->lock);
	return c;
}

static void hand_over(struct view_import_input *in, bool filled, bool done, int err)
{
	pthread_mutex_lock(&in->lock);
	in->tail += filled;
	in->done = done;
	in->err = err;
	pthread_cond_signal(&in->changed);
	pthread_mutex_unlock(&in->lock);
}

/* More packed bytes for zlib. 1, 0 at the end of the file, -errno. */
static int feed(struct view_import_input *in)
{
	int got;

	if (in->z.avail_in)
		return 1;
	got = read_raw(in);
	in->z.next_in = in->raw.data;
	in->z.avail_in = got > 0 ? (uInt)in->raw.len : 0;
	return got;
}

/* Behind a member: another one (1), nothing or padding (0), or an error. */
static int next_member(struct view_import_input *in)
{
	int got;

	for (;;) {
		got = feed(in);
		if (got <= 0)
			return got;
		if (*in->z.next_in)
			return inflateReset(&in->z) == Z_OK ? 1 : -EBADMSG;
		in->z.next_in++;
		in->z.avail_in--;
	}
}

/* Fills one chunk. 1, 0 when the file ends with it, or an error. */
static int inflate_chunk(struct view_import_input *in, struct chunk *c)
{
	int got, rc;

	in->z.next_out = c->data;
	in->z.avail_out = CHUNK;
	for (;;) {
		got = feed(in);
		if (got <= 0)
			return got ? got : -EPIPE;
		rc = inflate(&in->z, Z_NO_FLUSH);
		c->len = CHUNK - in->z.avail_out;
		if (rc == Z_STREAM_END) {
			got = next_member(in);
			if (got <= 0)
				return got;
		} else if (rc != Z_OK && rc != Z_BUF_ERROR) {
			return rc == Z_MEM_ERROR ? -ENOMEM : -EBADMSG;
		}
		if (!in->z.avail_out)
			return 1;
	}
}

static void *unpack(void *arg)
{
	struct view_import_input *in = arg;
	struct chunk *c;
	int got = 1;

	while (got > 0) {
		c = take_free(in);
		if (!c)
			break;
		c->len = 0;
		got = inflate_chunk(in, c);
		hand_over(in, c->len > 0, got <= 0, got < 0 ? got : 0);
	}
	return NULL;
}

/* The first bytes are in raw already. */
static int start_unpacking(struct view_import_input *in)
{
	int err = -ENOMEM;

	in->chunk = malloc(CHUNKS * sizeof(*in->chunk));
	if (!in->chunk)
		return -ENOMEM;
	in->z.next_in = in->raw.data;
	in->z.avail_in = (uInt)in->raw.len;
	if (inflateInit2(&in->z, GZIP_WINDOW) != Z_OK)
		goto fail_chunk;
	if (pthread_mutex_init(&in->lock, NULL))
		goto fail_zlib;
	if (pthread_cond_init(&in->changed, NULL))
		goto fail_lock;
	err = -pthread_create(&in->thread, NULL, unpack, in);
	if (err)
		goto fail_cond;
	in->packed = true;
	return 0;

fail_cond:
	pthread_cond_destroy(&in->changed);
fail_lock:
	pthread_mutex_destroy(&in->lock);
fail_zlib:
	inflateEnd(&in->z);
fail_chunk:
	free(in->chunk);
	in->chunk = NULL;
	return err;
}

static int open_file(struct view_import_input *in, const char *path)
{
	struct stat st;

	in->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (in->fd < 0)
		return -errno;
	if (fstat(in->fd, &st))
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode))
		return -EINVAL;
	in->size = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
	return 0;
}

int view_import_input_open(struct view_import_input **out, const char *path, const char **why)
{
	struct view_import_input *in = calloc(1, sizeof(*in));
	int err;

	*out = NULL;
	if (!in) {
		*why = why_errno(-ENOMEM);
		return -ENOMEM;
	}
	in->fd = -1;
	err = open_file(in, path);
	if (err)
		goto fail;
	err = read_raw(in);
	if (err <= 0) {
		err = err ? err : -ENODATA;
		goto fail;
	}
	in->held = true;
	err = 0;
	if (in->raw.len >= 2 && in->raw.data[0] == 0x1f && in->raw.data[1] == 0x8b)
		err = start_unpacking(in);
	if (err)
		goto fail;
	*out = in;
	return 0;

fail:
	*why = why_errno(err);
	view_import_input_close(in);
	return err;
}

void view_import_input_close(struct view_import_input *in)
{
	if (!in)
		return;
	if (in->packed) {
		pthread_mutex_lock(&in->lock);
		in->stop = true;
		pthread_cond_signal(&in->changed);
		pthread_mutex_unlock(&in->lock);
		pthread_join(in->thread, NULL);
		pthread_cond_destroy(&in->changed);
		pthread_mutex_destroy(&in->lock);
		inflateEnd(&in->z);
	}
	free(in->chunk);
	if (in->fd >= 0)
		close(in->fd);
	free(in);
}

static int read_plain(struct view_import_input *in, const uint8_t **data, size_t *len, bool peek)
{
	int got = 1;

	if (!in->held)
		got = read_raw(in);
	in->held = peek && got > 0;
	*data = in->raw.data;
	*len = got > 0 ? in->raw.len : 0;
	return got;
}

static int read_packed(struct view_import_input *in, const uint8_t **data, size_t *len, bool peek)
{
	int got;

	pthread_mutex_lock(&in->lock);
	in->head += in->borrowed;
	in->borrowed = false;
	pthread_cond_signal(&in->changed);
	while (in->head == in->tail && !in->done)
		pthread_cond_wait(&in->changed, &in->lock);
	got = in->head != in->tail ? 1 : in->err;
	if (got > 0) {
		*data = in->chunk[in->head % CHUNKS].data;
		*len = in->chunk[in->head % CHUNKS].len;
		in->borrowed = !peek;
	}
	pthread_mutex_unlock(&in->lock);
	return got;
}

int view_import_input_read(struct view_import_input *in, const uint8_t **data, size_t *len,
			   bool peek, const char **why)
{
	int got = in->packed ? read_packed(in, data, len, peek) : read_plain(in, data, len, peek);

	if (got < 0)
		*why = why_errno(got);
	return got;
}

bool view_import_input_packed(const struct view_import_input *in)
{
	return in->packed;
}

double view_import_input_done(const struct view_import_input *in)
{
	return in->size ? (double)atomic_load(&in->consumed) / (double)in->size : -1;
}
