/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the frames of a file, through a window that moves over it.
 */
#include "reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "contents.h"
#include "scan.h"
#include "source.h"

#define WINDOW_BYTES (256u << 10) /* grows where a frame is larger */
#define STREAMS_MAX 1024u /* known streams kept, for resynchronisation only */
#define BUDGET_PER_BYTE 4u /* see WIRE_SCAN_BUDGET; what going on adds to it */

struct wire_file {
	int fd; /* -1: opened for each read */
	char *path;
	dev_t device; /* and number, by which the file is known again */
	ino_t number;
	uint64_t size;
	uint64_t pos; /* where the scan stands */
	uint8_t *window; /* bytes of the file from window_at on; NULL: scanned */
	size_t window_len, window_room;
	uint64_t window_at;
	const uint8_t *head;
	uint64_t budget;
	bool lost; /* damage lies between the frame before and here */
	struct wire_damage *damage;
	size_t damages, damage_room;
	uint8_t (*stream)[WIRE_STREAM_ID_BYTES];
	size_t streams;
	struct wire_bytes bytes; /* read: NULL for a file */
	bool listed; /* the scan goes by the table of contents, which is ... */
	struct wire_listed list;
	struct wire_kept kept; /* ... of which these frames need not be read again */
};

static int open_regular(const char *path, struct stat *st)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int err;

	if (fd < 0)
		return -errno;
	if (fstat(fd, st))
		err = -errno;
	else if (S_ISDIR(st->st_mode))
		err = -EISDIR;
	else
		err = S_ISREG(st->st_mode) ? 0 : -EINVAL;
	if (err) {
		close(fd);
		return err;
	}
	return fd;
}

/* One whose bytes are not known yet; NULL: no memory. */
static struct wire_file *file_new(void)
{
	struct wire_file *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->fd = -1;
	f->window = malloc(WINDOW_BYTES);
	f->window_room = WINDOW_BYTES;
	f->stream = malloc(STREAMS_MAX * sizeof(*f->stream));
	f->budget = WIRE_SCAN_BUDGET;
	if (f->window && f->stream)
		return f;
	wire_file_close(f);
	return NULL;
}

int wire_file_open(struct wire_file **out, const char *path)
{
	struct wire_file *f = file_new();
	struct stat st;
	int err;

	if (!f)
		return -ENOMEM;
	f->path = strdup(path);
	err = -ENOMEM;
	if (!f->path)
		goto free_file;
	f->fd = open_regular(path, &st);
	err = f->fd;
	if (f->fd < 0)
		goto free_file;
	f->size = (uint64_t)st.st_size;
	f->device = st.st_dev;
	f->number = st.st_ino;
	*out = f;
	return 0;
free_file:
	wire_file_close(f);
	return err;
}

void wire_file_close(struct wire_file *f)
{
	if (!f)
		return;
	if (f->fd >= 0)
		close(f->fd);
	wire_buf_fini(&f->list.raw);
	wire_kept_fini(&f->kept);
	free(f->damage);
	free(f->stream);
	free(f->window);
	free(f->path);
	free(f);
}

void wire_file_scanned(struct wire_file *f, bool stays_open)
{
	free(f->stream);
	free(f->window);
	f->stream = NULL;
	f->window = NULL;
	f->head = NULL;
	f->streams = f->window_len = f->window_room = 0;
	wire_buf_fini(&f->list.raw);
	f->list = (struct wire_listed){ .left = 0 };
	if (stays_open || f->fd < 0)
		return;
	close(f->fd);
	f->fd = -1;
}

/* A descriptor of the file that was scanned, the caller's to close, or -errno. */
static int open_again(const struct wire_file *f)
{
	struct stat st;
	int fd = open_regular(f->path, &st);

	if (fd < 0 || (st.st_dev == f->device && st.st_ino == f->number))
		return fd;
	close(fd);
	return -ESTALE;
}

