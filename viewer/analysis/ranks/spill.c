/* SPDX-License-Identifier: Apache-2.0 */
#include "spill.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/files.h"

struct ana_spill {
	const char *folder; /* NULL: base_temp_file's */
	pthread_mutex_t lock; /* of what follows */
	int fd; /* -1: not made yet */
	uint64_t end;
	int err;
};

struct ana_spill *ana_spill_new(const char *folder)
{
	struct ana_spill *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->folder = folder;
	s->fd = -1;
	pthread_mutex_init(&s->lock, NULL);
	return s;
}

void ana_spill_free(struct ana_spill *s)
{
	if (!s)
		return;
	if (s->fd >= 0)
		close(s->fd);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

/* Where @n bytes go; the file is there. 0 or negative errno. */
static int reserve(struct ana_spill *s, size_t n, uint64_t *offset)
{
	int err;

	pthread_mutex_lock(&s->lock);
	if (!s->err && s->fd < 0) {
		s->fd = base_temp_file(s->folder);
		s->err = s->fd < 0 ? s->fd : 0;
	}
	*offset = s->end;
	s->end += s->err ? 0 : n;
	err = s->err;
	pthread_mutex_unlock(&s->lock);
	return err;
}

static int fail(struct ana_spill *s, int err)
{
	pthread_mutex_lock(&s->lock);
	s->err = s->err ? s->err : err;
	pthread_mutex_unlock(&s->lock);
	return err;
}

int ana_spill_write(struct ana_spill *s, const void *bytes, size_t n, uint64_t *offset)
{
	const uint8_t *from = bytes;
	int err = reserve(s, n, offset);
	size_t done = 0;

	while (!err && done < n) {
		ssize_t got = pwrite(s->fd, from + done, n - done, (off_t)(*offset + done));

		if (got > 0)
			done += (size_t)got;
		else if (got == 0)
			err = fail(s, -ENOSPC);
		else if (errno != EINTR)
			err = fail(s, -errno);
	}
	return err;
}

int ana_spill_read(const struct ana_spill *s, void *bytes, size_t n, uint64_t offset)
{
	uint8_t *to = bytes;
	size_t done = 0;

	while (done < n) {
		ssize_t got = pread(s->fd, to + done, n - done, (off_t)(offset + done));

		if (got > 0)
			done += (size_t)got;
		else if (got == 0)
			return -EIO;
		else if (errno != EINTR)
			return -errno;
	}
	return 0;
}

uint64_t ana_spill_bytes(struct ana_spill *s)
{
	uint64_t end;

	pthread_mutex_lock(&s->lock);
	end = s->end;
	pthread_mutex_unlock(&s->lock);
	return end;
}
