/* SPDX-License-Identifier: Apache-2.0 */
#include "fetch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/files.h"

#define PIECE_BYTES ((size_t)4 << 20)

struct fetch {
	struct objects *store;
	const char *from, *dir;
	const atomic_bool *stop;
	struct objects_trouble *trouble;
	uint8_t *bytes; /* PIECE_BYTES */
	int fd; /* of the stream that is being written; -1 */
	size_t stem; /* its name: so many bytes of ... */
	const char *key;
};

static int disk(struct fetch *f, int err)
{
	snprintf(f->trouble->why, sizeof(f->trouble->why), "%.200s: %.40s", f->dir, strerror(-err));
	return err;
}

static int close_file(struct fetch *f)
{
	int err = f->fd >= 0 && close(f->fd) ? -errno : 0;

	f->fd = -1;
	return err ? disk(f, err) : 0;
}

static int open_file(struct fetch *f, const char *name, int stem, const char *suffix)
{
	char path[PATH_MAX];
	int err = close_file(f);

	if (err)
		return err;
	snprintf(path, sizeof(path), "%s/%.*s%s", f->dir, stem, name, suffix);
	f->fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
	return f->fd < 0 ? disk(f, -errno) : 0;
}

/* The stream that the piece belongs to; its pieces come one after another. */
static int turn_to(struct fetch *f, const struct coll_work_piece *p)
{
	size_t stem = strcspn(p->file, "/");

	if (p->segment && f->key && stem == f->stem && !memcmp(p->key, f->key, stem))
		return 0;
	f->key = p->segment ? p->key : NULL;
	f->stem = stem;
	return open_file(f, p->file, (int)stem, p->segment ? ".gst" : "");
}

static int copy(struct fetch *f, const struct coll_work_piece *p)
{
	char key[OBJECTS_KEY_MAX + 1];
	uint64_t at = 0;
	int err = 0;

	if (snprintf(key, sizeof(key), "%s%s", f->from, p->key) >= (int)sizeof(key))
		return -ENAMETOOLONG;
	while (!err && at < p->bytes) {
		size_t want = p->bytes - at < PIECE_BYTES ? (size_t)(p->bytes - at) : PIECE_BYTES;
		ssize_t got = atomic_load(f->stop)
				      ? -ECANCELED
				      : objects_get(f->store, key, at, f->bytes, want, f->trouble);

		if (got >= 0 && (size_t)got < want) {
			snprintf(f->trouble->why, sizeof(f->trouble->why),
				 "%.150s: it is shorter than it was", p->key);
			got = -ESTALE;
		}
		err = got < 0 ? (int)got : base_write_all(f->fd, f->bytes, want);
		if (err && got >= 0)
			disk(f, err);
		at += want;
	}
	return err;
}

int coll_work_fetch(const struct coll_work_look *l, struct objects *o, const char *from,
		    const char *dir, const atomic_bool *stop, struct objects_trouble *t)
{
	struct fetch f = { .store = o,
			   .from = from,
			   .dir = dir,
			   .stop = stop,
			   .trouble = t,
			   .bytes = malloc(PIECE_BYTES),
			   .fd = -1 };
	int err = f.bytes ? 0 : -ENOMEM, closed;

	for (size_t i = 0; i < l->pieces && !err; i++) {
		err = turn_to(&f, &l->piece[i]);
		if (!err)
			err = copy(&f, &l->piece[i]);
	}
	closed = close_file(&f);
	free(f.bytes);
	return err ? err : closed;
}