static ssize_t read_at(int fd, void *bytes, size_t len, uint64_t at)
{
	size_t got = 0;

	while (got < len) {
		ssize_t n = pread(fd, (uint8_t *)bytes + got, len - got, (off_t)(at + got));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		got += (size_t)n;
	}
	return (ssize_t)got;
}

/* A frame that is kept, else of where the bytes lie. */
static ssize_t read_bytes(const struct wire_file *f, void *bytes, size_t len, uint64_t at)
{
	const uint8_t *kept = wire_kept_find(&f->kept, at, len);

	if (!kept)
		return f->bytes.read(f->bytes.own, bytes, len, at);
	memcpy(bytes, kept, len);
	return (ssize_t)len;
}

ssize_t wire_file_pread(const struct wire_file *f, void *bytes, size_t len, uint64_t at)
{
	ssize_t got;
	int fd;

	if (f->bytes.read)
		return read_bytes(f, bytes, len, at);
	if (f->fd >= 0)
		return read_at(f->fd, bytes, len, at);
	fd = open_again(f);
	if (fd < 0)
		return fd;
	got = read_at(fd, bytes, len, at);
	close(fd);
	return got;
}

static size_t window_left(const struct wire_file *f)
{
	return (size_t)(f->window_at + f->window_len - f->pos);
}

/* Drops what lies before pos, doubles a window that this leaves full, and reads on. */
static int window_more(struct wire_file *f)
{
	size_t left = window_left(f);
	ssize_t got;

	memmove(f->window, f->window + (f->window_len - left), left);
	f->window_at = f->pos;
	f->window_len = left;
	if (left == f->window_room) {
		uint8_t *window = realloc(f->window, f->window_room * 2);

		if (!window)
			return -ENOMEM;
		f->window = window;
		f->window_room *= 2;
	}
	got = wire_file_pread(f, f->window + left, f->window_room - left, f->pos + left);
	if (got < 0)
		return (int)got;
	if (got == 0) /* shorter than it was when opened */
		f->size = f->pos + left;
	f->window_len += (size_t)got;
	return 0;
}

static int damage_new(struct wire_file *f, uint64_t at, uint64_t bytes)
{
	if (f->damages == f->damage_room) {
		size_t room = f->damage_room ? f->damage_room * 2 : 16;
		struct wire_damage *d = realloc(f->damage, room * sizeof(*d));

		if (!d)
			return -ENOMEM;
		f->damage = d;
		f->damage_room = room;
	}
	f->damage[f->damages++] = (struct wire_damage){ at, bytes };
	return 0;
}

/* Bytes at pos are damage: noted, and passed. */
static int damage_skip(struct wire_file *f, uint64_t bytes)
{
	struct wire_damage *last = f->damages ? &f->damage[f->damages - 1] : NULL;
	int err = 0;

	if (!bytes)
		return 0;
	if (last && (f->damages == WIRE_DAMAGE_MAX || last->offset + last->bytes == f->pos))
		last->bytes += bytes;
	else
		err = damage_new(f, f->pos, bytes);
	f->pos += bytes;
	f->lost = true;
	return err;
}

static bool stream_known(const struct wire_file *f, const uint8_t *stream)
{
	size_t i;

	for (i = f->streams; i-- > 0;)
		if (!memcmp(f->stream[i], stream, WIRE_STREAM_ID_BYTES))
			return true;
	return false;
}

/*
 * After damage only a stream that was seen before is believed: what looks like a frame there may
 * be the inside of one that is damaged. In good order any stream may begin.
 */
static bool stream_accept(struct wire_file *f, const uint8_t *stream)
{
	if (stream_known(f, stream))
		return true;
	if (f->lost && f->streams)
		return false;
	if (f->streams < STREAMS_MAX)
		memcpy(f->stream[f->streams++], stream, WIRE_STREAM_ID_BYTES);
	return true;
}

void wire_file_start_at(struct wire_file *f, uint64_t offset,
			const uint8_t stream[WIRE_STREAM_ID_BYTES])
{
	f->pos = f->window_at = offset;
	f->window_len = 0;
	stream_accept(f, stream);
}

