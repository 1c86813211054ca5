/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file's frames are found first, then it is read again, piece by piece.
 */
#include "put_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/files.h"
#include "base/vec.h"
#include "segments/piece.h"
#include "wire/keys.h"
#include "wire/reader.h"

/* A file while it is cut. */
struct cut {
	struct put_store *store;
	const char *name;
	int fd;
	struct wire_entry *entry;
	size_t entries, room;
	struct wire_damage *damage;
	size_t damages;
};

static int scan(struct cut *c, struct wire_file *f)
{
	const struct wire_damage *d;
	struct wire_entry e;
	int got;

	while ((got = wire_file_next(f, &e)) > 0) {
		if (!base_vec_more(c->entry, c->entries, c->room))
			return -ENOMEM;
		c->entry[c->entries++] = e;
	}
	if (got)
		return got;
	d = wire_file_damage(f, &c->damages);
	c->damage = calloc(c->damages + 1, sizeof(*d));
	if (!c->damage)
		return -ENOMEM;
	if (c->damages)
		memcpy(c->damage, d, c->damages * sizeof(*d));
	return 0;
}

static uint64_t end_of(const struct wire_entry *e)
{
	return e->offset + wire_frame_bytes(&e->frame);
}

static int read_piece(const struct cut *c, struct wire_buf *bytes, uint64_t at, uint64_t end)
{
	size_t len = (size_t)(end - at), got = 0;
	int err = wire_buf_reserve(bytes, len);

	if (!err && lseek(c->fd, (off_t)at, SEEK_SET) < 0)
		err = -errno;
	if (!err)
		err = base_read_upto(c->fd, (char *)bytes->data, len, &got);
	bytes->len = got;
	return !err && got < len ? -ESTALE : err; /* it is shorter than it was */
}

/* Frames [first, last), which are at least one, and all before them from @at. */
static int send_piece(struct cut *c, size_t first, size_t last, uint64_t at)
{
	struct segments_piece piece = { .at = at,
					.entry = c->entry + first,
					.entries = last - first,
					.damage = c->damage,
					.damages = c->damages };
	struct wire_buf bytes = { .data = NULL };
	char key[WIRE_KEY_BYTES];
	int err = read_piece(c, &bytes, at, end_of(&c->entry[last - 1]));

	if (!err)
		err = segments_piece_end(&bytes, &piece);
	if (!err && !wire_key_of_segment(key, c->name, (int)(strrchr(c->name, '.') - c->name),
					 c->entry[first].frame.seq, c->entry[last - 1].frame.seq))
		err = -ENAMETOOLONG;
	c->store->trouble.why[0] = '\0';
	if (err)
		view_put_trouble(c->store, c->name, err);
	else
		err = view_put_segment(
			c->store, base_arena_printf(&c->store->mem, "%s/%s", c->store->run, key),
			bytes.data, bytes.len);
	wire_buf_fini(&bytes);
	return err;
}

/* Pieces end with a frame. */
static int send_pieces(struct cut *c, uint64_t segment)
{
	size_t first = 0, i;
	uint64_t at = 0;
	int err = 0;

	for (i = 0; i < c->entries && !err; i++) {
		uint64_t end = end_of(&c->entry[i]);

		if (end - at < segment && i + 1 < c->entries)
			continue;
		err = send_piece(c, first, i + 1, at);
		first = i + 1;
		at = end;
	}
	return err;
}

int view_put_stream(struct put_store *p, const char *path, const char *name, uint64_t segment)
{
	struct cut c = { .store = p, .name = name };
	struct wire_file *f = NULL;
	int err;

	c.fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	err = c.fd < 0 ? -errno : wire_file_open(&f, path);
	if (!err)
		err = scan(&c, f);
	p->trouble.why[0] = '\0';
	if (err)
		view_put_trouble(p, name, err);
	else
		err = send_pieces(&c, segment);
	wire_file_close(f);
	free(c.entry);
	free(c.damage);
	if (c.fd >= 0)
		close(c.fd);
	return err;
}
