/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes to their file.
 */
#include "export_out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static void write_all(struct view_out *o, const void *data, size_t len)
{
	const char *p = data;

	while (len && !o->err) {
		ssize_t n = write(o->fd, p, len);

		if (n < 0 && errno != EINTR)
			o->err = -errno;
		p += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
}

static void squeeze(struct view_out *o, const void *data, size_t len, int flush)
{
	unsigned char packed[1 << 14];
	z_stream *z = o->z;

	z->next_in = (unsigned char *)data;
	z->avail_in = (unsigned int)len;
	do {
		z->next_out = packed;
		z->avail_out = sizeof(packed);
		deflate(z, flush);
		write_all(o, packed, sizeof(packed) - z->avail_out);
	} while (!z->avail_out && !o->err);
}

static void spill(struct view_out *o, const void *data, size_t len)
{
	o->bytes += len;
	if (o->err)
		return;
	if (o->z)
		squeeze(o, data, len, Z_NO_FLUSH);
	else
		write_all(o, data, len);
}

static void spill_buffer(struct view_out *o)
{
	spill(o, o->buffer, o->len);
	o->len = 0;
}

char *view_out_beside(const char *path)
{
	char *name;

	return asprintf(&name, "%s.part-%ld", path, (long)getpid()) < 0 ? NULL : name;
}

/* Something that is there and no regular file (a pipe, /dev/null) is written to as it is. */
static bool in_place(const char *path)
{
	struct stat st;

	return !stat(path, &st) && !S_ISREG(st.st_mode);
}

static int open_file(struct view_out *o, const char *path)
{
	const char *name = path;

	if (!path) {
		o->fd = STDOUT_FILENO;
		return 0;
	}
	if (!in_place(path)) {
		o->path = strdup(path);
		o->temporary = view_out_beside(path);
		if (!o->path || !o->temporary)
			return -ENOMEM;
		name = o->temporary;
	}
	o->fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	return o->fd < 0 ? -errno : 0;
}

static int start_gzip(struct view_out *o)
{
	z_stream *z = calloc(1, sizeof(*z));

	if (!z || deflateInit2(z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
		free(z);
		return -ENOMEM;
	}
	o->z = z;
	return 0;
}

static void release(struct view_out *o)
{
	if (o->z)
		deflateEnd(o->z);
	free(o->z);
	free(o->buffer);
	free(o->path);
	free(o->temporary);
	o->z = NULL;
	o->buffer = o->path = o->temporary = NULL;
}

int view_out_open(struct view_out *o, const char *path, bool gzip)
{
	int err = -ENOMEM;

	*o = (struct view_out){ .fd = -1 };
	o->buffer = malloc(VIEW_OUT_BUFFER);
	if (o->buffer)
		err = gzip ? start_gzip(o) : 0;
	if (!err)
		err = open_file(o, path);
	if (err)
		release(o);
	return err;
}

int view_out_close(struct view_out *o, bool keep)
{
	int err;

	spill_buffer(o);
	if (o->z && !o->err)
		squeeze(o, "", 0, Z_FINISH);
	if (o->fd != STDOUT_FILENO && close(o->fd) && !o->err)
		o->err = -errno;
	if (o->temporary && keep && !o->err && rename(o->temporary, o->path))
		o->err = -errno;
	if (o->temporary && (!keep || o->err))
		unlink(o->temporary);
	err = o->err;
	release(o);
	return err;
}

char *view_out_room(struct view_out *o, size_t n)
{
	if (VIEW_OUT_BUFFER - o->len < n)
		spill_buffer(o);
	return o->buffer + o->len;
}

void view_out_put(struct view_out *o, const void *data, size_t len)
{
	if (len > VIEW_OUT_BUFFER) {
		spill_buffer(o);
		spill(o, data, len);
		return;
	}
	memcpy(view_out_room(o, len), data, len);
	o->len += len;
}

void view_out_uint(struct view_out *o, uint64_t v)
{
	char digits[20], *p = digits + sizeof(digits);

	do {
		*--p = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	view_out_put(o, p, (size_t)(digits + sizeof(digits) - p));
}

void view_out_int(struct view_out *o, int64_t v)
{
	if (v < 0)
		view_out_char(o, '-');
	view_out_uint(o, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

void view_out_printf(struct view_out *o, const char *fmt, ...)
{
	char *at = view_out_room(o, 4096);
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(at, 4096, fmt, args);
	va_end(args);
	if (n > 0)
		o->len += n < 4096 ? (size_t)n : 4095;
}