static void take(struct wire_file *f, struct wire_entry *e)
{
	uint64_t bytes = wire_frame_bytes(&e->frame);

	e->offset = f->pos;
	f->head = f->window + (f->pos - f->window_at) + WIRE_FRAME_HEADER_BYTES;
	f->pos += bytes;
	f->lost = false;
	if (f->budget < UINT64_MAX / 2)
		f->budget += bytes * BUDGET_PER_BYTE;
}

/* The segment's Contents as a whole; -EBADMSG: none that can be used. */
static int contents_read(struct wire_file *f, struct wire_buf *frame)
{
	uint8_t end[WIRE_END_BYTES];
	uint64_t from = f->size - sizeof(end), begin;
	ssize_t got;
	int err;

	if (f->size < sizeof(end))
		return -EBADMSG;
	got = wire_file_pread(f, end, sizeof(end), from);
	if (got < 0)
		return (int)got;
	begin = (size_t)got == sizeof(end) ? wire_contents_begin(end, f->size) : 0;
	if (!begin || from - begin > WIRE_FRAME_HEADER_BYTES + WIRE_FRAME_BODY_MAX)
		return -EBADMSG;
	err = wire_buf_reserve(frame, (size_t)(from - begin));
	if (err)
		return err;
	got = wire_file_pread(f, frame->data, (size_t)(from - begin), begin);
	if (got < 0)
		return (int)got;
	return wire_listed_take(&f->list, frame->data, (size_t)got, begin);
}

/* -EBADMSG and what it knew of damage is forgotten: all has to be scanned. */
static int contents_use(struct wire_file *f)
{
	struct wire_buf frame = { .data = NULL };
	struct wire_damage d;
	int err = contents_read(f, &frame);

	wire_buf_fini(&frame);
	while (!err && wire_listed_damage(&f->list, &d)) {
		if (d.offset > f->size || d.bytes > f->size - d.offset)
			err = -EBADMSG;
		else
			err = damage_new(f, d.offset, d.bytes);
	}
	f->listed = !err;
	if (err != -EBADMSG)
		return err;
	f->damages = 0;
	wire_buf_fini(&f->list.raw);
	f->list = (struct wire_listed){ .left = 0 };
	return 0;
}

int wire_file_open_segment(struct wire_file **out, const struct wire_bytes *bytes)
{
	struct wire_file *f = file_new();
	int err;

	if (!f)
		return -ENOMEM;
	f->bytes = *bytes;
	f->size = bytes->size;
	err = contents_use(f);
	if (err)
		wire_file_close(f);
	else
		*out = f;
	return err;
}

static int next_listed(struct wire_file *f, struct wire_entry *e)
{
	int got = wire_listed_next(&f->list, e, &f->head), err;

	if (got <= 0)
		return got;
	err = wire_kept_add(&f->kept, e, f->head);
	return err ? err : 1;
}

int wire_file_next(struct wire_file *f, struct wire_entry *e)
{
	f->head = NULL;
	if (f->listed)
		return next_listed(f, e);
	while (f->window) {
		bool final = f->window_at + f->window_len >= f->size;
		size_t left = window_left(f), skip;
		enum wire_scan got;
		int err;

		got = wire_scan_step(f->window + (f->window_len - left), left, final, &f->budget,
				     &e->frame, &skip);
		err = damage_skip(f, skip);
		if (err)
			return err;
		if (got == WIRE_SCAN_FRAME && stream_accept(f, e->frame.stream)) {
			take(f, e);
			return 1;
		}
		if (got == WIRE_SCAN_FRAME)
			err = damage_skip(f, 1);
		else if (final)
			return 0;
		else
			err = window_more(f);
		if (err)
			return err;
	}
	return 0;
}

const uint8_t *wire_file_head(const struct wire_file *f)
{
	return f->head;
}

const struct wire_damage *wire_file_damage(const struct wire_file *f, size_t *count)
{
	*count = f->damages;
	return f->damage;
}

uint64_t wire_file_size(const struct wire_file *f)
{
	return f->size;
}
